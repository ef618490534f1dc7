"""Reading run logs: which step failed, the first cause, and the lines that prove it.

One pass over the lines. Text of the command line and of the worker, and JSON lines, with or without
lines about steps. Every line that is quoted is a line of the log as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from .answers import fenced
from .scene import Scene, words

_STEP = r"(?:step|job)[ :]"
_START = re.compile(rf"\b(?:Starting|Started|Running|Executing) {_STEP}(?P<name>.+)")
_DONE = re.compile(rf"\b(?:Completed|Finished|Succeeded) {_STEP}")
_FAILED = re.compile(
    rf"\b(?:Failed|Crashed|Errored|Killed|(?:Error|Failure|Failed) in) {_STEP}(?P<name>.+)"
    r"|\b(?:[Ss]tep|[Jj]ob) (?P<who>.+) failed\b|\bstate\.errors\.(?P<key>[\w-]+)"
)
#: What stands behind a step's name.
_AFTER_NAME = re.compile(r" with dataclip| (?:after|in) [\d.]|:(?: |$)|\s*$")
_ALL_WELL = re.compile(r"status: (?:success|ok)\b|\bWorkflow completed\b")
#: An error that says what is wrong: `TypeError: …`, `OOMError: …`.
_NAMED = re.compile(
    r"\b(?:[A-Z]\w*)?(?:Error|Exception)\b\s?:?\s?\S|\bexceeded\b|\bkilled\b|\bviolates\b"
)
_STATUS = re.compile(r"(?:- |returned |status(?: code)?:? ?|✘ )[45]\d\d\b")
_MESSAGE = re.compile(
    r"[\"'](?:message|reason|detail|details|description|value|errorMessage|hint|diagnostics)[\"']"
    r"\s?:\s?[\"'](?P<said>[^\"']{8,})"
)
_MARK = re.compile(r"✘|✖|✗|\b(?:ERR|ERROR|error|FATAL)\b")
_HARMLESS = re.compile(
    r"⚠|trying again|retr(?:y|ied|ying)|refreshing|waiting|\bcaught\b|\bignoring\b"
    r"|Check state\.errors|Run complete|not reached|no final state|Errors reported|\[JOB\] ℹ",
    re.IGNORECASE,
)
_STACK = re.compile(r"\s+at \S")
_POSITION = re.compile(r"(?:\bat |\bvm:|^\W*)[^\s/\\]*\(?\d+:\d+\)?$|\bline \d+")
_GENERIC = re.compile(
    r"Request failed with status|returned 4\d\d|Bad Request$|(?:Failed|Crashed) (?:step|job)"
    r"|\b(?:Error|Exception) (?:in|code|reported)\b"
)
_SOURCE = re.compile(r"(?=\[(?:R/T|ADA|JOB|CLI|CMP|ENG|WRK)\] )")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
#: A longer line is several that lost their line ends, or is cut. In characters; in lines.
_LONGEST_LINE, _MOST_LINES, _MOST_RUNS = 2_000, 8, 3


@dataclass(slots=True)
class Line:
    """A line as it stands, what it says, and whether it says that something went wrong."""

    raw: str
    text: str
    sent: bool = False
    error: bool = False
    named: bool = False

    def __post_init__(self) -> None:
        harmless = bool(_HARMLESS.search(self.text)) or bool(_STACK.match(self.raw)) or self.sent
        self.named = not harmless and bool(_NAMED.search(self.text))
        marked = _MARK.search(self.text) or _STATUS.search(self.text)
        self.error = self.named or (not harmless and bool(marked))

    @property
    def generic(self) -> bool:
        """Whether it only says that there was an error."""
        return bool(_GENERIC.search(self.text))

    @property
    def said(self) -> str | None:
        """A service's own words in it."""
        found = None if self.sent else _MESSAGE.search(self.text)
        return found["said"].strip() if found and found["said"].count(" ") > 1 else None


@dataclass(slots=True)
class Run:
    """The part of a log in which one step ran; `name` is None in a log that names no steps.

    `failed_at` is the place among its lines at which it is said to have failed.
    """

    name: str | None
    before: Run | None = None
    lines: list[Line] = field(default_factory=list)
    failed_at: int | None = None
    completed: bool = False


def explain(log: str, scene: Scene) -> str | None:
    """What went wrong, or that nothing did; None when the text tells of neither."""
    lines = list(_lines(log))
    runs = _runs(lines)
    failed = [run for run in runs if run.failed_at is not None]
    well = any(_ALL_WELL.search(line.text) for line in lines)
    if not failed and not well:
        failed = [r for r in runs if not r.completed and any(x.error for x in r.lines)][:1]
    if failed:
        return "\n\n".join(_told(run, scene) for run in failed[:_MOST_RUNS])
    if well or any(run.completed for run in runs):
        return "The log shows no failure: every step that started was completed."
    return None


def _lines(log: str) -> Iterator[Line]:
    """The lines. The bodies of requests are marked: what was sent is not what went wrong."""
    inside = False
    for raw in _pieces(log):
        if not raw.startswith((" ", "\t")):
            inside = bool(re.search(r"request (?:body|headers)", raw))
        yield Line(raw, _message(raw), inside)


def _pieces(log: str) -> Iterator[str]:
    stripped = log.strip()
    if stripped.startswith("[") and isinstance(rows := _json(stripped), list):
        yield from (json.dumps(row, ensure_ascii=False) for row in rows)
        return
    for line in log.splitlines():
        parts = [line] if len(line) <= _LONGEST_LINE else _SOURCE.split(line)
        yield from (part[:_LONGEST_LINE] for part in parts)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(line: str) -> str:
    """What a line says: a JSON line holds its message in a field."""
    held = _json(line) if line.lstrip().startswith("{") else None
    if not isinstance(held, dict):
        return line
    said = held.get("message", held.get("msg", held.get("text")))
    if isinstance(said, str) and said.startswith("[") and (inner := _json(said)):
        said = inner
    parts = said if isinstance(said, list) else [said]
    mark = "✘ " if str(held.get("level", "")).lower() in ("error", "fatal") else ""
    source = f"[{name}] " if (name := held.get("name", held.get("source"))) else ""
    return line if said is None else source + mark + " ".join(map(_spoken, parts))


def _spoken(part: Any) -> str:
    """A part of a message; an error is its name and what it says."""
    if isinstance(part, dict) and isinstance(part.get("message"), str):
        return f"{part.get('name') or part.get('type') or 'Error'}: {part['message']}"
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)


def _runs(lines: Iterable[Line]) -> list[Run]:
    """The log by steps. Lines after `Failed step …` that are no other step's are still about it."""
    run = Run(None)
    runs, latest = [run], dict[str, Run]()
    for line in lines:
        if started := _START.search(line.text):
            run = Run(_name(started["name"]), runs[-1])
            latest[run.name or ""] = run
            runs.append(run)
        elif failed := _FAILED.search(line.text):
            name = failed["key"] or failed["who"] or _name(failed["name"])
            if not failed["key"] or runs[-1].failed_at is None:
                run = latest.get(name, run)
                run.name = run.name or name
                run.failed_at = len(run.lines) if run.failed_at is None else run.failed_at
        elif _DONE.search(line.text):
            run.completed = True
        run.lines.append(line)
    return runs


def _name(text: str) -> str:
    end = _AFTER_NAME.search(text)
    return text[: end.start() if end else None].strip(" '\"")


def _told(run: Run, scene: Scene) -> str:
    cause = _cause(run)
    names = words(run.name)
    step = next(
        (s for s in scene.steps if run.name == s.id or names in (words(s.name), words(s.key))), None
    )
    where = f"**{run.name}**" if run.name else "The run"
    if step and names:
        where = f"**{step.name}** (`{step.key}`)"
    why = f": {_bare(cause)}" if cause else "; the log does not say why."
    proof = _proof(run, cause)
    if not proof:
        return f"{where} failed{why}"
    quoted = "\n".join(fenced("\n".join(line.raw for line in proof), ""))
    return f"{where} failed{why}\n\nThe lines of the log that show it:\n\n{quoted}"


def _cause(run: Run) -> Line | None:
    """The line that says most: a named error, else the service's own words, else any error.

    The runtime tells a step's error beside `Failed step …`: of several, that is the one.
    """
    errors = [line for line in run.lines if line.error]
    telling = [x for x in errors if x.named and not x.generic]
    own = [x for x in telling if "[R/T]" in x.text]
    behind = takewhile(lambda line: line.error, run.lines[run.failed_at or 0 :])
    last = [x for x in behind if x.named and not x.generic]
    first = next((n for n, line in enumerate(run.lines) if line.error), 0)
    said = [line for line in run.lines[first:] if line.said]
    other = [x for x in errors if not x.generic]
    return next(iter((*last, *own, *telling, *said, *other, *errors)), None)


def _bare(line: Line) -> str:
    """An error without the time, the source and the mark in front of it."""
    if line.said and not line.named:
        return line.said
    text = re.sub(r"^[\d:.TZ\-]*\s?(?:\[[\w/]+\])?\s?[^\w\s\"'{\[(]*\s?", "", line.text)
    return text.strip()


def _proof(run: Run, cause: Line | None) -> list[Line]:
    """The lines to quote, in the order of the log."""
    lines, text = run.lines, cause.text if cause else ""
    place = next((n for n, line in enumerate(lines) if line is cause), 0)
    wanted = [cause] if cause else []
    wanted += [x for x in lines if _FAILED.search(x.text) and not _HARMLESS.search(x.text)][:1]
    wanted += [x for x in lines if x.error and _STATUS.search(x.text)][-1:]
    wanted += [x for x in lines if x.said][:1]
    wanted += [x for x in lines[place + 1 : place + 4] if _POSITION.search(x.text)][:1]
    if re.search(r"memory|OOM|heap", text, re.IGNORECASE):
        wanted += [x for x in lines if re.search(r" (?:GET|POST|PUT) ", x.text)]
    if re.search(r"date|time|period|expire|future", text, re.IGNORECASE):
        wanted += [x for x in lines if re.match(r"\s+date:", x.raw)]
        wanted += [x for x in lines if x.raw.startswith(" ") and _DATE.search(x.raw)][:1]
    for value in re.findall(r"`([^`]+)`", text)[:2]:
        wanted += [x for x in lines if value in x.raw][:1]
    earlier = run.before.lines if run.before and run.before.name else []
    if re.search(r"undefined|null|is not", text):
        wanted += [x for x in earlier if "response" in x.raw or " GET " in x.raw][:3]
    chosen = {id(x): x for x in wanted if x is cause or not _HARMLESS.search(x.text)}
    kept = set(list(chosen)[:_MOST_LINES])
    return [line for line in (*earlier, *lines) if id(line) in kept]
