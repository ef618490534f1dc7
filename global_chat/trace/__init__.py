"""Spans from a turn's events: to a file of JSON lines, and to any OpenTelemetry collector."""
