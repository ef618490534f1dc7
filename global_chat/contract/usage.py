"""Kept for `offline/` until its rewrite lands: `Usage` is in `names.py`."""

from .names import Usage as Usage
