"""Where the database lives and which package registry is asked, from the environment given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

#: How to name a registry, for a message when none is.
HOW_TO_SET = (
    "No package registry is configured. Set GLOBAL_CHAT_REGISTRY to its address, or "
    "`registry=` in your .npmrc file."
)

_LARGEST_NPMRC = 100_000  # characters


def cache_folder(environ: Mapping[str, str]) -> Path:
    """`GLOBAL_CHAT_CACHE` when it is set, else this program's folder in the user's cache."""
    if named := environ.get("GLOBAL_CHAT_CACHE"):
        return Path(named).expanduser()
    # Only whoever opens the database needs it.
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("global-chat", appauthor=False)


def registry_address(environ: Mapping[str, str]) -> str | None:
    """The configured npm registry's address, without a slash at its end; None when there is none.

    In this order: `GLOBAL_CHAT_REGISTRY`, npm's own variable `npm_config_registry`, and the user's
    `.npmrc`, where a registry for the `@openfn` scope comes before the general one. No token is
    read from that file: only registries that answer without a login are used.
    """
    lowered = {name.lower(): value for name, value in environ.items()}
    named = environ.get("GLOBAL_CHAT_REGISTRY") or lowered.get("npm_config_registry")
    if named:
        return clean_address(named)
    home = Path(environ.get("HOME") or Path.home())
    settings = _npmrc(Path(lowered.get("npm_config_userconfig") or home / ".npmrc"), environ)
    return clean_address(settings.get("@openfn:registry") or settings.get("registry"))


def clean_address(address: str | None) -> str | None:
    """An http(s) address in its plain form; None when it is not one."""
    parts = urlsplit((address or "").strip().strip("\"'"))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts._replace(query="", fragment="").geturl().rstrip("/")


def _npmrc(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The registry lines of an .npmrc file, with `${NAME}` filled in; empty when unreadable."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")[:_LARGEST_NPMRC]
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {
        key.strip(): re.sub(r"\$\{(\w+)\}", lambda name: environ.get(name[1], ""), value.strip())
        for key, value in pairs
        if key.strip() in ("registry", "@openfn:registry")
    }
