"""Reading run logs: which step failed, why, and the lines that prove it."""
