"""`meta.changes` and `meta.warnings`: a program that reads only the response misses nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from global_chat.contract.events import Changes, Warned
from tests.service.command_line import CommandLine
from tests.service.recorded_turns import Taken, ask_job, ask_workflow, plan, take
from tests.service.scripts import (
    TO_PLANNER,
    TO_STRUCTURE,
    WORKFLOW,
    Script,
    calls,
    code_call,
    drafted,
    edit,
    inspect,
    renames,
    says,
    structure,
    structure_call,
    to_code,
    tool,
)

pytestmark = pytest.mark.service

FIXTURES = Path(__file__).parents[2] / "fixtures" / "workflows"
RENAMED = "Renamed step Fetch visits to Receive visits"
RAISED = "Code of Fetch visits changed (+1 −1)"
CODE = "get('/body-zq21', { query: { limit: 50 } });\n"
CONTEXT = {"expression": CODE, "page_name": "workflows/visits-to-registry/Fetch visits"}
UNKNOWN = "Unknown payload key 'colour' is ignored."


def raises_the_limit(text: str = "I raised the limit.") -> Script:
    return calls(edit("limit: 50", "limit: 80"), text=text)


def is_direct(reply: Script) -> Script:
    """The workflow agent's reply as it is when it is addressed directly."""
    return {"reply": {k: v for k, v in reply["reply"].items() if k != "handover"}}


CHANGED: dict[str, tuple[Callable[[], Awaitable[Taken]], list[str]]] = {
    "code": (
        lambda: take({"router": to_code(), "job_code_agent": [raises_the_limit()]}),
        [RAISED],
    ),
    "structure": (lambda: take({"router": TO_STRUCTURE, "workflow_agent": [renames()]}), [RENAMED]),
    "planner": (
        lambda: plan(
            calls(structure_call()),
            calls(code_call("fetch")),
            says("Done."),
            workflow_agent=[renames()],
            job_code_agent=[raises_the_limit()],
        ),
        [RENAMED, "Code of Receive visits changed (+1 −1)"],
    ),
    "handover": (
        lambda: take(
            {
                "router": to_code("load"),
                "job_code_agent": [
                    calls(tool("edit_workflow", goal="The limit is in fetch.")),
                    raises_the_limit(),
                ],
                "planner": [calls(code_call("fetch")), says("Done.")],
            }
        ),
        [RAISED],
    ),
    "job": (lambda: ask_job({"job_code_agent": [raises_the_limit()]}, context=CONTEXT), [RAISED]),
    "job-without-a-name": (
        lambda: ask_job({"job_code_agent": [raises_the_limit()]}, context={"expression": CODE}),
        ["Code of this step changed (+1 −1)"],
    ),
    "workflow": (
        lambda: ask_workflow({"workflow_agent": [is_direct(renames())]}, existing_yaml=WORKFLOW),
        [RENAMED],
    ),
}


@pytest.mark.parametrize("way", CHANGED)
async def test_the_response_says_what_changed_whoever_changed_it(way: str) -> None:
    ask, expected = CHANGED[way]
    taken = await ask()
    assert taken.response.meta.changes == expected
    (event,) = taken.of(Changes)
    assert list(event.summary) == expected


CLAIM = "I changed the step to take the list from `state.data`."
NOTHING: dict[str, Callable[[], Awaitable[Taken]]] = {
    "code": lambda: take({"router": to_code(), "job_code_agent": [says(CLAIM)]}),
    "structure": lambda: take(
        {"router": TO_STRUCTURE, "workflow_agent": [structure(drafted(), CLAIM)]}
    ),
    "planner": lambda: plan(says(CLAIM)),
    "taken-back": lambda: plan(
        calls(code_call("fetch", "up")),
        calls(code_call("fetch", "down")),
        says(CLAIM),
        job_code_agent=[
            raises_the_limit(),
            calls(edit("limit: 80", "limit: 50"), text="I lowered it again."),
        ],
    ),
    "job": lambda: ask_job({"job_code_agent": [says(CLAIM)]}, context=CONTEXT),
    "job-that-fails": lambda: ask_job(
        {"job_code_agent": [calls(edit("nowhere", "x"), text=CLAIM, repeat=2)]}, context=CONTEXT
    ),
    "workflow": lambda: ask_workflow(
        {"workflow_agent": [is_direct(structure(None, CLAIM))]}, existing_yaml=WORKFLOW
    ),
}


@pytest.mark.parametrize("way", NOTHING)
async def test_nothing_changed_whatever_the_model_claims(way: str) -> None:
    taken = await NOTHING[way]()
    assert taken.response.meta.changes == []
    assert taken.response.attachments == []
    assert not taken.of(Changes)
    assert '"changes": []' in taken.response.as_json()


async def test_a_step_alone_and_one_in_a_workflow_are_worded_alike() -> None:
    for new in ("a();\n", "a();\nb();\n", CODE.rstrip("\n"), CODE + "c();\n"):
        script = {"job_code_agent": [calls(edit(None, new), text="Done.")]}
        alone = await ask_job(script, context=CONTEXT)
        within = await take({"router": to_code(), **script})
        assert alone.response.meta.changes == within.response.meta.changes != []


# --- warnings


WARNED: dict[str, Callable[[], Awaitable[Taken]]] = {
    "turn": lambda: take({"router": TO_PLANNER, "planner": [says("Done.")]}, colour=1),
    "job": lambda: ask_job({"job_code_agent": [says("Done.")]}, context=CONTEXT, colour=1),
    "workflow": lambda: ask_workflow(
        {"workflow_agent": [is_direct(structure(None, "Done."))]}, colour=1
    ),
}


@pytest.mark.parametrize("way", WARNED)
async def test_what_was_odd_about_the_payload_is_among_the_warnings(way: str) -> None:
    taken = await WARNED[way]()
    assert taken.response.meta.warnings == [UNKNOWN]
    assert [w.message for w in taken.of(Warned)] == [UNKNOWN]


async def test_every_warning_of_the_turn_is_in_the_response_in_order() -> None:
    taken = await plan(
        calls(inspect("fetch")),
        calls(code_call("fetch")),
        says("Done."),
        job_code_agent=[calls(edit(None, "fn(state => {\n"), text="Done.", repeat=2)],
        page="workflows/visits-to-registry/nowhere",
        attachments=[{"type": "screenshot", "content": "x"}],
        colour=1,
    )
    found = taken.response.meta.warnings
    assert found == [w.message for w in taken.of(Warned)]
    odd, unread, page, code = found
    assert odd == UNKNOWN
    assert "screenshot" in unread
    assert "nowhere" in page
    assert "not valid JavaScript" in code


async def test_a_turn_without_a_warning_says_so() -> None:
    taken = await plan(says("Done."))
    assert '"warnings": []' in taken.response.as_json()


def test_the_warnings_are_the_sentences_of_the_terminal(command: CommandLine) -> None:
    command.write("turn.json", {"content": "hi", "colour": 1, "page": "workflows/a/b"})
    ran = command.turn({"router": TO_PLANNER, "planner": [says("Done.")]})
    shown = [line for line in ran.err.splitlines() if line.startswith("Warning: ")]
    warnings = command.json("turn.response.json")["meta"]["warnings"]
    assert shown == [f"Warning: {warning}" for warning in warnings] != []


# --- the last line


def last_line(command: CommandLine, script: Script, content: str = "Do it.") -> str:
    given = {"content": content, "workflow_yaml": WORKFLOW, "page": "workflows/visits-to-registry"}
    command.write("turn.json", given)
    return command.turn(script).err.splitlines()[-1]


def test_the_last_line_says_that_nothing_changed(command: CommandLine) -> None:
    script = {"router": to_code(), "job_code_agent": [says(CLAIM)]}
    assert " · nothing changed · " in last_line(command, script)


def test_the_last_line_names_the_one_change(command: CommandLine) -> None:
    script = {"router": to_code(), "job_code_agent": [raises_the_limit()]}
    assert f" · {RAISED} · " in last_line(command, script)


def test_the_last_line_counts_several_changes(command: CommandLine) -> None:
    planner = [calls(code_call("fetch"), code_call("load")), says("Done.")]
    writes = calls(edit(None, "fn(state => state);\n"), text="Done.", repeat=2)
    script = {"router": TO_PLANNER, "planner": planner, "job_code_agent": [writes]}
    assert " · 2 changes · " in last_line(command, script)


def test_a_step_addressed_directly_shows_its_difference_and_the_last_line(
    command: CommandLine,
) -> None:
    command.write("job.json", {"content": "Raise it", "context": CONTEXT})
    script = command.write("script.json", {"job_code_agent": [raises_the_limit()]})
    ran = command.run("job", "--input", "job.json", "--script", script)
    assert f"* {RAISED}" in ran.err
    assert f" · {RAISED} · " in ran.err.splitlines()[-1]
    events = command.run("job", "--input", "job.json", "--script", script, "--events").events
    (changes,) = [event for event in events if event["type"] == "changes"]
    assert (changes["workflow_yaml"], changes["summary"]) == (None, [RAISED])


def test_an_offline_turn_says_what_changed_and_that_nothing_did(command: CommandLine) -> None:
    workflow = FIXTURES / "kobo-household-to-dhis2.yaml"
    asked = ("run", "-w", workflow, "--backend", "offline", "--output-dir", ".", "-m")
    ran = command.run(*asked, "every weekday at 7")
    change = "Schedule changed from `0 2 * * *` to `0 7 * * 1-5`"
    assert command.json("global-chat.response.json")["meta"]["changes"] == [change]
    assert f" · {change} · " in ran.err.splitlines()[-1]
    ran = command.run(*asked, "when does this run?")
    assert command.json("global-chat.response.json")["meta"]["changes"] == []
    assert " · nothing changed · " in ran.err.splitlines()[-1]
