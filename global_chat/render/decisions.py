"""What was decided in a turn, as log lines for the people who tune the agents (`--verbose`)."""

from __future__ import annotations

from global_chat.contract.events import (
    AgentInvoked,
    Event,
    HandedOver,
    ModelCallEnded,
    Noted,
    RouteDecided,
    Stitched,
    ToolCalled,
    ToolEnded,
)

#: A tool's input is shown up to here, in characters.
LONGEST_INPUT = 160


def decision_line(event: Event) -> str | None:
    """One line for an event that decides something, starting with its level; None for others."""
    match event:
        case AgentInvoked(agent=agent, step=step):
            return f"INFO {agent}: invoked{f' for {step}' if step else ''}"
        case RouteDecided():
            return _route(event)
        case ModelCallEnded():
            return _model_call(event)
        case ToolCalled(agent=agent, tool=tool, input=given, step=step):
            told = " ".join(f"{k}={v!r}" for k, v in given.items())
            told = told if len(told) <= LONGEST_INPUT else told[:LONGEST_INPUT] + "…"
            return f"INFO {agent}: calls {tool}{f' on {step}' if step else ''} {told}".rstrip()
        case ToolEnded(agent=agent, tool=tool, failed=True, reason=reason):
            why = (reason or "").partition("\n")[0]
            return f"WARNING {agent}: {tool} failed: {why}"
        case HandedOver(agent=agent, goal=goal, to_planner=True):
            return f"WARNING {agent}: handed over: {goal}. Rerouting to the planner"
        case HandedOver(agent=agent, goal=goal):
            return f"WARNING {agent}: could not finish: {goal}"
        case Noted(message=message):
            return f"INFO note: {message}"
        case Stitched(step=step, added=added, removed=removed):
            return f"INFO stitched the code of {step} (+{added} −{removed})"
    return None


def _route(event: RouteDecided) -> str:
    line = (
        f"router: decided {event.destination} "
        f"(confidence {event.confidence}, job_key {event.job_key or 'none'})"
    )
    if event.reason == "decided":
        return f"INFO {line}; sent to {event.sent_to}"
    why = event.reason.replace("_", " ") + (f": {event.detail}" if event.detail else "")
    return f"WARNING {line}; sent to {event.sent_to} because of {why}"


def _model_call(event: ModelCallEnded) -> str:
    usage = event.usage
    first = f", first token after {event.first_token_ms:.0f} ms" if event.first_token_ms else ""
    ended = event.error_type or event.stop_reason or "ended"
    return (
        f"{'WARNING' if event.error_type else 'INFO'} {event.agent}: {event.model} call "
        f"{event.call}.{event.attempt} {ended} in {event.milliseconds:.0f} ms{first}; tokens: "
        f"{usage.input_tokens} in, {usage.output_tokens} out, "
        f"{usage.cache_read_input_tokens} from cache, {usage.cache_creation_input_tokens} to cache"
    )
