"""Failures of the SDK and of the connection below it, as errors of our tree.

Imports the SDK: reached only through `anthropic_connection.py`, which is imported late.
"""

from __future__ import annotations

import email.utils
import json
import math
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2

from global_chat.contract.errors import (
    BadRequest,
    ConnectionFailed,
    ProviderError,
    TimedOut,
    TurnError,
)

from .failures import Said, failure
from .secrets import scrub

LONGEST_QUOTE = 300


@dataclass(frozen=True, slots=True)
class Call:
    """What an error message may name. `secrets` is what it may not."""

    model: str
    base_url: str
    timeout_seconds: float
    secrets: tuple[str, ...]

    @property
    def host(self) -> str:
        """Host and port of the server, without a password that the address may hold."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


def turn_error(error: Exception, call: Call) -> TurnError | None:
    """The error of our tree for whatever a call can end in; None for a fault of the program."""
    match error:
        case TimeoutError():
            return _timed_out(call)
        case anthropic.APIStatusError():
            return failure(said(error, call))
        case anthropic.APIConnectionError():
            return _not_connected(error, call)
        case httpx2.HTTPError() | httpx2.StreamError():
            return ConnectionFailed(
                f"The connection to {call.host} broke off in the middle of the answer. Try again."
            )
        case UnicodeEncodeError():
            return BadRequest(
                "The request cannot be sent: a header holds a character that no header may hold. "
                "Correct ANTHROPIC_CUSTOM_HEADERS."
            )
        case ValueError() | RecursionError() | anthropic.APIResponseValidationError():
            return ProviderError(
                f"{call.host} sent an answer that is garbled. Try again; if it goes on, check "
                "--base-url and any proxy in between."
            )
        case _:
            return None


def said(error: anthropic.APIStatusError, call: Call) -> Said:
    """What the server said. A status below 400 means that it said so inside a stream."""
    headers = error.response.headers
    in_stream = error.status_code < 400
    return Said(
        model=call.model,
        status=None if in_stream else error.status_code,
        type=error.type if isinstance(error.type, str) else None,
        message=_words(error, call),
        retry_after=None if in_stream else retry_after(headers),
        retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
        request_id=error.request_id,
    )


def event_error(event: Mapping[str, Any], call: Call) -> TurnError:
    """The error for an `error` event that came without its event name."""
    body = event.get("error")
    body = body if isinstance(body, dict) else {}
    type_, message = body.get("type"), body.get("message")
    return failure(
        Said(
            model=call.model,
            type=type_ if isinstance(type_, str) else None,
            message=_shortened(message, call) if isinstance(message, str) else "",
        )
    )


def no_ending(call: Call, headers: Mapping[str, str], started: bool) -> TurnError:
    """The error for a stream that closed without the event that ends a message."""
    content_type = headers.get("content-type", "")
    if started or content_type.startswith("text/event-stream"):
        return ConnectionFailed(
            f"{call.host} closed the connection before the answer was complete. Try again."
        )
    kind = scrub(content_type.partition(";")[0].strip(), call.secrets) or "nothing readable"
    return ProviderError(
        f"{call.host} answered with {kind} instead of a stream of events. Check that --base-url "
        "names a server that speaks the Messages API.",
        retryable=False,
    )


def full_text(error: anthropic.APIStatusError) -> str:
    """Everything the server said, for looking up what it is about; not for showing."""
    return error.body if isinstance(error.body, str) else json.dumps(error.body, default=str)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, as `retry-after-ms` or `retry-after` (a number or a date) asks."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    seconds = _number(given)
    if seconds is not None or given is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(given).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, round(moment - time.time(), 1))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _timed_out(call: Call) -> TurnError:
    seconds = call.timeout_seconds
    return TimedOut(
        f"The model {call.model!r} did not finish its answer within {seconds:g} s. Try again, or "
        "allow more time with --timeout.",
        details={"timeout_seconds": seconds},
    )


def _not_connected(error: anthropic.APIConnectionError, call: Call) -> TurnError:
    text = _cause(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return ConnectionFailed(
            f"The certificate of {call.host} is not trusted. Check the address, or name your "
            "organization's certificates in SSL_CERT_FILE.",
            retryable=False,
        )
    return ConnectionFailed(
        f"Could not get an answer from {call.host} ({scrub(text, call.secrets)}). Check that the "
        "server is running, --base-url, and the network or its proxy."
    )


def _cause(error: BaseException | None) -> str:
    """The plainest words in the chain of causes: the operating system's, or else the last."""
    words, seen = "", error
    while seen is not None:
        words = str(seen).strip() or words
        if isinstance(seen, OSError) and seen.errno and not isinstance(seen, ssl.SSLError):
            # Failed name look-ups have negative numbers, which only they can name.
            system = os.strerror(seen.errno) if seen.errno > 0 else str(seen.strerror)
            return system.lower()
        seen = seen.__cause__ or seen.__context__
    return words.rstrip(".") or "no connection"


def _words(error: anthropic.APIStatusError, call: Call) -> str:
    if isinstance(error.api_message, str):
        return _shortened(error.api_message, call)
    text = full_text(error) if error.body else ""
    # A page of HTML comes from something in between and says nothing to a person.
    return "" if text.lstrip().startswith("<") else _shortened(text, call)


def _shortened(text: str, call: Call) -> str:
    """One printable line without secrets, at most `LONGEST_QUOTE` characters."""
    shown = "".join(c if c.isprintable() else " " for c in scrub(text, call.secrets))
    shown = " ".join(shown.split())
    return shown if len(shown) <= LONGEST_QUOTE else shown[: LONGEST_QUOTE - 1] + "…"
