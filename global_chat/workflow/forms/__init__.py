"""From text to parts with their places, in every form a document can have."""
