"""A turn's events, drawn: on a terminal, as plain text, as JSON lines. The only room with Rich."""
