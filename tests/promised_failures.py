"""What scripts are promised of failures, written down apart from the code."""

from __future__ import annotations

#: Type, code, exit code.
PROMISED = {
    "BAD_REQUEST": (400, 2),
    "ATTACHMENT_TOO_LARGE": (400, 2),
    "INVALID_WORKFLOW": (400, 2),
    "PROMPT_TOO_LONG": (400, 2),
    "REQUEST_TOO_LARGE": (413, 2),
    "AUTH_ERROR": (401, 3),
    "FORBIDDEN": (403, 3),
    "NOT_FOUND": (404, 3),
    "RATE_LIMIT": (429, 4),
    "CONNECTION_ERROR": (503, 4),
    "TIMEOUT": (504, 4),
    "OVERLOADED": (529, 4),
    "PROVIDER_ERROR": (502, 4),
    "OUTPUT_TRUNCATED": (502, 5),
    "EMPTY_OUTPUT": (502, 5),
    "INVALID_OUTPUT": (502, 5),
    "REFUSED": (502, 5),
    "SCRIPT_MISMATCH": (409, 1),
    "INTERNAL": (500, 1),
}
