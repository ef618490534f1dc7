"""The only room that knows YAML: text to values with their places, one writer, one splicer."""
