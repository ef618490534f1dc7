"""The workflow document as a value: read, find a step, outline, stitch, merge an edit, check."""
