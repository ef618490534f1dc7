"""Builds what a turn runs on: settings from a file, keys from the environment, the model."""

from __future__ import annotations

import asyncio
import os
import tomllib
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from global_chat.agents.context import Services
from global_chat.contract.errors import BadRequest, dotted, in_words
from global_chat.contract.response import Response
from global_chat.contract.settings import Settings
from global_chat.disk.reading import read_text
from global_chat.disk.writing import write_atomically
from global_chat.knowledge.library import Library, Reference
from global_chat.knowledge.registry import registry_address
from global_chat.knowledge.store import cache_folder
from global_chat.model.anthropic import AnthropicModel
from global_chat.model.recording import Recording
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import Model

from .options import ModelOptions

CONFIG_VARIABLE = "GLOBAL_CHAT_CONFIG"


@dataclass(frozen=True, slots=True)
class Wired:
    """The services of a turn, and what has to be done with them when it is over."""

    services: Services
    live: AnthropicModel | None = None
    script: ScriptedModel | None = None
    recording: Recording | None = None
    record: Path | None = None

    async def using(self, turn: Coroutine[Any, Any, Response]) -> Response:
        """The turn's response; connections are closed whatever becomes of it."""
        try:
            return await turn
        finally:
            if self.live is not None:
                await self.live.aclose()

    def check_script(self) -> None:
        """Raise `ScriptMismatch` for turns of a script that nobody used.

        Only for a turn that was answered: one that failed leaves turns over for that reason.
        """
        if self.script is not None:
            self.script.assert_all_used()

    def keep_recording(self) -> None:
        """Write what was recorded. Raises `InternalError` when that is not possible."""
        if self.recording is not None and self.record is not None:
            write_atomically(self.record, self.recording.as_yaml())


def read_settings(path: Path | None) -> Settings:
    """Settings from `path`, else from the file that `GLOBAL_CHAT_CONFIG` names, else defaults.

    Raises `BadRequest` naming the file, the setting and what is expected.
    """
    if path is None:
        named = os.environ.get(CONFIG_VARIABLE)
        if not named:
            return Settings()
        path = Path(named)
    try:
        return Settings.model_validate(
            _over_defaults(tomllib.loads(read_text(path).removeprefix("\ufeff")))
        )
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fault = {"model_type": "must be a table"}.get(first["type"]) or in_words(first, Settings)
        raise BadRequest(f"{path}: `{dotted(first['loc'], 'settings')}` {fault}.") from None


def _over_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of a file, with what its tables leave out as it is by default."""
    defaults = Settings().model_dump()
    return {
        name: {**defaults[name], **value}
        if isinstance(value, dict) and isinstance(defaults.get(name), dict)
        else value
        for name, value in given.items()
    }


def wire(options: ModelOptions, api_key: SecretStr | None) -> Wired:
    """The services that the options ask for. `api_key` is the payload's, if it has one.

    Raises `BadRequest` for options that contradict each other or name what is not there.
    """
    settings = read_settings(options.config)
    if options.timeout is not None:
        settings = settings.model_copy(update={"timeout_seconds": options.timeout})
    backend = options.backend or ("scripted" if options.script else "anthropic")
    if options.script is not None and backend != "scripted":
        raise BadRequest(f"--script plays a file; it does not go with --backend {backend}.")
    key = api_key.get_secret_value() if api_key else os.environ.get("ANTHROPIC_API_KEY")
    token = os.environ.get("ANTHROPIC_AUTH_TOKEN")
    live = script = recording = None
    model: Model
    if backend == "scripted":
        model = script = _script(options)
    elif backend == "offline":
        if options.record is not None:
            raise BadRequest("--record keeps what a model said; --backend offline asks none.")
        model = _offline_router()
    else:
        model = live = _live(options, settings, key, token)
    if options.record is not None:
        model = recording = Recording(model, (key, token))
    # Only a live service needs a pause before a retry.
    model = Retrying(model, settings.retry, asyncio.sleep if live else _at_once)
    if live and settings.router.backend == "offline":
        model = _offline_router(model, settings.router.threshold)
    return Wired(
        services=Services(
            model=model,
            settings=settings,
            knowledge=_knowledge(offline=options.offline_docs or live is None),
            backend=backend,
        ),
        live=live,
        script=script,
        recording=recording,
        record=options.record,
    )


def _offline_router(behind: Model | None = None, threshold: float = 0.0) -> Model:
    # The embedded router takes 100 ms to load, which live and scripted turns need not pay.
    from global_chat.offline.router import OfflineRouter  # noqa: PLC0415

    return OfflineRouter(behind, threshold)


def _knowledge(*, offline: bool) -> Reference:
    """The documentation and the catalogue; a turn without a live model fetches nothing."""
    registry = registry_address(os.environ)
    return Reference(Library(cache_folder(os.environ), registry=registry, offline=offline))


def _script(options: ModelOptions) -> ScriptedModel:
    if options.script is None:
        raise BadRequest("--backend scripted plays a file: name it with --script.")
    return ScriptedModel.from_file(options.script)


async def _at_once(_seconds: float) -> None:
    """Waits for nothing."""


def _live(
    options: ModelOptions, settings: Settings, key: str | None, token: str | None
) -> AnthropicModel:
    return AnthropicModel(
        api_key=key,
        auth_token=token,
        base_url=options.base_url or os.environ.get("ANTHROPIC_BASE_URL"),
        timeout_seconds=settings.timeout_seconds,
    )
