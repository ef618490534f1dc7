"""The error object as JSON."""

from __future__ import annotations

import json

from global_chat.contract.errors import TurnError


def error_json(error: TurnError) -> str:
    """`{code, type, message, details?}`, two-space indent, characters as they are."""
    return json.dumps(error.as_dict(), ensure_ascii=False, indent=2, allow_nan=False, default=str)
