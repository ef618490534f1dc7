"""Every failure of a turn, as one tree. Where an error hangs in it says whose move it is.

    TurnError
    ├── InputError          the user's move          exit 2
    │   ├── BadRequest             400 BAD_REQUEST
    │   ├── AttachmentTooLarge     400 ATTACHMENT_TOO_LARGE
    │   ├── InvalidWorkflow        400 INVALID_WORKFLOW
    │   ├── PromptTooLong          400 PROMPT_TOO_LONG
    │   └── RequestTooLarge        413 REQUEST_TOO_LARGE
    ├── AccessError         whoever holds the key    exit 3
    │   ├── AuthError              401 AUTH_ERROR
    │   ├── Forbidden              403 FORBIDDEN
    │   └── NotFound               404 NOT_FOUND
    ├── ServiceError        wait, or the provider    exit 4
    │   ├── RateLimited            429 RATE_LIMIT
    │   ├── ConnectionFailed       503 CONNECTION_ERROR
    │   ├── TimedOut               504 TIMEOUT
    │   ├── Overloaded             529 OVERLOADED
    │   └── ProviderError          502 PROVIDER_ERROR
    ├── OutputError         the model's answer       exit 5
    │   ├── OutputTruncated        502 OUTPUT_TRUNCATED
    │   ├── EmptyOutput            502 EMPTY_OUTPUT
    │   ├── InvalidOutput          502 INVALID_OUTPUT
    │   └── Refused                502 REFUSED
    ├── ScriptMismatch      whoever wrote the script exit 1   409 SCRIPT_MISMATCH
    └── InternalError       a bug in this program    exit 1   500 INTERNAL

Codes, type names and exit codes are a promise to scripts; README.md lists the exit codes.
Below the tree stand the words for Pydantic's findings in data that a user wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from .names import Usage
from .texts import nearest


class TurnError(Exception):
    """A failure that ends a turn.

    `message` is a sentence for the user that says what to do next. `details` holds facts for
    programs and must be JSON data. `retryable` says that the same request may succeed if it is
    sent again. Secrets never belong in either text.
    """

    code: ClassVar[int] = 500
    type: ClassVar[str] = "INTERNAL"
    exit_code: ClassVar[int] = 1

    def __init__(
        self, message: str, *, retryable: bool = False, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.details: dict[str, Any] = dict(details or {})
        #: Work that was finished before the failure: the whole workflow document, or None.
        self.partial_workflow: str | None = None
        #: Tokens that the failed model call had already cost.
        self.usage = Usage()

    def as_dict(self) -> dict[str, Any]:
        """The error object that scripts get: `{code, type, message, details?}`."""
        found: dict[str, Any] = {"code": self.code, "type": self.type, "message": self.message}
        return {**found, "details": self.details} if self.details else found

    def as_json(self) -> str:
        """The same as strict JSON, two-space indent, characters as they are."""
        return json.dumps(
            self.as_dict(), ensure_ascii=False, indent=2, allow_nan=False, default=str
        )


class InputError(TurnError):
    exit_code = 2


class BadRequest(InputError):
    code, type = 400, "BAD_REQUEST"


class AttachmentTooLarge(InputError):
    code, type = 400, "ATTACHMENT_TOO_LARGE"


class InvalidWorkflow(InputError):
    code, type = 400, "INVALID_WORKFLOW"


class PromptTooLong(InputError):
    code, type = 400, "PROMPT_TOO_LONG"


class RequestTooLarge(InputError):
    code, type = 413, "REQUEST_TOO_LARGE"


class AccessError(TurnError):
    exit_code = 3


class AuthError(AccessError):
    code, type = 401, "AUTH_ERROR"


class Forbidden(AccessError):
    code, type = 403, "FORBIDDEN"


class NotFound(AccessError):
    code, type = 404, "NOT_FOUND"


class ServiceError(TurnError):
    exit_code = 4

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = True,
        retry_after: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        """`retry_after` is in seconds, as the provider asked; it also goes into `details`."""
        extra = {} if retry_after is None else {"retry_after": retry_after}
        super().__init__(message, retryable=retryable, details={**(details or {}), **extra})
        self.retry_after = retry_after


class RateLimited(ServiceError):
    code, type = 429, "RATE_LIMIT"


class ConnectionFailed(ServiceError):
    code, type = 503, "CONNECTION_ERROR"


class TimedOut(ServiceError):
    code, type = 504, "TIMEOUT"


class Overloaded(ServiceError):
    code, type = 529, "OVERLOADED"


class ProviderError(ServiceError):
    code, type = 502, "PROVIDER_ERROR"


class OutputError(TurnError):
    exit_code = 5


class OutputTruncated(OutputError):
    code, type = 502, "OUTPUT_TRUNCATED"


class EmptyOutput(OutputError):
    code, type = 502, "EMPTY_OUTPUT"


class InvalidOutput(OutputError):
    code, type = 502, "INVALID_OUTPUT"


class Refused(OutputError):
    code, type = 502, "REFUSED"


class ScriptMismatch(TurnError):
    code, type = 409, "SCRIPT_MISMATCH"


class InternalError(TurnError):
    @classmethod
    def from_bug(cls, error: Exception) -> InternalError:
        """The error that a user is told of when a bug in this program raised `error`."""
        return cls(
            f"Something went wrong inside global-chat ({type(error).__name__}). Nothing was lost: "
            "your workflow file is as it was. Run again with -v, and report what it prints."
        )


#: Pydantic's path to a value: keys, positions in lists, and the branches of unions that it tried.
Location = tuple[int | str, ...]

#: The branches by name; those of generic types, such as `list[any]`, are known by their bracket.
_BRANCHES = {"str", "bool", "list", "dict", "constrained-int"}

_WORDS = {
    "extra_forbidden": "is not a known key",
    "missing": "is missing",
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "must be an object"),
    **dict.fromkeys(("string_type", "string_sub_type"), "must be text"),
    "list_type": "must be a list",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "string_too_short": "must not be empty",
}


def dotted(location: Location, root: str) -> str:
    """`('history', 0, 'role')` as `history[0].role`; `root` names the value itself."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part not in _BRANCHES and "[" not in part:
            path += f".{part}" if path else part
    return path or root


def in_words(one: Mapping[str, Any], model: Any = None) -> str:
    """What is wrong with a value, to follow its name: `is missing`, `must be a list`.

    `one` is one of Pydantic's errors. `model`, the Pydantic class that refused the data, has the
    keys that a misspelt one may stand for.
    """
    kind, own = one["type"], one["msg"].removeprefix("Value error, ")
    words = _WORDS.get(kind) or re.sub(r"^\w+ should", "must", own).replace("a valid ", "a ")
    if kind != "extra_forbidden" or model is None:
        return words
    name, known = str(one["loc"][-1]), _keys(model.model_json_schema())
    near = (
        nearest(name, known, cutoff=0.75) if name not in known else None
    )  # a known key in the wrong place
    return f"{words} (did you mean `{near}`?)" if near else words


def _keys(schema: Any) -> set[str]:
    """Every key that a JSON schema names."""
    inner = schema.values() if isinstance(schema, dict) else schema
    found = {key for each in inner if isinstance(each, dict | list) for key in _keys(each)}
    return found | set(schema.get("properties", ())) if isinstance(schema, dict) else found
