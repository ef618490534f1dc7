"""Prompt parts as files in `parts/`, and the functions that compose them.

Static parts come first in every composition, so that a provider's cache can hold them. What
differs between two modes is a different part, never a sentence that takes another one back.
"""
