"""What a provider said went wrong, as an error of our tree. One table for every route.

The error type that the provider names says more than the status: an `overloaded_error` is an
overload whether it came as 529, as 500 or in the middle of a stream that a 200 had opened. The
general types (`invalid_request_error`, `api_error`) say nothing, so there the status decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from global_chat.contract.errors import (
    AuthError,
    BadRequest,
    Forbidden,
    NotFound,
    Overloaded,
    PromptTooLong,
    ProviderError,
    RateLimited,
    RequestTooLarge,
    ServiceError,
    TimedOut,
    TurnError,
)

_BY_TYPE: dict[str, type[TurnError]] = {
    "authentication_error": AuthError,
    "billing_error": Forbidden,
    "permission_error": Forbidden,
    "not_found_error": NotFound,
    "request_too_large": RequestTooLarge,
    "rate_limit_error": RateLimited,
    "timeout_error": TimedOut,
    "overloaded_error": Overloaded,
}
_BY_STATUS: dict[int, type[TurnError]] = {
    401: AuthError,
    402: Forbidden,
    403: Forbidden,
    404: NotFound,
    408: TimedOut,
    409: ProviderError,
    413: RequestTooLarge,
    429: RateLimited,
    504: TimedOut,
    529: Overloaded,
}
_TOO_LONG = re.compile(
    r"prompt is too long|context (window|length|size|limit)|maximum context|exceed_context"
    r"|too many (input )?tokens|input (is )?too long",
    re.IGNORECASE,
)
_UNPAID = re.compile(r"credit balance|billing|payment required|spend limit", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Said:
    """A provider's refusal, in its own words.

    `status` is the HTTP status, None for an error inside a stream. `type` is the provider's error
    type. `message` must be free of secrets. `retry_after` is in seconds; `retry` is what the
    provider says about sending the same request again, None when it says nothing.
    """

    model: str
    status: int | None = None
    type: str | None = None
    message: str = ""
    retry_after: float | None = None
    retry: bool | None = None
    request_id: str | None = None

    @property
    def quoted(self) -> str:
        """The provider's words as a sentence of ours, or nothing."""
        return f' The server said: "{self.message}"' if self.message else ""


def failure(said: Said) -> TurnError:
    """The error of our tree for what the provider said, with a sentence that says what to do."""
    kind = _kind(said)
    message = _SENTENCES[kind](said)
    details: dict[str, Any] = {"status": said.status, "request_id": said.request_id}
    details = {key: value for key, value in details.items() if value is not None}
    if issubclass(kind, ServiceError):
        retryable = said.retry is not False and not _UNPAID.search(said.message)
        return kind(message, retryable=retryable, retry_after=said.retry_after, details=details)
    return kind(message, details=details)


def _kind(said: Said) -> type[TurnError]:
    if said.type in _BY_TYPE:
        return _BY_TYPE[said.type]
    status = said.status
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if said.type == "invalid_request_error" or (status is not None and 400 <= status < 500):
        if _TOO_LONG.search(f"{said.type} {said.message}"):
            return PromptTooLong
        return Forbidden if _UNPAID.search(said.message) else BadRequest
    return ProviderError


def _unknown(said: Said) -> str:
    return (
        f"The server does not know the model {said.model!r}, or has no Messages API at this "
        "address. Name a model that it has in the configuration file (--config), or check "
        f"--base-url, which must not end in /v1.{said.quoted}"
    )


def _forbidden(said: Said) -> str:
    if said.status == 402 or said.type == "billing_error" or _UNPAID.search(said.message):
        return (
            "The account behind the API key cannot pay for this call. Add credit to it, or use "
            f"another key.{said.quoted}"
        )
    return (
        f"The API key may not use the model {said.model!r} or this service. Ask whoever manages "
        f"the key for access, or use another one.{said.quoted}"
    )


def _rate_limited(said: Said) -> str:
    when = "a minute" if said.retry_after is None else f"{said.retry_after:g} s"
    return f"The rate limit of the API key is reached. Wait {when} and try again.{said.quoted}"


def _overloaded(said: Said) -> str:
    when = "a few minutes" if said.retry_after is None else f"{said.retry_after:g} s"
    return f"The model service is overloaded. Wait {when} and try again.{said.quoted}"


def _provider_failed(said: Said) -> str:
    status = f" (HTTP {said.status})" if said.status else ""
    when = "soon" if said.retry_after is None else f"in {said.retry_after:g} s"
    return (
        f"The model service failed{status}. Try again {when}; if it goes on, look at the "
        f"provider's status page.{said.quoted}"
    )


_SENTENCES: dict[type[TurnError], Callable[[Said], str]] = {
    AuthError: lambda said: (
        "The API key was not accepted. Put a valid key into the payload as 'api_key' or into "
        f"ANTHROPIC_API_KEY.{said.quoted}"
    ),
    BadRequest: lambda said: (
        "The server refused the request as invalid. Check the model "
        f"({said.model}) and the settings in the configuration file.{said.quoted}"
    ),
    Forbidden: _forbidden,
    NotFound: _unknown,
    Overloaded: _overloaded,
    PromptTooLong: lambda said: (
        f"The request is longer than the model {said.model!r} can read. Shorten the attachments, "
        f"the history or the workflow, or choose a model that reads more.{said.quoted}"
    ),
    ProviderError: _provider_failed,
    RateLimited: _rate_limited,
    RequestTooLarge: lambda said: (
        "The request is larger than the server accepts. Attach less, or only the part that "
        f"matters.{said.quoted}"
    ),
    TimedOut: lambda said: (
        "The server gave up before the model answered. Try again, with a smaller request if it "
        f"goes on.{said.quoted}"
    ),
}
