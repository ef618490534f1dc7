"""The command line: commands and wiring. The only room that builds things and reads the environment."""
