"""What the planner's tool calls of one round do to each other: order, overlap, one step twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import pytest

from global_chat.contract.events import AgentInvoked, Event, Stitched, ToolCalled
from global_chat.model.seam import Model, ModelEvent, ModelRequest
from tests.service.recorded_turns import results_in, take
from tests.service.scripts import (
    RENAMED,
    TO_PLANNER,
    calls,
    code_call,
    drafted,
    edit,
    inspect,
    renames,
    says,
    structure,
    structure_call,
)

pytestmark = pytest.mark.service

#: Seconds after which something that waits for another call waits in vain.
PATIENCE = 10


@dataclass
class Meeting:
    """A model whose job code calls all wait for each other before any is answered."""

    model: Model
    barrier: asyncio.Barrier

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.agent == "job_code_agent":
            async with asyncio.timeout(PATIENCE):
                await self.barrier.wait()
        async with aclosing(self.model.complete(request)) as events:
            async for event in events:
                yield event


@dataclass
class Waiting:
    """A model whose calls with a certain text wait for something to happen elsewhere."""

    model: Model
    text: str
    happened: asyncio.Event

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if self.text in repr(request.messages[-1]) and request.agent == "job_code_agent":
            async with asyncio.timeout(PATIENCE):
                await self.happened.wait()
        async with aclosing(self.model.complete(request)) as events:
            async for event in events:
                yield event


def writes(text: str) -> dict[str, object]:
    return calls(edit(None, f"{text};\n"), text="Done.", when={"contains": text, "in": "last"})


async def test_code_calls_of_one_round_run_side_by_side() -> None:
    barrier = asyncio.Barrier(3)
    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [
                calls(
                    code_call("fetch", "a()"), code_call("clean", "b()"), code_call("load", "c()")
                ),
                says("Done."),
            ],
            "job_code_agent": [writes("a()"), writes("b()"), writes("c()")],
        },
        wrap=lambda model: Meeting(model, barrier),
    )
    assert [taken.code_of(key) for key in ("fetch", "clean", "load")] == [
        "a();\n",
        "b();\n",
        "c();\n",
    ]
    assert not any(r.get("is_error") for r in results_in(taken.to("planner")[1]))


async def test_code_is_stitched_the_moment_its_call_returns() -> None:
    stitched = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, Stitched) and event.step == "Load visits":
            stitched.set()

    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [calls(code_call("fetch", "a()"), code_call("load", "c()")), says("Done.")],
            "job_code_agent": [writes("a()"), writes("c()")],
        },
        wrap=lambda model: Waiting(model, "a()", stitched),
        listen=listen,
    )
    assert [e.step for e in taken.of(Stitched)] == ["Load visits", "Fetch visits"]
    first, second = results_in(taken.to("planner")[1])
    assert "fetch" in first["content"]
    assert "load" in second["content"]


async def test_two_calls_for_one_step_build_on_each_other() -> None:
    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [
                calls(code_call("fetch", "first"), code_call("Fetch visits", "second")),
                says("Done."),
            ],
            "job_code_agent": [
                calls(
                    edit("limit: 50", "limit: 80"),
                    when={"contains": ["first", "limit: 50"]},
                    text="Done.",
                ),
                calls(
                    edit("limit: 80", "limit: 80, page: 2"),
                    when={"contains": ["second", "limit: 80"], "lacks": "limit: 50"},
                    text="Done.",
                ),
            ],
        }
    )
    assert "{ limit: 80, page: 2 }" in taken.code_of("fetch")
    assert len(taken.of(Stitched)) == 2


async def test_an_event_carries_the_planner_s_call_that_it_happens_under() -> None:
    keys = ("fetch", "clean", "load")
    first = {**structure_call(), "id": "structure"}
    codes = [{**code_call(key), "id": f"call-{key}"} for key in keys]
    edits = [
        # Parallel agents may use one id for their own tool calls.
        calls(
            {**edit(None, f"// new {key}\n"), "id": "same"},
            when={"contains": f"step: {key}"},
        )
        for key in keys
    ]
    script = {
        "router": TO_PLANNER,
        "planner": [calls(first, *codes), says("Done.")],
        "workflow_agent": [structure(text="It is fine.")],
        "job_code_agent": edits,
    }
    taken = await take(script, wrap=lambda model: Meeting(model, asyncio.Barrier(3)))
    names = {"fetch": "Fetch visits", "clean": "Clean visits", "load": "Load visits"}
    for key, name in names.items():
        under = [event for event in taken.events if event.parent == f"call-{key}"]
        assert [type(event).__name__ for event in under] == [
            "AgentInvoked", "Status", "ModelCallStarted", "ModelCallEnded", "ToolCalled",
            "ToolEnded", "WorkflowChanged", "Stitched",
        ]  # fmt: skip
        assert [e.step for e in under if isinstance(e, AgentInvoked | Stitched)] == [name, name]
    structural = [e for e in taken.of(AgentInvoked) if e.parent == "structure"]
    assert [event.agent for event in structural] == ["workflow_agent"]
    turn_itself = {event.agent for event in taken.of(AgentInvoked) if event.parent is None}
    assert turn_itself == {"router", "planner"}
    assert all(e.parent is None for e in taken.of(ToolCalled) if e.agent == "planner")


async def test_a_failed_call_does_not_cost_the_others_their_work() -> None:
    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [
                calls(
                    code_call("fetch", "a()"), code_call("clean", "b()"), code_call("load", "c()")
                ),
                says("Two of three."),
            ],
            "job_code_agent": [
                writes("a()"),
                {"when": {"contains": "b()", "in": "last"}, "error": {"type": "OVERLOADED"}},
                writes("c()"),
            ],
        }
    )
    assert (taken.code_of("fetch"), taken.code_of("load")) == ("a();\n", "c();\n")
    failed = [r.get("is_error", False) for r in results_in(taken.to("planner")[1])]
    assert failed == [False, True, False]


async def test_structure_comes_before_code_wherever_it_stands_in_the_round() -> None:
    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [
                calls(code_call(RENAMED, "a()"), inspect(RENAMED), structure_call("rename")),
                says("Done."),
            ],
            "workflow_agent": [renames()],
            "job_code_agent": [writes("a()")],
        }
    )
    assert taken.asked == ["router", "planner", "workflow_agent", "job_code_agent", "planner"]
    code, read, structural = results_in(taken.to("planner")[1])
    assert not any(r.get("is_error") for r in (code, read, structural))
    assert f'"{RENAMED}"' in structural["content"]
    assert taken.code_of(RENAMED) == "a();\n"


async def test_structural_calls_of_one_round_build_on_each_other() -> None:
    def renaming(old: str, new: str) -> dict[str, object]:
        yaml = drafted("name: Fetch visits", f"name: {new}")
        return structure(yaml, "Done.", when={"contains": f"name: {old}", "in": "system"})

    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [calls(structure_call("one"), structure_call("two")), says("Done.")],
            "workflow_agent": [renaming("Fetch visits", "One"), renaming("One", "Two")],
        }
    )
    step = taken.after.find_step("fetch")
    assert step is not None
    assert step.name == "Two"


async def test_a_subagent_of_the_planner_is_told_the_planner_s_message_and_no_history() -> None:
    taken = await take(
        {
            "router": TO_PLANNER,
            "planner": [
                calls(code_call("load", "c() please"), structure_call("rename it")),
                says("Done."),
            ],
            "workflow_agent": [renames()],
            "job_code_agent": [writes("c()")],
        },
        "what the user typed",
        history=[{"role": "user", "content": "earlier-words"}],
    )
    (job,), (structural,) = taken.to("job_code_agent"), taken.to("workflow_agent")
    assert [m.content for m in job.messages] == ["c() please"]
    assert [m.content for m in structural.messages] == ["rename it"]
    assert (
        taken.holding("earlier-words")
        == taken.holding("what the user typed")
        == {"router", "planner"}
    )


@dataclass
class Endless:
    """A model whose job code calls never end, and which counts those that were ended for it."""

    model: Model
    begun: asyncio.Barrier
    ended: int = 0

    async def complete(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.agent == "job_code_agent":
            try:
                await self.begun.wait()
                await asyncio.Event().wait()
            finally:
                self.ended += 1
        async with aclosing(self.model.complete(request)) as events:
            async for event in events:
                yield event


async def test_an_interrupt_reaches_every_call_that_is_still_running() -> None:
    begun = asyncio.Barrier(3)
    models: list[Endless] = []

    def wrap(model: Model) -> Model:
        models.append(Endless(model, begun))
        return models[-1]

    script = {"router": TO_PLANNER, "planner": [calls(code_call("fetch"), code_call("load"))]}
    turn = asyncio.create_task(take(script, wrap=wrap))
    async with asyncio.timeout(PATIENCE):
        await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert models[0].ended == 2
