"""The command line: commands and wiring. Only this room builds things and reads the environment."""
