"""What `global-chat run` takes and where it writes: every such option does what it says."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator

import pytest

from global_chat.model.scripted import ScriptedModel
from global_chat.model.seam import ModelEvent, ModelRequest
from tests.service.command_line import (
    AFTER,
    ANSWER,
    ANSWERED,
    CHANGED,
    EDITED,
    PAYLOAD,
    WORKFLOW,
    CommandLine,
    Script,
    routed,
)

pytestmark = pytest.mark.service


def edited_when(*texts: str) -> Script:
    """An edit by a job code agent that is only given if its request holds all of `texts`."""
    [turn] = EDITED["job_code_agent"]
    return {**EDITED, "job_code_agent": [{**turn, "when": {"contains": list(texts)}}]}


def test_results_stand_beside_the_payload_under_its_name(command: CommandLine) -> None:
    ran = command.turn(EDITED)
    assert (ran.code, ran.out) == (0, f"{ANSWER}\n")
    assert command.files == {"turn.response.json", "turn.workflow.yaml"}
    assert command.text("turn.workflow.yaml") == CHANGED
    response = command.json("turn.response.json")
    assert list(response) == ["response", "attachments", "history", "usage", "meta"]
    assert response["response"] == ANSWER
    assert response["attachments"] == [{"type": "workflow_yaml", "content": CHANGED}]
    assert response["history"] == [
        {"role": "user", "content": PAYLOAD["content"]},
        {"role": "assistant", "content": ANSWER},
    ]
    assert response["meta"]["agents"] == ["router", "job_code_agent"]


def test_a_question_writes_a_response_and_no_workflow(command: CommandLine) -> None:
    assert command.turn(ANSWERED).code == 0
    assert command.files == {"turn.response.json"}
    assert command.json("turn.response.json")["attachments"] == []


def test_a_payload_in_another_folder_has_its_results_there(command: CommandLine) -> None:
    (command.folder / "tmp").mkdir()
    command.write("tmp/ask.v2.json", PAYLOAD)
    script = command.write("script.json", EDITED)
    assert command.run("run", "-i", "tmp/ask.v2.json", "--script", script).code == 0
    assert command.files == {
        "tmp/ask.v2.json",
        "tmp/ask.v2.response.json",
        "tmp/ask.v2.workflow.yaml",
    }


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_payload_may_be_yaml_and_begin_with_a_byte_order_mark(
    command: CommandLine, bom: str
) -> None:
    indented = WORKFLOW.replace("\n", "\n  ")
    yaml = f"{bom}content: Ask\npage: workflows/one/fetch\nworkflow_yaml: |\n  {indented}"
    command.write("ask.yaml", yaml)
    script = command.write("script.json", EDITED)
    assert command.run("run", "-i", "ask.yaml", "--script", script).code == 0
    assert command.text("ask.workflow.yaml") == CHANGED


def test_a_dash_reads_standard_input_and_writes_to_this_folder(command: CommandLine) -> None:
    script = command.write("script.json", EDITED)
    ran = command.run("run", "--input", "-", "--script", script, stdin=json.dumps(PAYLOAD))
    assert (ran.code, ran.out) == (0, f"{ANSWER}\n")
    assert command.files == {"global-chat.response.json", "global-chat.workflow.yaml"}


def test_a_message_is_enough_and_replaces_the_payloads(command: CommandLine) -> None:
    script = command.write("script.json", ANSWERED)
    for given in ((), ("-i", "turn.json", "-o", "global-chat.response.json")):
        ran = command.run("run", *given, "--message", "Say ✓ hello", "--script", script)
        assert ran.code == 0
        history = command.json("global-chat.response.json")["history"]
        assert history[0] == {"role": "user", "content": "Say ✓ hello"}


def test_workflow_page_and_attachments_come_from_options(command: CommandLine) -> None:
    command.write("visits.yaml", "\ufeff" + WORKFLOW.replace("\n", "\r\n"))
    log = "\ufeff\n  ERR\r\n\tlast line \n\n"
    command.write("run.log", log)
    command.write("out.json", '{"a": 1.10}')
    script = edited_when(f"<run_logs>\n{log}\n</run_logs>", '{"a": 1.10}')
    script["router"] = [
        routed("job_code_agent", when={"contains": ["workflows/one/fetch", "ERR?"]})
    ]
    script["router"][0]["reply"]["job_key"] = None  # the page says which step
    ran = command.run(
        *("run", "-m", "ERR?", "--workflow", "visits.yaml", "--page", "workflows/one/fetch"),
        *("--attach", "log=run.log", "-a", "run_output=out.json"),
        *("--script", command.write("script.json", script)),
    )
    assert ran.code == 0, ran.err
    changed = "\ufeff" + CHANGED.replace("\n", "\r\n")
    assert command.text("global-chat.workflow.yaml") == changed


def test_attached_files_join_the_payloads_attachments(command: CommandLine) -> None:
    given = [{"type": "log", "content": ["one", "", "  two"]}]
    command.write("turn.json", {**PAYLOAD, "attachments": given})
    command.write("in.json", "{}")
    script = edited_when("<run_logs>\none\n\n  two\n</run_logs>", "<input>\n{}\n</input>")
    assert command.turn(script, "--attach", "input_dataclip=in.json").code == 0


def test_odd_values_reach_the_agent_as_they_are_written(command: CommandLine) -> None:
    odd = '{"id": 9007199254740993123, "v": 1.10, "n": null, "ok": true, "t": NaN, "name": "é"}'
    given = json.dumps(PAYLOAD)[:-1] + f', "attachments": [{{"type": "log", "content": {odd}}}]}}'
    command.write("turn.json", given)
    literals = ("9007199254740993123", '"v": 1.10', '"n": null', '"ok": true', '"t": NaN', "é")
    assert command.turn(edited_when(*literals)).code == 0


def test_half_a_character_becomes_a_mark_and_costs_nothing(command: CommandLine) -> None:
    command.write("turn.json", json.dumps({**PAYLOAD, "content": "why \ud83d?"}))
    assert command.turn(edited_when("why \N{REPLACEMENT CHARACTER}?")).code == 0
    assert command.json("turn.response.json")["history"][0]["content"] == "why \ufffd?"


def test_output_options_say_where_results_go(command: CommandLine) -> None:
    assert command.turn(EDITED, "--output", "r.json", "--workflow-out", "w.yml").code == 0
    assert command.files == {"r.json", "w.yml"}
    assert command.text("w.yml") == CHANGED


def test_an_output_folder_is_made_and_single_files_may_differ(command: CommandLine) -> None:
    assert command.turn(EDITED, "--output-dir", "new/results", "-o", "r.json").code == 0
    assert command.files == {"r.json", "new/results/turn.workflow.yaml"}


def test_apply_writes_back_into_the_workflow_file(command: CommandLine) -> None:
    command.write("visits.yaml", WORKFLOW)
    ran = command.turn(EDITED, "-w", "visits.yaml", "--apply")
    assert command.text("visits.yaml") == CHANGED == command.text("turn.workflow.yaml")
    assert ran.err.rstrip().endswith("turn.response.json, turn.workflow.yaml, visits.yaml")


def test_apply_leaves_a_file_alone_that_somebody_changed_during_the_turn(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.write("visits.yaml", WORKFLOW)
    answer = ScriptedModel.complete

    def meanwhile(self: ScriptedModel, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        command.write("visits.yaml", WORKFLOW + "# theirs\n")
        return answer(self, request)

    monkeypatch.setattr(ScriptedModel, "complete", meanwhile)
    ran = command.turn(EDITED, "-w", "visits.yaml", "--apply")
    assert (ran.code, "visits.yaml was changed by something else since it was read" in ran.err) == (
        1,
        True,
    )
    assert command.text("visits.yaml") == WORKFLOW + "# theirs\n"
    assert command.text("turn.workflow.yaml") == CHANGED


def test_without_apply_or_without_a_change_the_workflow_file_stays(command: CommandLine) -> None:
    file = command.write("visits.yaml", WORKFLOW)
    before = file.stat()
    assert command.turn(EDITED, "-w", "visits.yaml").code == 0
    assert command.turn(ANSWERED, "-w", "visits.yaml", "--apply").code == 0
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_script_needs_no_backend_and_the_scripted_backend_a_script(command: CommandLine) -> None:
    assert command.turn(EDITED, "--backend", "scripted").code == 0
    ran = command.turn(None, "--backend", "scripted")
    assert (ran.code, "name it with --script" in ran.err) == (2, True)
    ran = command.turn(EDITED, "--backend", "anthropic")
    assert (ran.code, "does not go with --backend anthropic" in ran.err) == (2, True)


def test_a_recording_plays_back_as_the_turn_went_broken_attempts_included(
    command: CommandLine,
) -> None:
    broken = {"text": "I will limit", "break_after": 6, "error": {"status": 529}}
    script = {**EDITED, "router": [{"error": {"status": 500}}, *EDITED["router"]]}
    script["job_code_agent"] = [broken, *EDITED["job_code_agent"]]
    assert command.turn(script, "--record", "recorded.yaml").code == 0
    first = command.json("turn.response.json"), command.text("turn.workflow.yaml")
    ran = command.turn(None, "--script", "recorded.yaml")
    assert ran.code == 0, ran.err
    assert (command.json("turn.response.json"), command.text("turn.workflow.yaml")) == first


def test_a_settings_file_changes_what_it_names(command: CommandLine) -> None:
    settings = command.write("settings.toml", '[planner]\nmodel = "local-7b"\n')
    ran = command.turn(ANSWERED, "--config", settings, "--verbose")
    assert ran.code == 0
    assert "planner: local-7b call" in ran.err
    assert "router: claude-haiku" in ran.err
    ran = command.turn(ANSWERED, "--verbose", GLOBAL_CHAT_CONFIG=str(settings))
    assert "planner: local-7b call" in ran.err


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("router = 5", "`router` must be a table"),
        ('[router]\nmodle = "x"', "`router.modle` is not a known key (did you mean `model`?)"),
        ("[retry]\nattempts = 0", "`retry.attempts` must be greater than or equal to 1"),
        ("timeout_seconds = inf", "`timeout_seconds` must be a finite number"),
        ("timeout_seconds = nan", "`timeout_seconds` must be"),
        ("x = = 1", "is not TOML"),
    ],
)
def test_a_wrong_setting_is_named(command: CommandLine, settings: str, says: str) -> None:
    ran = command.turn(ANSWERED, "--config", command.write("settings.toml", settings))
    assert ran.code == 2
    assert says in ran.err


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "0", "-1", "1e309", "1e-9", "soon", ""])
def test_a_timeout_is_a_number_of_seconds_up_to_a_day(command: CommandLine, seconds: str) -> None:
    ran = command.turn(ANSWERED, f"--timeout={seconds}")
    assert ran.code == 2
    assert "--timeout" in ran.err


def test_unknown_keys_are_warned_about_and_ignored(command: CommandLine) -> None:
    odd = {"colour": 1, "options": {"streem": 1}, "meta": {"user": {"zip": 2}}}
    command.write("turn.json", {**PAYLOAD, **odd})
    ran = command.turn(ANSWERED)
    assert ran.code == 0
    for name in ("colour", "options.streem", "meta.user.zip"):
        assert f"Warning: Unknown payload key '{name}' is ignored." in ran.err


def test_a_step_addressed_directly_gives_its_code(command: CommandLine) -> None:
    command.write("job.json", {"content": "Limit it", "context": {"expression": "get('/visits');"}})
    script = command.write("script.json", {"job_code_agent": EDITED["job_code_agent"]})
    ran = command.run("job", "--input", "job.json", "--script", script)
    assert (ran.code, ran.out) == (0, f"{ANSWER}\n")
    response = command.json("job.response.json")
    assert response["attachments"] == [{"type": "job_code", "content": AFTER}]
    assert response["meta"]["agents"] == ["job_code_agent"]


def test_a_structure_addressed_directly_gives_the_workflow(command: CommandLine) -> None:
    command.write("wf.json", {"content": "Rename it to Two", "existing_yaml": WORKFLOW})
    renamed = WORKFLOW.replace("name: One", "name: Two")
    patch = {"remove": [], "yaml": "name: Two\n", "text": "It is called Two now."}
    script = {"workflow_agent": [{"reply": patch}]}
    written = command.write("script.json", script)
    assert command.run("workflow", "-i", "wf.json", "--script", written).code == 0
    assert command.text("wf.workflow.yaml") == renamed
    assert command.json("wf.response.json")["meta"]["agents"] == ["workflow_agent"]


def test_the_version_is_printed(command: CommandLine) -> None:
    ran = command.run("--version")
    assert (ran.code, ran.out.split()[0], ran.err) == (0, "global-chat", "")
