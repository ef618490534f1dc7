"""What people expect of a command line: arguments, pipes, settings in the folder, what it cost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from global_chat.cli.wiring import read_settings
from global_chat.contract.settings import Settings
from tests.service.answers import json_text, text
from tests.service.command_line import ANSWERED, EDITED, WORKFLOW, CommandLine, routed
from tests.service.messages_server import MessagesServer

pytestmark = pytest.mark.service


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(["fetch 100"], ""), (["-"], "fetch 100\n"), ([], "fetch 100\n"), (["-m", "fetch 100"], "")],
)
def test_the_message_is_an_argument_or_comes_from_a_pipe(
    command: CommandLine, arguments: list[str], stdin: str
) -> None:
    command.write("visits.yaml", WORKFLOW)
    script = command.write("script.json", EDITED)
    ran = command.run(
        "run", *arguments, "-w", "visits.yaml", "--page", "Fetch", "--script", script, stdin=stdin
    )
    assert ran.code == 0
    assert command.json("global-chat.response.json")["history"][0]["content"] == "fetch 100"


def test_without_any_message_the_refusal_shows_how_to_give_one(command: CommandLine) -> None:
    ran = command.run("run")
    assert (ran.code, 'global-chat run "retry once"' in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("page", "meant"),
    [
        ("fetch", "workflows/One/fetch"),
        ("One", "workflows/One"),
        ("workflows/a/b", "workflows/a/b"),
    ],
)
def test_a_step_alone_is_a_page(command: CommandLine, page: str, meant: str) -> None:
    command.write("visits.yaml", WORKFLOW)
    script = {"router": [{**routed("planner"), "when": {"contains": meant}}], **ANSWERED}
    script = {"router": script["router"], "planner": ANSWERED["planner"]}
    ran = command.run(
        *("run", "what is this", "-w", "visits.yaml", "--page", page),
        *("--script", command.write("script.json", script)),
    )
    assert ran.code == 0, ran.err


def test_a_page_that_is_none_is_told_with_the_right_form(command: CommandLine) -> None:
    command.write("visits.yaml", WORKFLOW)
    ran = command.run("run", "hi", "-w", "visits.yaml", "--page", "fecth")
    assert ran.code == 2
    assert "Write workflows/NAME or workflows/NAME/STEP. Did you mean `fetch`?" in ran.err
    ran = command.turn(ANSWERED | {"router": [routed("planner")]}, "--page", "workflows/one")
    assert "page" not in ran.err
    command.write("turn.json", {"content": "hi", "page": "Clean", "worklow_yaml": "x"})
    command.turn(ANSWERED)
    warnings = command.json("turn.response.json")["meta"]["warnings"]
    assert warnings == [
        "Unknown payload key 'worklow_yaml' is ignored. Did you mean `workflow_yaml`?",
        "The page 'Clean' is ignored: a page is workflows/NAME or workflows/NAME/STEP.",
    ]


def live(command: CommandLine, server: MessagesServer, *arguments: str):
    """A live turn that the planner answers; the models that were asked, and how it ended."""
    server.add(json_text(routed("planner")["reply"], agent="router"), text("Hello."))
    ran = command.turn(None, "--base-url", server.url, *arguments, ANTHROPIC_API_KEY="a-key")
    return [request.body["model"] for request in server.requests], ran


@pytest.mark.parametrize(
    ("options", "models"),
    [
        (["--model", "m"], ["m", "m"]),
        (["--model", "planner=p", "--model", "router=r"], ["r", "p"]),
    ],
)
def test_a_model_is_named_for_all_agents_or_for_one(
    command: CommandLine, messages_server: MessagesServer, options: list[str], models: list[str]
) -> None:
    assert live(command, messages_server, *options)[0] == models


def test_an_agent_that_is_none_is_told(command: CommandLine) -> None:
    ran = command.turn(None, "--model", "planer=x")
    assert (ran.code, "Did you mean `planner`?" in ran.err) == (2, True)


@pytest.mark.parametrize("place", [".", "..", ".cache/global-chat"])
def test_settings_are_found_in_the_folder_above_it_and_in_the_user_s_own(
    command: CommandLine,
    messages_server: MessagesServer,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    inside = command.folder / "inside"
    inside.mkdir()
    folder = (inside / place if place.startswith("..") else command.folder / place).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "global-chat.toml").write_text('[planner]\nmodel = "mine"\n')
    monkeypatch.chdir(inside if place.startswith("..") else command.folder)
    command.folder = Path.cwd()
    command.write("turn.json", {"content": "hi"})
    assert live(command, messages_server)[0][-1] == "mine"


def test_the_last_line_says_what_the_turn_cost_at_the_user_s_prices(
    command: CommandLine, messages_server: MessagesServer
) -> None:
    prices = "".join(
        f"[prices.{name}]\ninput = 1000000\noutput = 0\n"
        for name in ("claude-haiku", "claude-opus")
    )
    command.write("global-chat.toml", prices)
    _, ran = live(command, messages_server)
    usage = command.json("turn.response.json")["usage"]
    assert f"about ${usage['input_tokens']:.4f} (prices of" in ran.err
    assert "$" not in command.turn(ANSWERED).err  # nobody was paid


def test_a_bug_is_shown_with_v_and_without_secrets(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-ant-api03-" + "a" * 40

    def broken(*_: object) -> None:
        raise RuntimeError(secret)

    monkeypatch.setattr("global_chat.cli.run.wire", broken)
    assert "Run again with -v" in command.turn(ANSWERED).err
    err = command.turn(ANSWERED, "-v").err
    assert "Traceback" in err and "RuntimeError" in err and secret not in err


@pytest.mark.parametrize("kind", ["workflow", "settings", "case"])
def test_new_writes_a_valid_example_and_never_over_a_file(command: CommandLine, kind: str) -> None:
    assert command.run("new", kind, "mine").code == 0
    before = {path: path.read_text() for path in command.folder.rglob("*") if path.is_file()}
    again = command.run("new", kind, "mine")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert {path: path.read_text() for path in before} == before
    if kind == "workflow":
        assert command.run("check", "mine", "--strict").code == 0
    elif kind == "case":
        assert command.run("replay", "mine").code == 0
    else:
        file = command.write("mine", re.sub(r"(?m)^#(?=\S)", "", command.text("mine")))
        assert read_settings(file).model_copy(update={"prices": {}}) == Settings()


BAD = "name: a\njobs:\n  b:\n    adaptor: '@openfn/language-htpp@1'\n    body: 'fn(s => s)'\n"


def test_warnings_alone_pass_a_check_unless_it_is_strict(command: CommandLine) -> None:
    command.write("bad.yaml", BAD)
    assert command.run("check", "bad.yaml").code == 0
    assert command.run("check", "bad.yaml", "--strict").code == 1
    command.write("bad.yaml", BAD + "triggers: {cron: {type: crom}}\n")
    assert command.run("check", "bad.yaml").code == 1


def test_problems_reach_ci_in_its_own_formats(command: CommandLine) -> None:
    command.write("bad, 1.yaml", BAD)
    (line,) = command.run("check", "bad, 1.yaml", "--format", "github").out.splitlines()[:1]
    assert line.startswith(
        "::warning file=bad%2C 1.yaml,line=4,col=14,title=adaptor-unknown::There"
    )
    (run,) = command.run("check", "bad, 1.yaml", "--format", "sarif").json["runs"]
    found = run["results"][0]
    assert (found["ruleId"], found["level"]) == ("adaptor-unknown", "warning")
    place = found["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 4, "startColumn": 14}


def test_of_very_many_problems_the_first_are_printed_and_the_rest_counted(
    command: CommandLine,
) -> None:
    jobs = {f"s{n}": {"name": f"S{n}", "body": "fn(s => s)"} for n in range(70)}
    command.write("many.yaml", yaml.safe_dump({"name": "a", "jobs": jobs}))
    ran = command.run("check", "many.yaml")
    assert len(ran.out.splitlines()) == 50
    found = command.run("check", "many.yaml", "--format", "json").out.splitlines()
    assert f"{len(found) - 50} more problems" in ran.err
    assert all(json.loads(line)["severity"] == "warning" for line in found)
