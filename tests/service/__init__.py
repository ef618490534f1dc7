"""Turns from end to end, with every model call scripted or served on this machine."""
