"""What a workflow and its parts hold besides what the parts are read into, to compare it.

`Step`, `Trigger` and `Edge` have the keys that the rest of the program works with. Whatever else a
document says may change what a run does as well: credentials, Kafka settings, options, keys that
the app will know next year. Here is all of it, by path, under one name whatever form the document
has; only what is about the file or the canvas is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, TypeAlias

from global_chat.workflow.forms.layout import Layout, P, Placed
from global_chat.workflow.forms.settings import CURSOR, KAFKA, SETTING_PATHS, is_secret
from global_chat.workflow.parts import Step, Trigger
from global_chat.yaml import nodes
from global_chat.yaml.nodes import Node, Scalar, Value, data_of, entries_of, resolve
from global_chat.yaml.source import Source

#: Values by path: `("options", "timeout")`. Null, `{}` and `[]` are no value.
OtherKeys: TypeAlias = dict[tuple[str, ...], Value]

#: A value with more values in it than this is compared as text.
MAX_VALUES = 1_000
#: Longer values are not shown, in characters.
MAX_SHOWN = 80

#: About the file and the canvas: ids, positions, history, notes. A run is the same without them.
_LAYOUT = frozenset(
    {
        *("id", "uuid", "workflow_id", "project_id", "comment", "position", "positions", "pos"),
        *("lock_version", "version_history", "history", "inserted_at", "updated_at"),
        *("schema_version",),
    }
)
_NAMES = {"configuration": ("credential",), **SETTING_PATHS}
_LABELS: dict[tuple[str, ...], str] = {
    ("credential",): "Credential",
    ("project_credential_id",): "Credential",
    ("keychain_credential",): "Keychain credential",
    ("keychain_credential_id",): "Keychain credential",
    ("webhook_reply",): "Reply mode",
    ("custom_path",): "Custom path",
}


def of_workflow(source: Source, layout: Layout | None) -> OtherKeys:
    """The keys beside the parts, without `start`, which is a reference."""
    if layout is None:
        return {}
    return _other_keys(source, layout.root, layout.form.structure, frozenset({"name"}))


def of_project(source: Source, root: Node | None) -> OtherKeys | None:
    """The keys beside the workflows of a project; None when `root` is none."""
    top = resolve(root) if root else None
    if isinstance(top, nodes.Mapping) and "workflows" in top.own:
        return _other_keys(source, top, frozenset({"workflows"}), frozenset())
    return None


def of_parts(source: Source, layout: Layout | None) -> dict[int, OtherKeys]:
    """The keys that a part's own fields do not have, by the `id()` of the part."""
    if layout is None:
        return {}
    return {
        **{id(p.part): _of_step(source, layout, p) for p in layout.steps},
        **{id(p.part): _of_trigger(source, layout, p) for p in layout.triggers},
        **{id(p.part): _of_part(source, layout, p, "edge") for p in layout.edges},
    }


def _of_step(source: Source, layout: Layout, placed: Placed[Step]) -> OtherKeys:
    found = _of_part(source, layout, placed, "step")
    if found.get(("enabled",)) is True:
        found.pop(("enabled",))
    if found.get(("adaptors",)) == [placed.part.adaptor]:
        found.pop(("adaptors",))
    if placed.part.code_path is not None:
        found.pop((layout.body_key, "path"), None)
    return found


def _of_trigger(source: Source, layout: Layout, placed: Placed[Trigger]) -> OtherKeys:
    found = _of_part(source, layout, placed, "trigger")
    if found.get(("name",)) == placed.part.key:
        found.pop(("name",))
    # The cursor is a reference: it follows the step that it names.
    found.pop((CURSOR,), None)
    return found


def _of_part(
    source: Source, layout: Layout, placed: Placed[P], kind: Literal["step", "trigger", "edge"]
) -> OtherKeys:
    mapping = placed.mapping
    if mapping is None:
        return {}
    return _other_keys(source, mapping, layout.form.structure, layout.form.held[kind])


def _other_keys(
    source: Source, mapping: nodes.Mapping, skipped: frozenset[str], read: frozenset[str]
) -> OtherKeys:
    own = entries_of(mapping)
    extra = resolve(own["openfn"].value) if "openfn" in own else None
    pairs = [(key, entry) for key, entry in own.items() if key != "openfn" or extra is None]
    if isinstance(extra, nodes.Mapping):
        # Here the portability form keeps what is the app's own.
        pairs += entries_of(extra).items()
    found: OtherKeys = {}
    for key, entry in pairs:
        value = resolve(entry.value)
        if key in _LAYOUT or key in skipped or (key in read and _is_plain(key, value)):
            continue
        path = _NAMES.get(key, (key,))
        _add(found, (key,) if path in found else path, _data(source, value))
    return found


def _is_plain(key: str, value: nodes.Content) -> bool:
    """Whether a part holds the whole of this value."""
    switch = key in ("enabled", "disabled")
    return isinstance(value, Scalar) and (not switch or isinstance(data_of(value), bool | None))


def _data(source: Source, value: nodes.Content) -> Value:
    if not isinstance(value, Scalar) and value.size > MAX_VALUES:
        return source.text[value.start : value.end]
    found: Value = data_of(value)
    return found


def _add(found: OtherKeys, path: tuple[str, ...], value: Value) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _add(found, (*path, key), inner)
    elif value is not None and value != []:
        found[path] = value


def differences(owner: str, old: OtherKeys, new: OtherKeys) -> Iterator[str]:
    """One line for each value that changed. `owner` says whose it is: `path A → B`."""
    for path in dict.fromkeys((*old, *new)):
        was, now = old.get(path), new.get(path)
        if json.dumps(was, sort_keys=True) == json.dumps(now, sort_keys=True):
            continue
        if path == ("enabled",) and all(value is None or value is False for value in (was, now)):
            yield f"Step {owner} switched {'off' if now is False else 'on'}"
            continue
        yield sentence(_label(path), owner, *_shown(path, was, now))


def sentence(what: str, owner: str, was: str | None, now: str | None) -> str:
    """`Cursor of trigger cron changed from fetch to load`. None is no value, and the empty text one
    that is not to be shown."""
    if now is None:
        return f"{what} of {owner} removed"
    if was is None:
        return f"{what} of {owner} set{f' to {now}' if now else ''}"
    return f"{what} of {owner} changed{f' from {was} to {now}' if was and now else ''}"


def _label(path: tuple[str, ...]) -> str:
    if path[0] == KAFKA and len(path) > 1:
        return " ".join(("Kafka", *path[1:])).replace("_", " ")
    return _LABELS.get(path) or f"`{'.'.join(path)}`"


def _shown(path: tuple[str, ...], was: Value, now: Value) -> tuple[str | None, str | None]:
    """Both values as people read them. A secret is never one of them, nor is an id."""
    hidden = path[-1].endswith("_id") or (
        path not in _LABELS and any(is_secret(key, was or now) for key in path)
    )
    texts = ["" if hidden else _readable(value) for value in (was, now)]
    if texts[0] == texts[1]:
        texts = ["" if hidden else json.dumps(value, ensure_ascii=False) for value in (was, now)]
    return None if was is None else texts[0], None if now is None else texts[1]


def _readable(value: Value) -> str:
    if isinstance(value, list):
        parts = [_readable(item) for item in value if not isinstance(item, list | dict)]
        text = ", ".join(parts) if len(parts) == len(value) else ""
    else:
        text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN and text.isprintable() else ""
