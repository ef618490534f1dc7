"""What agents can look up: documentation and adaptors, in one embedded database."""
