"""The Messages API behind the seam: always streamed, one attempt a call."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from global_chat.contract.errors import AuthError, BadRequest, TurnError

from .anthropic_messages import ReplyBuilder
from .seam import ModelEvent, ModelRequest

if TYPE_CHECKING:
    from .anthropic_connection import Connection

DEFAULT_BASE_URL = "https://api.anthropic.com"


class AnthropicModel:
    """A model that is asked over the Messages API.

    `api_key` wins over `auth_token`; either travels as a bearer token. `base_url` None is the
    provider's own address. `timeout_seconds` bounds a call as a whole, and with it the wait for
    the first byte and any silence. Of the environment only what the SDK itself reads has an
    effect (proxies, extra headers), and it never replaces what is given here.

    Raises `BadRequest` for a base URL that is not a web address.
    """

    def __init__(
        self,
        *,
        api_key: str | None,
        auth_token: str | None = None,
        base_url: str | None = None,
        timeout_seconds: float = 600.0,
    ) -> None:
        self._key = (api_key or "").strip() or (auth_token or "").strip()
        self._base_url = _web_address((base_url or "").strip() or DEFAULT_BASE_URL)
        self._timeout_seconds = timeout_seconds
        self._connection: Connection | None = None

    def prepare(self) -> Connection:
        """Load the SDK, once. It takes a second or two; `complete` does it when nobody has."""
        if self._connection is None:
            self._connection = _connection(self._base_url, self._key, self._timeout_seconds)
        return self._connection

    async def aclose(self) -> None:
        """Close the connections. A later call opens new ones."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.aclose()

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream the reply, as the seam describes.

        Raises `AuthError` before anything is sent when there is no usable key, and any other
        `TurnError` with the tokens that the attempt had already cost.
        """
        _check_key(self._key)
        building = ReplyBuilder(request.model)
        async with aclosing(self.prepare().events(request)) as events:
            try:
                async for event in events:
                    piece = building.feed(event)
                    if piece is not None:
                        yield piece
                reply = building.reply()
            except TurnError as error:
                error.usage = building.usage
                raise
        yield reply


def _connection(base_url: str, key: str, timeout_seconds: float) -> Connection:
    # The import makes a hundred thousand lasting objects. Looking for garbage among them while they
    # are made costs an eighth of its time, and again at the program's end a fifth: so they are set
    # aside for good.
    collecting = gc.isenabled()
    gc.disable()
    try:
        # The SDK takes over a second to import, so it stays off the start-up path.
        from .anthropic_connection import Connection  # noqa: PLC0415

        gc.freeze()
    finally:
        if collecting:
            gc.enable()
    return Connection(base_url, key, timeout_seconds)


def _web_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not text.isprintable() or " " in text:
        raise BadRequest(
            "The base URL of the model service is not a web address. Give --base-url (or "
            "ANTHROPIC_BASE_URL) as in http://127.0.0.1:11434."
        )
    return text


def _check_key(key: str) -> None:
    if not key:
        raise AuthError(
            "There is no API key. Put it into the payload as 'api_key' or set ANTHROPIC_API_KEY. "
            "A local server behind --base-url takes any value."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthError(
            "The API key holds a character that a key cannot have, perhaps a blank or a quotation "
            "mark from copying. Copy it again into 'api_key' or ANTHROPIC_API_KEY."
        )
