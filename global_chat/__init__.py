"""global-chat: the assistant for OpenFn workflows. README.md beside this file is the map."""

__version__ = "0.1.0"
