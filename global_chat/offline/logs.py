"""Reading run logs: which step failed, the first cause, and its line.

One pass over the lines. Text logs of the command line and of the worker, and JSON lines, with or
without lines about steps. Every line that is quoted is a line of the log as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .scene import Scene, words

_START = re.compile(r"(?:Starting|Started|Running|Executing) (?:step|job) (.+?)\s*$")
_END = re.compile(r"(?:Completed|Finished|Succeeded) (?:step|job) ")
_FAILED = re.compile(
    r"(?:Failed|Crashed|Errored) (?:step|job) (.+?)(?: (?:after|in) [\d.]+ ?m?s\b.*|:.*)?\s*$"
)
#: An error that says what is wrong: `TypeError: …`, `OOMError: …`.
_NAMED = re.compile(
    r"\b(?:[A-Z]\w*)?(?:Error|Exception)\b\s*:?\s*\S|\bexceeded\b|\bkilled\b|\bviolates\b"
)
_STATUS = re.compile(r"(?:- |returned |status(?: code)?:? ?|✘ )(?P<status>[45]\d\d)\b")
_MESSAGE = re.compile(
    r"[\"'](?:message|reason|detail|details|description|value|errorMessage|hint|diagnostics)[\"']"
    r"\s*:\s*[\"'](?P<said>[^\"']{8,})"
)
_MARK = re.compile(r"✘|✖|✗|\b(?:ERR|ERROR|error|FATAL)\b")
_AFTER_THAT = re.compile(
    r"Check state\.errors|Run complete|not reached|no final state|Errors reported"
)
_RETRIED = re.compile(r"⚠|trying again|retr(?:y|ied|ying)|refreshing", re.IGNORECASE)
_STACK = re.compile(r"\s+at \S")
_GENERIC = re.compile(
    r"Request failed with status|returned 4\d\d|Bad Request$|(?:Failed|Crashed) (?:step|job)"
)
_MEMORY = re.compile(r"memory|OOM|heap", re.IGNORECASE)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_MOST_LINES = 8


@dataclass(slots=True)
class Run:
    """The part of a log in which one step ran; `name` is None in a log that names no steps."""

    name: str | None
    lines: list[str] = field(default_factory=list)
    failed: bool = False
    completed: bool = False


def explain(log: str, scene: Scene) -> str | None:
    """What went wrong, or that nothing did; None when the text tells of neither."""
    runs = read(log)
    failed = [run for run in runs if run.failed]
    if not failed:
        failed = [r for r in runs if not r.completed and any(_is_error(x) for x in r.lines)][:1]
    if not failed:
        done = any(run.completed for run in runs)
        return "The log shows no failure: every step that started was completed." if done else None
    return "\n\n".join(_told(run, runs, scene) for run in failed[:3])


def read(log: str) -> list[Run]:
    """The log by steps. Lines after `Failed step …` that are no other step's are still about it."""
    runs = [Run(None)]
    for raw in log.splitlines():
        text = _message(raw)
        if started := _START.search(text):
            runs.append(Run(_name(started[1])))
        run = runs[-1]
        if failed := _FAILED.search(text):
            name = _name(failed[1])
            run = next((r for r in reversed(runs) if r.name == name), run)
            run.name, run.failed = name, True
        elif _END.search(text):
            run.completed = True
        run.lines.append(raw)
    return [run for run in runs if run.name or any(line.strip() for line in run.lines)]


def _name(text: str) -> str:
    return text.partition(" with dataclip")[0].strip(" '\"")


def _message(line: str) -> str:
    """What a line says: a JSON line holds its message in a field."""
    if not line.lstrip().startswith("{"):
        return line
    try:
        held = json.loads(line)
    except ValueError:
        return line
    if not isinstance(held, dict):
        return line
    said = held.get("message", held.get("msg", held.get("text")))
    if isinstance(said, list):
        said = " ".join(
            x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in said
        )
    level = "✘ " if str(held.get("level", "")).lower() in ("error", "fatal") else ""
    return f"{level}{said}" if isinstance(said, str) else line


def _is_error(line: str) -> bool:
    text = _message(line)
    marked = _NAMED.search(text) or _MARK.search(text) or _STATUS.search(text)
    return bool(marked) and not _STACK.match(line) and not _RETRIED.search(text)


def _told(run: Run, runs: list[Run], scene: Scene) -> str:
    cause = _cause(run)
    step = next((s for s in scene.steps if words(run.name) in (words(s.name), words(s.key))), None)
    where = (
        f"**{step.name}** (`{step.key}`)" if step else f"**{run.name}**" if run.name else "The run"
    )
    said = (
        f"{where} failed: {_bare(cause)}" if cause else f"{where} failed; the log does not say why."
    )
    proof = list(_proof(run, runs, cause))
    if not proof:
        return said
    quoted = "\n".join(["```", *proof, "```"])
    return f"{said}\n\nThe lines of the log that show it:\n\n{quoted}"


def _cause(run: Run) -> str | None:
    """The line that says most: a named error, else the service's own words, else any error."""
    lines = list(_without_requests(run.lines))
    errors = [x for x in lines if _is_error(x) and not _AFTER_THAT.search(x)]
    telling = [x for x in errors if _NAMED.search(_message(x)) and not _GENERIC.search(_message(x))]
    first = next((n for n, x in enumerate(lines) if x in errors[:1]), 0)
    said = [x for x in lines[first:] if (m := _MESSAGE.search(x)) and m["said"].count(" ") > 1]
    other = [x for x in errors if not _GENERIC.search(_message(x))]
    return next(iter((*telling, *said, *other, *errors)), None)


def _without_requests(lines: list[str]) -> Iterator[str]:
    """The lines but for the bodies of requests: what was sent is not what went wrong."""
    inside = False
    for line in lines:
        if not line.startswith((" ", "\t")):
            inside = bool(re.search(r"request (?:body|headers)", line))
        if not inside:
            yield line


def _bare(line: str) -> str:
    """An error without the time, the source and the mark in front of it."""
    found = _MESSAGE.search(line)
    if found and not _NAMED.search(_message(line)):
        return found["said"].strip()
    text = re.sub(r"^[\d:.TZ\-]*\s*(?:\[[\w/]+\])?\s*[^\w\s\"'{\[(]*\s*", "", _message(line))
    return text.strip()


def _proof(run: Run, runs: list[Run], cause: str | None) -> Iterator[str]:
    """The lines to quote, in the order of the log."""
    wanted: dict[str, None] = {cause: None} if cause else {}
    ending = [x for x in run.lines if _FAILED.search(_message(x))]
    refused = [x for x in run.lines if _STATUS.search(x) and not _RETRIED.search(x)]
    said = [x for x in _without_requests(run.lines) if _MESSAGE.search(x)]
    wanted |= dict.fromkeys((*ending[:1], *refused[-1:], *said[:1]))
    text = cause or ""
    if _MEMORY.search(text):
        wanted |= dict.fromkeys(x for x in run.lines if re.search(r" (?:GET|POST|PUT) ", x))
    if re.search(r"date|time|period|expire|future", text, re.IGNORECASE):
        dates = [x for x in run.lines if x.startswith(" ") and _DATE.search(x)]
        wanted |= dict.fromkeys((*(x for x in run.lines if re.match(r"\s+date:", x)), *dates[:1]))
    for value in re.findall(r"`([^`]+)`", text)[:2]:
        wanted |= dict.fromkeys([x for x in run.lines if value in x][:1])
    if re.search(r"undefined|null|is not", text):
        before = [r for r in runs[: runs.index(run)] if r.name]
        answers = (
            x for x in (before[-1].lines if before else []) if "response" in x or " GET " in x
        )
        wanted |= dict.fromkeys(list(answers)[:3])
    chosen = [line for line in wanted if not _RETRIED.search(line)][:_MOST_LINES]
    order = {line: n for n, line in enumerate(x for r in runs for x in r.lines)}
    return iter(sorted(chosen, key=lambda line: order.get(line, 0)))
