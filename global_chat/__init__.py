"""global-chat: the assistant for OpenFn workflows. The map of the house is README.md beside this file."""

__version__ = "0.1.0"
