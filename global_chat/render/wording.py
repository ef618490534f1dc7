"""What is said about a turn, each thing in one place: who answered, why, what it took, what failed.

The last line of a turn, `--verbose`, the tree of a trace and reports of replays are made of these
words. Whatever comes from a model or a file is made safe by whoever shows it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from global_chat.contract.errors import TurnError
from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    Noted,
    RetryPlanned,
    RouteDecided,
    Stitched,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import AgentName, Usage
from global_chat.contract.texts import shortened
from global_chat.model.prices import Prices

from .text import clean, counted, one_line

NO_MODEL = "no model was asked"

#: What a person must know of an answer that no language model gave, by backend.
BACKEND_NOTES = {
    "scripted": f"scripted, {NO_MODEL}",
    "offline": "offline, answered by rules and not by a language model",
}

#: Why a turn is not sent where the router said.
REROUTE_REASONS = {
    "low_confidence": "low confidence",
    "unresolved_step": "an unresolved step",
    "unusable_reply": "an unusable reply",
}

#: Why a model call is made again.
RETRY_REASONS = {
    "RATE_LIMIT": "The rate limit is reached",
    "CONNECTION_ERROR": "The connection failed",
    "OVERLOADED": "The model service is overloaded",
    "PROVIDER_ERROR": "The model service failed",
    "INVALID_OUTPUT": "The answer was unusable",
}

#: Stands where a piece of the answer was shown that no longer counts.
RESTARTED = "[the answer starts again]"

#: `--verbose` shows a tool's input up to here, in characters.
LONGEST_INPUT = 160


def error_text(error: TurnError) -> str:
    """The failure for a person: its sentence, and a line for each hint that its details give."""
    lines = [f"Error ({error.type}): {clean(error.message)}"]
    if wait := error.details.get("retry_after"):
        lines.append(f"  The service asks to wait {wait:g} seconds before the next try.")
    if partial := error.details.get("partial_workflow"):
        lines.append(f"  The part of the work that was finished is in {one_line(str(partial))}.")
    return "\n".join(lines)


def warning_line(event: Warned) -> str:
    """A warning on one line."""
    return f"Warning: {one_line(event.message)}"


def agents_in_order(agents: Sequence[AgentName], handed_over: bool = False) -> str:
    """`router → planner → job code agent ×3`; a handover to the planner is a broken arrow, `⇢`."""
    runs = ((name.replace("_", " "), len(list(group))) for name, group in groupby(agents))
    text = " → ".join(f"{name} ×{count}" if count > 1 else name for name, count in runs)
    return text.replace("→ planner", "⇢ planner", 1) if handed_over else text


def decision(destination: object, confidence: object, job_key: object) -> str:
    """What the router decided: `decided planner (confidence 4, job_key none)`."""
    return f"decided {destination} (confidence {confidence}, job_key {job_key or 'none'})"


def rerouting(sent_to: object, reason: object, detail: object = None) -> str:
    """Where a turn goes instead, and why: `sent to planner because of low confidence`."""
    why = REROUTE_REASONS.get(str(reason), reason)
    return f"sent to {sent_to} because of {why}{f': {detail}' if detail else ''}"


def handover(goal: object, to_planner: object) -> str:
    """What an agent did that gave its request back."""
    if to_planner:
        return f"handed over: {goal}. Rerouting to the planner"
    return f"could not finish: {goal}"


def retry(error_type: object, wait_seconds: object) -> str:
    """Why and when a model call is made again, in whole seconds: `The connection failed: trying
    again in 2 s`."""
    why = RETRY_REASONS.get(str(error_type), f"The call failed ({error_type})")
    wait = math.ceil(wait_seconds) if isinstance(wait_seconds, int | float) else "a few"
    return f"{why}: trying again in {wait} s"


def stitched(step: object, added: object, removed: object) -> str:
    """That code was written into a step. Counts are lines."""
    return f"stitched the code of {step} (+{added} −{removed})"


def tokens(usage: Usage) -> str:
    """`5,204 tokens in (4,000 cached, 200 written to the cache), 61 out`; "" when there are none.

    The first figure is all that was read, the cached part included.
    """
    cached, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    total = usage.input_tokens + cached + written
    if not total and not usage.output_tokens:
        return ""
    notes = [f"{cached:,} cached"] if cached else []
    notes += [f"{written:,} written to the cache"] if written else []
    note = f" ({', '.join(notes)})" if notes else ""
    return f"{counted(total, 'token')} in{note}, {usage.output_tokens:,} out"


def duration(milliseconds: float) -> str:
    """`350 ms`, `1.5 s`."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def dollars(cost: float | None) -> str:
    """What model calls cost, in US dollars; None when a price is not known."""
    return "not known" if cost is None else f"${cost:.4f}"


class Closing:
    """Listens for who answered, what changed, what it took and cost, for the line at the end."""

    def __init__(self) -> None:
        self._backend = ""
        self._agents: list[AgentName] = []
        self._usage = Usage()
        self._changed = ""
        self._cost: float | None = 0.0
        #: What calls cost; None where nothing is paid for.
        self.prices: Prices | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted(backend=backend):
                self._backend = backend
            case AgentInvoked(agent=agent):
                self._agents.append(agent)
            case TurnEnded(response=response):
                self._agents, self._usage = response.meta.agents, response.usage
                self._changed = _changes(response.meta.changes)
            case ModelCallEnded(model=model, usage=usage) if self.prices is not None:
                cost = self.prices.cost(model, usage) if model else 0.0
                self._cost = None if cost is None or self._cost is None else self._cost + cost
            case TurnFailed(usage=usage):
                self._usage = usage

    def text(self, files: Sequence[Path], seconds: float) -> str:
        """`router → planner · 2 changes · 904 tokens in, 61 out · about $0.0036 (…) · 3.2 s`.

        Of a turn that failed it says nothing of changes: the error names what was kept.
        """
        parts = [
            BACKEND_NOTES.get(self._backend, ""),
            agents_in_order(self._agents),
            self._changed,
            tokens(self._usage),
            self._spent(),
            f"{seconds:.1f} s",
            "wrote " + ", ".join(one_line(str(file)) for file in files) if files else "",
        ]
        return " · ".join(filter(None, parts))

    def _spent(self) -> str:
        """`about $0.0123 (prices of 2026-11-30)`; "" when nothing was paid for or is not known."""
        if self.prices is None or not self._cost:
            return ""
        return f"about {dollars(self._cost)} (prices of {self.prices.date})"


def _changes(changes: Sequence[str]) -> str:
    if len(changes) == 1:
        return one_line(changes[0])
    return f"{len(changes)} changes" if changes else "nothing changed"


class LogLines:
    """What was decided in a turn, as log lines for the people who tune the agents (`--verbose`)."""

    def __init__(self) -> None:
        self._offline = False

    def __call__(self, event: Event) -> str | None:
        """The line for an event that decides something, after its level; None for others."""
        match event:
            case TurnStarted(backend=backend):
                self._offline = backend == "offline"
                return f"INFO {NO_MODEL}" if self._offline else None
            case AgentInvoked(agent=agent, step=step):
                return f"INFO {agent}: invoked{f' for {step}' if step else ''}"
            case RouteDecided():
                return _route_line(event)
            case ModelCallEnded():
                model = None if self._offline else event.model
                return _model_call_line(event, model or f"{NO_MODEL};")
            case RetryPlanned(agent=agent, error_type=error_type, wait_seconds=wait):
                return f"WARNING {agent}: {retry(error_type, wait)}"
            case ToolCalled(agent=agent, tool=tool, input=given, step=step):
                shown = shortened(" ".join(f"{k}={v!r}" for k, v in given.items()), LONGEST_INPUT)
                return f"INFO {agent}: calls {tool}{f' on {step}' if step else ''} {shown}".rstrip()
            case ToolEnded(agent=agent, tool=tool, failed=True, reason=reason):
                why = (reason or "").partition("\n")[0]
                return f"WARNING {agent}: {tool} failed: {why}"
            case HandedOver(agent=agent, goal=goal, to_planner=to_planner):
                return f"WARNING {agent}: {handover(goal, to_planner)}"
            case Noted(message=message):
                return f"INFO note: {message}"
            case Stitched(step=step, added=added, removed=removed):
                return f"INFO {stitched(step, added, removed)}"
        return None


def _route_line(event: RouteDecided) -> str:
    decided = f"router: {decision(event.destination, event.confidence, event.job_key)}"
    if event.reason == "decided":
        return f"INFO {decided}; sent to {event.sent_to}"
    return f"WARNING {decided}; {rerouting(event.sent_to, event.reason, event.detail)}"


def _model_call_line(event: ModelCallEnded, model: str) -> str:
    level = "WARNING" if event.error_type else "INFO"
    ended = event.error_type or event.stop_reason or "ended"
    first = f", first token after {duration(event.first_token_ms)}" if event.first_token_ms else ""
    took = f"; {counts}" if (counts := tokens(event.usage)) else ""
    return (
        f"{level} {event.agent}: {model} call {event.call}.{event.attempt} {ended} in "
        f"{duration(event.milliseconds)}{first}{took}"
    )
