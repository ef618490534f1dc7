"""Payload and workflow files in, result files out: exact text, written atomically."""
