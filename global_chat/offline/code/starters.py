"""Starter code for an empty step: its adaptor's first fitting operation, marked as a starter.

Only when the request asks for code and says nothing more exact: what it says must not be lost.
"""

from __future__ import annotations

import re

from ..language.folding import folded, name_words, word_set

_SIGNATURE = re.compile(r"\b(?P<name>[a-z]\w*(?:\.\w+)?)\((?P<parameters>[^()]*)\)")
_VERBS = {
    "get": word_set(
        "get fetch read list load find search pull extract query download lire recuperer obtener"
        " buscar ler"
    ),
    "create": word_set(
        "create add post send write save store insert push record log make notify alert email sms"
        " pay creer enviar crear guardar"
    ),
    "update": word_set("update change set edit modify sync actualizar"),
    "upsert": word_set("upsert merge sync"),
    "delete": word_set("delete remove"),
}
_OPTIONAL = ("callback", "options", "opts")
_RESHAPING = frozenset(("fn", "each", "combine", "fnIf", "map", "fields", "field", "cursor"))


def operations_of(documentation: str) -> list[tuple[str, list[str]]]:
    """Operations that an adaptor's documentation names, with the names of their parameters."""
    found: dict[str, list[str]] = {}
    for match in _SIGNATURE.finditer(documentation):
        parameters = [p.strip(" ?[].…") for p in match["parameters"].split(",") if p.strip()]
        if all(re.fullmatch(r"\w+(?::.*)?(?:=.*)?", p) for p in parameters):
            names = [p.split(":")[0].split("=")[0].strip() for p in parameters]
            found.setdefault(match["name"], [n for n in names if n not in _OPTIONAL])
    return list(found.items())


def starter(name: str, adaptor: str, documentation: str) -> str:
    """Code that runs in order, passes the state on, and says what is left to fill in."""
    operation = _fitting(name, operations_of(documentation))
    system = adaptor.rpartition("language-")[2].partition("@")[0] or "common"
    head = f'// Starter for "{name}", written offline by rule: complete what is marked with TODO.\n'
    if operation is None or system == "common":
        return (
            f"{head}fn(state => {{\n  // TODO: take what you need from state.data\n  return "
            f"state;\n}});\n"
        )
    called, parameters = operation
    arguments = ", ".join(_placeholder(p) for p in parameters)
    return (
        f"{head}{called}({arguments}); // TODO: the {system} adaptor's `{called}`\n\n"
        "fn(state => {\n"
        "  // TODO: keep what later steps need, for example state.result = state.data\n"
        "  return state;\n"
        "});\n"
    )


def _placeholder(parameter: str) -> str:
    word = folded(parameter)
    if re.search(r"data|body|record|params|attributes|values|message|query|obj", word):
        return "state => ({ /* TODO */ })"
    return f"'TODO-{parameter}'"


def _fitting(name: str, operations: list[tuple[str, list[str]]]) -> tuple[str, list[str]] | None:
    """The operation whose name goes best with the step's name; the first where none does."""
    words = name_words(name)
    best, best_score = None, 0.0
    for position, (called, parameters) in enumerate(operations):
        if called in _RESHAPING:
            continue
        parts = name_words(called)
        score = 0.1 / (1 + position)
        for verb, spoken in _VERBS.items():
            if parts[:1] == (verb,) and any(w in spoken for w in words):
                score += 2
        score += sum(
            1.5 for part in parts[1:] if any(w.rstrip("s") == part.rstrip("s") for w in words)
        )
        score += sum(1 for part in parts[:1] if part in words)
        if score > best_score:
            best, best_score = (called, parameters), score
    return best
