"""Removes secrets from text that leaves the process: messages of a provider, and recordings.

Two kinds go: the secrets that are known, wherever they stand, and whatever has the shape of a
secret. Code that merely refers to one (`state.configuration.password`) is not a secret and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

REMOVED = "[redacted]"

_NAMES = (
    r"pass(?:word|wd|phrase)|pwd|secret|client[_-]?secret|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|(?:access|refresh|auth|bearer|id|session)[_-]?token|token|x-api-key|authorization|cookie"
)
_SECRET_NAME = re.compile(rf"(?:[\w-]{{0,40}}[_-])?(?:{_NAMES})", re.IGNORECASE)

#: Values that are secrets by their own shape.
_SHAPES = re.compile(
    r"(?<![\w-])sk-[A-Za-z0-9_-]{12,}"
    r"|\bAKIA[0-9A-Z]{16}"
    r"|\b(?:gh[pousr]|github_pat|npm|hf)_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bAIza[0-9A-Za-z_-]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
#: A digit or padding is asked for: "basic authentication" is prose.
_SCHEME = re.compile(r"\b(bearer|basic)(\s+)(?=\S*[\d=])[A-Za-z0-9._~+/-]{12,}=*", re.IGNORECASE)
_USER_INFO = re.compile(r"(://[^/\s:@\"']*:)[^/\s@\"']+(?=@)")
_QUOTED = re.compile(
    rf"((?:{_NAMES})\\*[\"']?\s*[:=]\s*)"  # the name
    r"(\\*[\"'`])([^\"'`\\\n$]{4,})(?=\2)",  # the value; a `$` would be code
    re.IGNORECASE,
)
#: Without quotes only a value that holds a digit and is not a path of names: the rest may be code.
_BARE = re.compile(
    rf"((?:{_NAMES})\s*[:=]\s*)"
    r"(?![A-Za-z_$][\w$]*(?:\.[\w$]+)+)(?=\S{0,80}\d)[^\s\"'`,;(){}<>\[\]$&]{6,}",
    re.IGNORECASE,
)


def scrub(text: str, known: Iterable[str] = ()) -> str:
    """`text` without the secrets in `known` and without anything that looks like one."""
    for secret in known:
        text = _without(text, secret)
    text = _SHAPES.sub(REMOVED, text)
    text = _SCHEME.sub(rf"\1\2{REMOVED}", text)
    text = _USER_INFO.sub(rf"\1{REMOVED}", text)
    text = _QUOTED.sub(rf"\1\2{REMOVED}", text)
    return _BARE.sub(rf"\1{REMOVED}", text)


def scrub_value(value: Any, known: Iterable[str] = ()) -> Any:
    """A copy of JSON data with texts scrubbed, and removed where their key names a secret."""
    known = tuple(known)
    if isinstance(value, str):
        return scrub(value, known)
    if isinstance(value, list | tuple):
        return [scrub_value(v, known) for v in value]
    if isinstance(value, dict):
        return {
            key: REMOVED
            if isinstance(item, str) and item and _SECRET_NAME.fullmatch(str(key))
            else scrub_value(item, known)
            for key, item in value.items()
        }
    return value


def _without(text: str, secret: str) -> str:
    """`text` without `secret`; a short one ("test", "ollama") is removed only as a whole word."""
    if len(secret) >= 8:
        return text.replace(secret, REMOVED)
    if len(secret) >= 3:
        return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", REMOVED, text)
    return text
