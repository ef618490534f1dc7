"""Made-up turns as events, for whatever listens to turns."""

from __future__ import annotations

from global_chat.contract.errors import RateLimited
from global_chat.contract.events import (
    AgentInvoked,
    Changes,
    Event,
    RouteDecided,
    Status,
    StepDiff,
    TextDelta,
    TextEnded,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    Warned,
)
from global_chat.contract.names import Usage
from global_chat.contract.response import Response, ResponseMeta

ANSWER = """\
I changed **Fetch visits**.

## What changed

1. It asks for `100` visits at a time.
2. Visits without a *date* are skipped, as [the guide](https://docs.example.org/guide) advises.

```js
fn(state => state);
```

| field | meaning |
| --- | --- |
| `rows` | what was kept |
"""

BEFORE = "get('/visits');\n\nfn(state => {\n  return state;\n});\n"
AFTER = "get('/visits', { query: { limit: 100 } });\n\nfn(state => {\n  return state.data;\n});\n"

CHANGES = Changes(
    "name: One\n",
    (
        StepDiff("fetch", "Fetch visits", BEFORE, AFTER),
        StepDiff("load", "Load to DHIS2", "", "create('events');\n"),
    ),
    ("Fetch visits: code changed", "Load to DHIS2: code written"),
)


def pieces(text: str, size: int = 7) -> list[Event]:
    """`text` as it streams, `size` characters at a time."""
    return [TextDelta(text[i : i + size]) for i in range(0, len(text), size)]


def ended(text: str = ANSWER) -> TurnEnded:
    return TurnEnded(
        Response(
            response=text,
            history=[],
            usage=Usage(input_tokens=1204, output_tokens=861, cache_read_input_tokens=4000),
            meta=ResponseMeta(
                agents=["router", "planner", "job_code_agent", "job_code_agent"],
                changes=list(CHANGES.summary),
            ),
        )
    )


def planned(answer: str = ANSWER) -> list[Event]:
    """A turn of the planner with a word before its tool calls, two edits, and an answer."""
    return [
        TurnStarted("turn_1"),
        AgentInvoked("router"),
        Status("Reading the request"),
        RouteDecided("planner", 4, None, "planner"),
        AgentInvoked("planner"),
        Status("Planning"),
        *pieces("I'll write it now."),
        TextEnded(),
        Status("Working on the code of Fetch visits"),
        Status("Working on the code of Load to DHIS2"),
        Warned("The adaptor is not in the catalogue."),
        Status("Planning"),
        *pieces(answer),
        TextEnded(),
        CHANGES,
        ended(answer),
    ]


def failed() -> list[Event]:
    """A turn that breaks off in the middle of its answer."""
    return [
        TurnStarted("turn_1"),
        AgentInvoked("router"),
        Status("Planning"),
        *pieces("The first half of"),
        TurnFailed(
            RateLimited("The model service is busy. Try again in a while.", retry_after=20),
            Usage(input_tokens=100, output_tokens=3),
        ),
    ]
