"""What `global-chat run` shows: answers on standard output, diagnostics on standard error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.service.command_line import (
    AFTER,
    ANSWER,
    ANSWERED,
    BEFORE,
    CHANGED,
    EDITED,
    OVERLOADED,
    PAYLOAD,
    CommandLine,
    Script,
    routed,
)

pytestmark = pytest.mark.service

PAYLOADS = Path(__file__).parents[2] / "payloads"
DEMO = (PAYLOADS / "emoji-banners.json", "--script", PAYLOADS / "emoji-banners.script.yaml")
INSPECTION = {"name": "inspect_job_code", "input": {"job_keys": ["fetch"]}}
#: A planner that says something before it acts.
NARRATED: Script = {
    "router": [routed("planner")],
    "planner": [
        {"text": "I look first.", "tools": [INSPECTION]},
        {"text": ANSWER},
    ],
}


def test_the_answer_goes_to_one_stream_and_everything_else_to_the_other(
    command: CommandLine,
) -> None:
    ran = command.turn(EDITED)
    assert ran.out == f"{ANSWER}\n"
    *said, closing = ran.err.splitlines()
    assert said == [
        "· Reading the request",
        "· Working on the code of Fetch",
        "* Code of Fetch changed (+1 −1)",
    ]
    assert re.fullmatch(
        r"scripted, no model was asked · router → job code agent · Code of Fetch changed "
        r"\(\+1 −1\) · [\d,]+ tokens in, \d+ out · "
        r"\d+\.\d s · wrote turn\.response\.json, turn\.workflow\.yaml",
        closing,
    )


def test_a_pipe_gets_the_final_answer_or_the_stream_as_the_payload_says(
    command: CommandLine,
) -> None:
    for options, out in (
        ({}, f"{ANSWER}\n"),
        ({"stream": False}, f"{ANSWER}\n"),
        ({"stream": True}, f"I look first.\n\n{ANSWER}\n"),
    ):
        command.write("turn.json", {**PAYLOAD, "options": options})
        assert command.turn(NARRATED).out == out
        assert command.json("turn.response.json")["response"] == ANSWER


@pytest.mark.parametrize(
    ("begun", "out"),
    [
        (ANSWER, f"{ANSWER}\n"),
        ("I raised it", f"I raised\n[the answer starts again]\n{ANSWER}\n"),
    ],
)
def test_an_answer_that_breaks_off_and_begins_again_is_never_silently_doubled(
    command: CommandLine, begun: str, out: str
) -> None:
    broken = {"text": begun, "break_after": 8, "error": {"status": 529}}
    script = {**ANSWERED, "planner": [broken, *ANSWERED["planner"]]}
    command.write("turn.json", {**PAYLOAD, "options": {"stream": True}})
    assert command.turn(script).out == out
    assert command.json("turn.response.json")["response"] == ANSWER
    text = ""
    for event in command.turn(script, "--events").events:
        text = "" if event["type"] == "content_block_restart" else text
        text += event.get("delta", {}).get("text", "")
    assert text == ANSWER


def test_a_wait_before_a_retry_is_told_with_its_length(command: CommandLine) -> None:
    busy = {"error": {"status": 529, "retry_after": 8}}
    script = {**ANSWERED, "planner": [busy, *ANSWERED["planner"]]}
    line = "The model service is overloaded: trying again in 8 s"
    assert command.turn(script).err.count(f"· {line}\n") == 1
    verbose = command.turn(script, "-v", "--trace", "trace.jsonl")
    assert f"WARNING planner: {line}\n" in verbose.err
    assert {"type": "status", "content": line} in command.turn(script, "--events").events
    (span,) = [span for span in command.lines("trace.jsonl") if span["kind"] == "retry"]
    told = (span["agent"], span["error_type"], span["wait_seconds"])
    assert told == ("planner", "OVERLOADED", 8)
    assert line in command.run("trace", "trace.jsonl").out


def test_json_is_the_response_and_nothing_else_on_stdout(command: CommandLine) -> None:
    command.write("turn.json", {**PAYLOAD, "colour": 1})
    ran = command.turn(EDITED, "--json")
    assert ran.code == 0
    assert ran.json == command.json("turn.response.json")
    assert ran.err == "Warning: Unknown payload key 'colour' is ignored.\n"


def test_events_are_one_stream_that_starts_once_and_ends_once(command: CommandLine) -> None:
    command.write("turn.json", {**PAYLOAD, "colour": 1})
    events = command.turn(EDITED, "--events").events
    assert [event["type"] for event in events] == [
        "message_start",
        "warning",
        "status",
        "status",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "changes",
        "message_delta",
        "message_stop",
    ]
    changes, delta = events[-3], events[-2]
    assert changes["workflow_yaml"] == CHANGED
    assert changes["steps"] == [{"key": "fetch", "name": "Fetch", "before": BEFORE, "after": AFTER}]
    assert delta["usage"] == command.json("turn.response.json")["usage"]


def test_the_events_of_a_failed_turn_end_in_its_error(command: CommandLine) -> None:
    ran = command.turn(OVERLOADED, "--events")
    assert ran.code == 4
    assert [event["type"] for event in ran.events] == [
        "message_start",
        *["status"] * 3,
        "error",
        "message_stop",
    ]
    assert ran.events[-2]["error"].items() >= command.json("turn.response.json").items()


def test_the_events_of_a_turn_that_cannot_begin_are_a_stream_too(command: CommandLine) -> None:
    command.write("turn.json", {"content": " "})
    ran = command.turn(EDITED, "--events")
    assert [event["type"] for event in ran.events] == ["message_start", "error", "message_stop"]
    assert ran.events[1]["error"] == command.json("turn.response.json")


def test_a_misroute_is_one_message_and_nothing_of_the_attempt_is_in_it(
    command: CommandLine,
) -> None:
    ran = command.run("run", "-i", *DEMO, "--events", "--output-dir", "out")
    types = [event["type"] for event in ran.events]
    assert (types.count("message_start"), types.count("message_stop")) == (1, 1)
    assert "I'll take a look at your workflow." not in ran.out


def test_quiet_shows_nothing_but_writes_the_files(command: CommandLine) -> None:
    command.write("turn.json", {**PAYLOAD, "colour": 1})
    ran = command.turn(EDITED, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert command.files == {"turn.response.json", "turn.workflow.yaml"}


def test_quiet_takes_nothing_from_a_program_that_asked_for_json_or_events(
    command: CommandLine,
) -> None:
    assert command.turn(EDITED, "-q", "--json").json["response"] == ANSWER
    assert command.turn(EDITED, "-q", "--events").events[-1] == {"type": "message_stop"}


def test_quiet_still_says_why_a_turn_failed(command: CommandLine) -> None:
    ran = command.turn(OVERLOADED, "-q")
    assert (ran.out, ran.err.startswith("Error (OVERLOADED): ")) == ("", True)


def test_json_and_events_cannot_share_a_stream(command: CommandLine) -> None:
    ran = command.turn(EDITED, "--json", "--events")
    assert ran.code == 2
    assert ran.json["type"] == "BAD_REQUEST"
    assert command.files == set()


def decisions(err: str) -> list[str]:
    """The lines of `--verbose`, without what differs from run to run."""
    lines = [line for line in err.splitlines() if line.startswith(("INFO ", "WARNING "))]
    return [re.sub(r"[\d,]+ (ms|tokens in|out)", r"… \1", line) for line in lines]


def test_verbose_says_what_was_decided_and_what_it_cost(command: CommandLine) -> None:
    ran = command.turn(EDITED, "--verbose", "--quiet")
    assert decisions(ran.err) == [
        "INFO router: invoked",
        "INFO router: claude-haiku-5-5 call 1.1 end_turn in … ms, first token after … ms; "
        "… tokens in, … out",
        "INFO router: decided job_code_agent (confidence 5, job_key fetch); sent to job_code_agent",
        "INFO job_code_agent: invoked for Fetch",
        "INFO job_code_agent: claude-sonnet-5-5 call 2.1 tool_use in … ms, first token after … ms; "
        "… tokens in, … out",
        "INFO job_code_agent: calls edit_job on Fetch",
        "INFO stitched the code of Fetch (+1 −1)",
    ]


def test_the_last_line_counts_the_tokens_of_the_response(command: CommandLine) -> None:
    usage = {"cache_read_input_tokens": 2_000, "cache_creation_input_tokens": 300}
    turn = {**ANSWERED["planner"][0], "usage": {"output_tokens": 1_234, **usage}}
    ran = command.turn({**ANSWERED, "planner": [turn]})
    usage = command.json("turn.response.json")["usage"]
    assert usage["output_tokens"] > 1_234  # the router's are in it
    read = usage["input_tokens"] + 2_300
    assert (
        f" · {read:,} tokens in (2,000 cached, 300 written to the cache), "
        f"{usage['output_tokens']:,} out · "
    ) in ran.err.splitlines()[-1]


def test_verbose_offline_names_no_model(command: CommandLine) -> None:
    command.write("turn.json", {**PAYLOAD, "content": "Rename Fetch to Get visits"})
    ran = command.turn(None, "--backend", "offline", "-v", "--trace", "trace.jsonl")
    assert ran.code == 0
    assert "claude" not in ran.err + command.text("trace.jsonl")
    ran = command.run("trace", "trace.jsonl")
    assert "offline, answered by rules" in ran.out and "claude" not in ran.out


def test_verbose_warns_of_a_handover_with_its_goal_and_shows_each_tool_call(
    command: CommandLine,
) -> None:
    ran = command.run("run", "-i", *DEMO, "-v", "--json", "--output-dir", "out")
    lines = decisions(ran.err)
    [handed] = [line for line in lines if line.startswith("WARNING ")]
    assert handed == (
        "WARNING job_code_agent: handed over: Remove the wave emojis from the console banners of "
        "all Salesforce steps. Rerouting to the planner"
    )
    calls = [line for line in lines if "planner: calls call_job_code_agent on " in line]
    steps = [line.split(" on ")[1].split()[0] for line in calls]
    assert steps == ["create-demo-in-sf", "create-in-SF", "update-in-SF"]
    assert lines.index(handed) < lines.index(calls[0])


def test_verbose_warns_when_a_turn_is_not_sent_where_the_router_said(command: CommandLine) -> None:
    for script, why in (
        ({**ANSWERED, "router": [routed("workflow_agent", 2)]}, "low confidence"),
        ({**ANSWERED, "router": [{"text": "Hm."}]}, "an unusable reply"),
    ):
        ran = command.turn(script, "-v", "-q")
        [line] = [line for line in decisions(ran.err) if "decided" in line]
        assert line.startswith("WARNING router: decided ")
        assert f"; sent to planner because of {why}" in line


def test_what_a_model_says_cannot_pretend_to_be_another_log_line(command: CommandLine) -> None:
    goal = "Add a step\nINFO router: decided planner (confidence 5, job_key none)\x1b[2J"
    handover = {"name": "edit_workflow", "input": {"goal": goal}}
    script = {
        **ANSWERED,
        "router": [routed("job_code_agent")],
        "job_code_agent": [{"tools": [handover]}],
    }
    ran = command.turn(script, "-v", "-q")
    assert len([line for line in ran.err.splitlines() if "decided" in line]) == 2
    assert "\x1b" not in ran.err
    assert "WARNING job_code_agent: handed over: Add a step INFO router: decided" in ran.err
