"""What a log proves: the step that failed, its error, the lines that belong to it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from .lines import LogLine, RunLog, StepRun

_MESSAGE = re.compile(
    r"[\"']?(?:message|reason|detail|details|description|value|errorMessage|hint"
    r"|error_description|diagnostics)[\"']?\s*:\s*[\"'`]"
)
_TOKEN = re.compile(
    r"`([^`\s]+)`|\"([^\"\s]{4,})\"|'([^'\s]{4,})'|\b([a-z]+[A-Z]\w{2,})\b|\b(\d{5,})\b"
    r"|\b([A-Za-z]+_[\w]+)\b|\b(\d{4}-\d\d-\d\d[T ][\d:.]+Z?)\b"
)
_TIME = re.compile(r"\b(?:date|time|datetime|future|period|expired?)\b", re.IGNORECASE)
_SIZE = re.compile(r"\b\d+(?:\.\d+)? ?[mg]b\b", re.IGNORECASE)
_GENERIC = re.compile(
    r"Bad Request|Invalid Submission|Request failed with status code|status: fail|state\.errors"
)
_MEMORY = re.compile(r"memory|heap|OOM|out of memory", re.IGNORECASE)
_MOST_LINES = 9


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One failed step: its error, the status of a refused request, and the lines that prove it."""

    step: str
    error: str
    kind: str
    proof: tuple[str, ...]
    harmless: tuple[str, ...] = ()


def diagnose(log: RunLog) -> list[Diagnosis]:
    """One diagnosis for each failed step, in the order of the run."""
    return [_diagnosis(log, run) for run in log.failures]


def _diagnosis(log: RunLog, run: StepRun) -> Diagnosis:
    errors = [x for x in run.lines if x.is_error and "Failed step" not in x.text]
    refused = [x for x in run.lines if (x.status or 0) >= 400 and not _answered_later(run, x)]
    messages = [x for x in run.lines if _MESSAGE.search(x.text) and not _GENERIC.search(x.text)]
    main = _main_error(errors, refused, messages)
    kind = _kind(main, refused, run)
    proof = _proof(log, run, main, errors, refused, messages, kind)
    return Diagnosis(run.name, _bare(main), kind, tuple(x.text for x in proof), _harmless(log, run))


def _answered_later(run: StepRun, line: LogLine) -> bool:
    """Whether the same request was answered well afterwards: it was tried again."""
    later = (x for x in run.lines if x.number > line.number and x.request)
    return any(x.request == line.request and 200 <= (x.status or 0) < 300 for x in later)


def _main_error(errors: list[LogLine], refused: list[LogLine], messages: list[LogLine]) -> str:
    """The line that says most about what went wrong."""
    named = [
        x.text for x in errors if re.search(r"\b[A-Z]\w*(?:Error|Exception)\b|exceeded", x.text)
    ]
    if messages and (not named or any(_GENERIC.search(text) for text in named)):
        return messages[0].text
    for text in (*named, *(x.text for x in errors), *(x.text for x in refused)):
        return text
    return messages[0].text if messages else ""


def _bare(text: str) -> str:
    """An error without the time, the source and the mark in front of it."""
    text = re.sub(r"^[\d:.TZ\-\s]*(?:\[\w+(?:/\w+)?\])?\s*[^\w\s\"'{\[(]*\s*", "", text).strip()
    value = _MESSAGE.search(text)
    if value:
        inside = re.search(
            (
                r"(?:message|reason|detail\w*|description|value"
                r"|diagnostics)[\"']?\s*:\s*[\"'`](.*?)[\"'](?:\s*[,}\]]|\s*$)"
            ),
            text,
        )
        text = inside[1] if inside else text
    return text


def _kind(main: str, refused: list[LogLine], run: StepRun) -> str:
    """The kind of failure, for a sentence on what it means."""
    text = " ".join(x.text for x in run.lines if x.is_error)
    if re.search(r"OOM|memory|heap out", text):
        return "memory"
    if re.search(
        (
            r"(?:Cannot read properties of|undefined is not|is not a function|is not iterable"
            r"|is not defined)"
        ),
        text,
    ):
        return "undefined"
    codes = {x.status for x in refused}
    if codes & {401, 403}:
        return "credentials"
    if codes & {404}:
        return "not_found"
    if codes & {429}:
        return "rate"
    if any(code and code >= 500 for code in codes) or re.search(
        r"ETIMEDOUT|ECONNREFUSED|ENOTFOUND|ECONNRESET|socket hang up|timed? ?out|EAI_AGAIN", text
    ):
        return "server"
    if codes or re.search(
        r"\b4\d\d\b|violates|does not exist|duplicate key|refused|rejected", main
    ):
        return "rejected"
    return "code"


def _proof(
    log: RunLog,
    run: StepRun,
    main: str,
    errors: list[LogLine],
    refused: list[LogLine],
    messages: list[LogLine],
    kind: str,
) -> list[LogLine]:
    """The lines to quote, in order: errors, refusals, their messages, and what those name."""
    ending = [x for x in run.lines if re.search(r"(?:Failed|Crashed) (?:step|job)", x.text)]
    chosen: dict[int, LogLine] = {}

    def take(lines: list[LogLine], most: int) -> None:
        for line in lines[:most]:
            if len(chosen) < _MOST_LINES and line.text.strip():
                chosen.setdefault(line.number, line)

    take(ending, 1)
    take([x for x in errors if x.text == main] or errors, 1)
    take(_distinct(messages), 2)
    take(refused[-1:], 1)
    take([x for x in errors if x.text != main], 1)
    take(
        [
            x
            for x in run.lines
            if re.search(r"\brequest\b(?! body)|\bbody:?\s*\S", x.text) and x not in refused
        ],
        1,
    )
    if kind == "memory":
        take([x for x in reversed(run.lines) if x.request and _SIZE.search(x.text)], 1)
        take([x for x in run.lines if x.request], 1)
    if kind == "undefined":
        take(_before(log, run), 3)
    take(_related(log, run, main, messages), 3)
    return [chosen[number] for number in sorted(chosen)]


def _distinct(lines: list[LogLine]) -> list[LogLine]:
    """Lines that differ in more than names and numbers: one of each kind."""
    seen: dict[str, LogLine] = {}
    for line in lines:
        seen.setdefault(re.sub(r"[A-Z]*\w*\d\w*|\"[^\"]{0,24}\"", "#", line.text), line)
    return list(seen.values())


def _before(log: RunLog, run: StepRun) -> list[LogLine]:
    """What the step before got from outside: when data is missing here, it was missing there."""
    index = next((i for i, other in enumerate(log.runs) if other is run), 0)
    for earlier in reversed(log.runs[:index]):
        answers = [
            x
            for x in earlier.lines
            if x.request or re.search(r"response (?:body|headers?)|rows|records|read", x.text)
        ]
        answers = [x for x in answers if "Starting" not in x.text and "Completed" not in x.text]
        if answers:
            bodies = [x for x in answers if "body" in x.text]
            return [*(x for x in answers if x.request), *bodies, *answers][:3]
    return []


def _related(log: RunLog, run: StepRun, main: str, messages: list[LogLine]) -> list[LogLine]:
    """Lines that hold a value or a field which the error names, or a value beside such a field."""
    seeds = " ".join([main, *(x.text for x in messages[:2])])
    tokens = _tokens(seeds)
    fields = [
        x for x in run.lines if not x.is_stack and tokens & _tokens(x.text) and x.text not in seeds
    ]
    values = {t for x in fields for t in _tokens(x.text) if re.match(r"\d{4}-\d\d-\d\d", t)}
    common = Counter(t for x in log.lines for t in _tokens(x.text))
    wanted = {t for t in tokens | values if common[t] <= 12}
    found = [
        x for x in log.lines if wanted & _tokens(x.text) and not x.is_stack and x.text not in seeds
    ]
    if _TIME.search(seeds):
        found += [x for x in run.lines if re.match(r"\s+date:", x.text)]
    return _distinct(sorted(set(found), key=lambda x: (x.step != run.name, x.number)))


def _tokens(text: str) -> set[str]:
    return {next(g for g in match.groups() if g) for match in _TOKEN.finditer(text)}


def _harmless(log: RunLog, run: StepRun) -> tuple[str, ...]:
    """What looks like a cause and is none: tried again, or caught by a step that completed."""
    found = []
    for line in log.lines:
        other = next((r for r in log.runs if any(x is line for x in r.lines)), None)
        bad = "⚠" in line.text or (line.status or 0) >= 400 or (line.is_error and "✘" in line.text)
        if not bad or line.is_stack or other is None:
            continue
        retried = other is run and (_answered_later(run, line) or "⚠" in line.text)
        if retried or (other.completed and not other.failed and not _MEMORY.search(line.text)):
            found.append(line.text)
    return tuple(dict.fromkeys(found))[:2]
