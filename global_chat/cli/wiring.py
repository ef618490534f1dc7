"""Builds what a turn runs on: settings from a file, keys from the environment, the model."""

from __future__ import annotations

import asyncio
import os
import sys
import tomllib
import traceback
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from platformdirs import user_config_path
from pydantic import SecretStr, ValidationError

from global_chat.agents.context import Services
from global_chat.contract.errors import BadRequest, dotted, in_words
from global_chat.contract.names import AgentName
from global_chat.contract.response import Response
from global_chat.contract.settings import Settings
from global_chat.contract.texts import did_you_mean
from global_chat.disk.reading import read_text
from global_chat.disk.writing import write_atomically
from global_chat.knowledge.library import Library, Reference
from global_chat.knowledge.registry import registry_address
from global_chat.knowledge.store import cache_folder
from global_chat.model.anthropic import AnthropicModel
from global_chat.model.prices import Prices, parse_prices
from global_chat.model.recording import Recording
from global_chat.model.retry import Retrying
from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import Model
from global_chat.model.secrets import scrub
from global_chat.render.text import Stream, clean

from .options import ModelOptions

CONFIG_VARIABLE = "GLOBAL_CHAT_CONFIG"
SETTINGS_FILE = "global-chat.toml"


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
    """Settings from `path`, else from the file that `GLOBAL_CHAT_CONFIG` names, else from
    `global-chat.toml` here or in a folder above, else in the user's configuration folder, else
    defaults.

    Raises `BadRequest` naming the file, the setting and what is expected.
    """
    path = path or _settings_file()
    if path is None:
        return Settings()
    try:
        return Settings.model_validate(
            _over_defaults(tomllib.loads(read_text(path).removeprefix("\ufeff")))
        )
    except tomllib.TOMLDecodeError as error:
        raise BadRequest(f"{path} is not TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fault = in_words(first, Settings).replace("an object", "a table")
        raise BadRequest(f"{path}: `{dotted(first['loc'], 'settings')}` {fault}.") from None


def _settings_file() -> Path | None:
    if named := os.environ.get(CONFIG_VARIABLE):
        return Path(named)
    here = Path.cwd()
    folders = (here, *here.parents, user_config_path("global-chat", appauthor=False))
    return next((f / SETTINGS_FILE for f in folders if (f / SETTINGS_FILE).is_file()), None)


def prices_of(settings: Settings) -> Prices:
    """The prices that come with the program, and the settings' in their place.

    Raises `BadRequest` when a price of the settings cannot be used.
    """
    known = parse_prices().model_dump()
    try:
        return Prices.model_validate({**known, "models": {**known["models"], **settings.prices}})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = dotted(("prices", *first["loc"][1:]), "prices")
        raise BadRequest(f"The settings' `{where}` {in_words(first, Prices)}.") from None


def show_bug(error: Exception) -> None:
    """Print where a bug in this program raised `error`, without secrets, for a report."""
    lines = "".join(traceback.format_exception(error))
    keys = filter(None, map(os.environ.get, ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")))
    Stream(sys.stderr).line(clean(scrub(lines, keys)))


def with_models(settings: Settings, named: Sequence[str]) -> Settings:
    """The settings with the models that `--model` names, each for all agents or for one.

    Raises `BadRequest` for an agent that there is not.
    """
    agents = get_args(AgentName)
    for text in named:
        agent, equals, model = text.rpartition("=")
        if not model.strip() or (equals and agent not in agents):
            raise BadRequest(
                f"--model {text!r} should be a model's name, or AGENT=NAME with one of "
                f"{', '.join(agents)}.{did_you_mean(agent, agents)}"
            )
        wanted = {a: settings.of(a) for a in agents if agent in ("", a)}
        settings = settings.model_copy(
            update={a: one.model_copy(update={"model": model}) for a, one in wanted.items()}
        )
    return settings


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
    settings = with_models(read_settings(options.config), options.model or ())
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
