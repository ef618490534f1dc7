"""A provider's refusal as a `TurnError`. One table for every route.

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
class Refusal:
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
        """A sentence that quotes the provider's message, or nothing."""
        return f' The server said: "{self.message}"' if self.message else ""

    def wait(self, usual: str) -> str:
        """For how long to wait: as the provider asks, else `usual`."""
        when = usual if self.retry_after is None else f"{self.retry_after:g} s"
        return f"Wait {when} and try again."


def failure(refusal: Refusal) -> TurnError:
    """The `TurnError` for a refusal, with a sentence that says what to do."""
    kind = _kind(refusal)
    message = _SENTENCES[kind](refusal)
    details: dict[str, Any] = {"status": refusal.status, "request_id": refusal.request_id}
    details = {key: value for key, value in details.items() if value is not None}
    if issubclass(kind, ServiceError):
        retryable = refusal.retry is not False and not _UNPAID.search(refusal.message)
        return kind(message, retryable=retryable, retry_after=refusal.retry_after, details=details)
    return kind(message, details=details)


def _kind(refusal: Refusal) -> type[TurnError]:
    if refusal.type in _BY_TYPE:
        return _BY_TYPE[refusal.type]
    status = refusal.status
    if status is not None and 300 <= status < 400:
        return NotFound  # the address is another one
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if refusal.type == "invalid_request_error" or (status is not None and 400 <= status < 500):
        if _TOO_LONG.search(f"{refusal.type} {refusal.message}"):
            return PromptTooLong
        return Forbidden if _UNPAID.search(refusal.message) else BadRequest
    return ProviderError


def _unknown(refusal: Refusal) -> str:
    return (
        f"The server does not know the model {refusal.model!r}, or has no Messages API at this "
        "address. Name a model that it has in the configuration file (--config), or check "
        f"--base-url, which must not end in /v1.{refusal.quoted}"
    )


def _forbidden(refusal: Refusal) -> str:
    if refusal.status == 402 or refusal.type == "billing_error" or _UNPAID.search(refusal.message):
        return (
            "The account behind the API key cannot pay for this call. Add credit to it, or use "
            f"another key.{refusal.quoted}"
        )
    return (
        f"The API key may not use the model {refusal.model!r} or this service. Ask whoever manages "
        f"the key for access, or use another one.{refusal.quoted}"
    )


def _provider_failed(refusal: Refusal) -> str:
    status = f" (HTTP {refusal.status})" if refusal.status else ""
    when = "soon" if refusal.retry_after is None else f"in {refusal.retry_after:g} s"
    return (
        f"The model service failed{status}. Try again {when}; if it goes on, look at the "
        f"provider's status page.{refusal.quoted}"
    )


_SENTENCES: dict[type[TurnError], Callable[[Refusal], str]] = {
    AuthError: lambda refusal: (
        "The API key was not accepted. Put a valid key into the payload as 'api_key' or into "
        f"ANTHROPIC_API_KEY.{refusal.quoted}"
    ),
    BadRequest: lambda refusal: (
        "The server refused the request as invalid. Check the model "
        f"({refusal.model}) and the settings in the configuration file.{refusal.quoted}"
    ),
    Forbidden: _forbidden,
    NotFound: _unknown,
    Overloaded: lambda refusal: (
        f"The model service is overloaded. {refusal.wait('a few minutes')}{refusal.quoted}"
    ),
    PromptTooLong: lambda refusal: (
        f"The request is longer than the model {refusal.model!r} can read. Shorten the "
        "attachments, the history or the workflow, or choose a model that reads more."
        f"{refusal.quoted}"
    ),
    ProviderError: _provider_failed,
    RateLimited: lambda refusal: (
        f"The rate limit of the API key is reached. {refusal.wait('a minute')}{refusal.quoted}"
    ),
    RequestTooLarge: lambda refusal: (
        "The request is larger than the server accepts. Attach less, or only the part that "
        f"matters.{refusal.quoted}"
    ),
    TimedOut: lambda refusal: (
        "The server gave up before the model answered. Try again, with a smaller request if it "
        f"goes on.{refusal.quoted}"
    ),
}
