"""A model's whole-workflow reply, applied as edits of the source."""
