"""Live runs over real HTTP against a server on this machine, the batches endpoint included."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from global_chat.contract.errors import BadRequest
from global_chat.contract.settings import Settings
from global_chat.replay.cases import collect
from global_chat.replay.compare import differences
from global_chat.replay.history import History
from global_chat.replay.play import play_script
from tests.replay_cases import CASE, WORKFLOW, write_case
from tests.service.answers import Answer, json_text, refusal, text, tool_use
from tests.service.batches_server import BatchesServer
from tests.service.messages_server import MessagesServer
from tests.service.model_calls import KEY, a_request, reply_of
from tests.service.replay_command import Ended, run

pytestmark = pytest.mark.service

USAGE = {"usage": {"input_tokens": 1000, "output_tokens": 1}, "final_usage": {"output_tokens": 100}}


@pytest.fixture
def server() -> Iterator[BatchesServer]:
    with BatchesServer() as made:
        yield made


def live(tmp_path: Path, server: MessagesServer, *arguments: object) -> Ended:
    (tmp_path / "settings.toml").write_text("[retry]\nfirst_wait = 0\n", "utf-8")
    url = ("--live", "--base-url", server.url, "--config", tmp_path / "settings.toml")
    return run(tmp_path, *arguments, *url, "--json", ANTHROPIC_API_KEY=KEY, ANTHROPIC_AUTH_TOKEN="")


def route(destination: str, key: str | None = None, **more: object) -> Answer:
    decision = {"destination": destination, "confidence": 4, "job_key": key}
    return json_text(decision, agent="router", **{**USAGE, **more})


def edit(old: str = "/a", new: str = "/z") -> Answer:
    edits = [{"action": "replace", "old_code": old, "new_code": new}]
    content = ({"type": "text", "text": "Done."}, tool_use("edit_job", {"code_edits": edits}))
    return Answer(content=content, agent="job_code_agent", repeat=True, **USAGE)


def requests_file(tmp_path: Path, *labels: dict[str, object]) -> Path:
    """Labelled requests about the small workflow."""
    (tmp_path / "w.yaml").write_text(WORKFLOW, "utf-8")
    file = tmp_path / "routes.jsonl"
    lines = [
        {"id": f"r-{n}", "workflow": "w.yaml", "page": "workflows/w/get", "content": f"wish {n}"}
        | label
        for n, label in enumerate(labels, start=1)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def statuses(ended: Ended) -> dict[str, str]:
    return {r["case"]: r["status"] for r in ended.report["results"]}


def test_a_live_case_is_answered_over_http_and_not_called_scripted(
    tmp_path: Path, server: BatchesServer
) -> None:
    write_case(tmp_path / "cases")
    write_case(tmp_path / "cases", "unlabelled", CASE.replace("route: {", "#"))
    server.add(route("job_code_agent", "get"), edit())
    ended = live(tmp_path, server, tmp_path / "cases")
    assert ended.code == 0
    (result,) = ended.report["results"]
    assert (result["case"], result["scripted"]) == ("edit", False)
    assert "Left out: 1 case, because without a route label" in ended.err
    assert [r.agent for r in server.requests] == ["router", "job_code_agent"]
    assert {r.headers["authorization"] for r in server.requests} == {f"Bearer {KEY}"}


def test_a_wrong_route_a_wrong_step_and_a_wrong_edit_fail(
    tmp_path: Path, server: BatchesServer
) -> None:
    write_case(tmp_path / "cases")
    server.add(edit())
    for decision in (route("job_code_agent", "save"), route("planner")):
        server.add(decision, text("No.", agent="planner"))
        assert live(tmp_path, server, tmp_path / "cases").code == 1
    server.add(route("job_code_agent", "get"), edit("get('/a');", "get('/a');"))
    server._answers = [a for a in server._answers if "/z" not in str(a)]
    (result,) = live(tmp_path, server, tmp_path / "cases").report["results"]
    assert result["differences"] == [
        "changed: jobs.get.body was expected to be changed and was not"
    ]


def test_a_rate_over_repetitions_comes_with_its_interval(
    tmp_path: Path, server: BatchesServer
) -> None:
    write_case(tmp_path / "cases")
    server.add(edit(), text("What?", agent="planner"))
    server.add(*[route("job_code_agent", "get")] * 3, route("planner"))
    ended = live(tmp_path, server, tmp_path / "cases", "--repeat", 4)
    assert ended.code == 1
    rate = ended.report["summary"]["rates"]["edit"]
    assert (rate["passed"], rate["total"]) == (3, 4)
    assert rate["interval"] == [pytest.approx(0.3006, abs=1e-4), pytest.approx(0.9544, abs=1e-4)]


def test_routes_only_asks_the_router_and_nobody_else(tmp_path: Path, server: BatchesServer) -> None:
    file = requests_file(
        tmp_path,
        {"destination": "job_code_agent", "job_key": "get"},
        {"destination": "workflow_agent", "also_ok": ["planner"]},
        {"destination": "planner", "kind": "unclear"},
    )
    server.add(
        route("job_code_agent", contains="wish 1"),
        route("planner", contains="wish 2"),
        route("workflow_agent", contains="wish 3"),
    )
    ended = live(tmp_path, server, "--routes", file, "--routes-only")
    assert statuses(ended) == {"r-1": "passed", "r-2": "passed", "r-3": "failed"}
    assert {r.agent for r in server.requests} == {"router"}
    assert [r["agents"] for r in ended.report["results"]] == [["router"]] * 3
    assert set(ended.report["summary"]["agents"]) == {"router"}
    assert {
        "expected": "planner",
        "taken": "workflow_agent",
        "right": False,
        "count": 1,
    } in ended.report["summary"]["matrix"]


def test_a_whole_turn_that_was_handed_over_is_saved_unless_the_open_step_changed(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, {"destination": "job_code_agent", "job_key": "save"})
    hands_over = Answer(
        content=(tool_use("edit_workflow", {"goal": "x"}),), agent="job_code_agent", repeat=True
    )
    server.add(route("job_code_agent", "get"), hands_over, text("Done.", agent="planner"))
    assert statuses(live(tmp_path, server, "--routes", file)) == {"r-1": "passed"}


def test_batches_carry_all_router_calls_at_half_the_price(
    tmp_path: Path, server: BatchesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("global_chat.model.batched.QUIET_SECONDS", 0.05)
    file = requests_file(
        tmp_path,
        *[{"destination": "planner"}] * 5,
        {"destination": "workflow_agent"},
    )
    server.add(*[route("planner")] * 4, refusal(529, "overloaded_error", "busy"))
    server.expired = (5,)
    ended = live(tmp_path, server, "--routes", file, "--batches", "--poll-seconds", "0.01")
    assert [len(batch) for batch in server.batches] == [6]
    assert list(statuses(ended).values()) == ["passed"] * 4 + ["failed"] * 2
    errors = [r.get("error") for r in ended.report["results"]]
    assert errors[4:] == ["OVERLOADED", "PROVIDER_ERROR"]
    assert all(r.body["max_tokens"] and "stream" not in r.body for r in server.requests)
    at_full_price = 4 * (1000 * 1.0 + 100 * 5.0) / 1e6
    assert ended.report["summary"]["cost_usd"] == pytest.approx(at_full_price / 2)


def test_what_is_recorded_is_a_case_that_passes_and_holds_no_secret(
    tmp_path: Path, server: BatchesServer
) -> None:
    secret = "sk-ant-api03-otherkey0123456789"
    write_case(tmp_path / "cases", case=CASE.replace("ask for /z", f"ask for /z, key {secret}"))
    server.add(*[route("job_code_agent", "get")] * 2, edit())
    kept = tmp_path / "kept"
    assert live(tmp_path, server, tmp_path / "cases", "--record", kept, "--repeat", 2).code == 0
    cases = collect([kept])
    assert [case.id for case in cases] == ["edit", "edit-2"]
    texts = "".join(path.read_text("utf-8") for path in kept.rglob("*") if path.is_file())
    assert KEY not in texts and secret not in texts
    assert run(tmp_path, kept).code == 0


def test_what_is_recorded_plays_back_as_it_came(tmp_path: Path, server: BatchesServer) -> None:
    kept = tmp_path / "kept"
    write_case(tmp_path / "cases")
    handover = Answer(content=(tool_use("edit_workflow", {"goal": "x"}),), agent="job_code_agent")
    server.add(route("job_code_agent", "get"), handover, text("Which?", agent="planner"))
    ended = live(tmp_path, server, tmp_path / "cases", "--record", kept)
    assert ended.code == 1  # a change was meant and nothing changed
    (case,) = collect([kept])
    outcome = asyncio.run(play_script(case))
    assert differences(outcome) == ()
    assert (case.expect.handover, outcome.agents[-1]) == ("job_code_agent", "planner")


def test_an_id_never_leads_out_of_the_folder_of_kept_cases_and_no_case_is_replaced(
    tmp_path: Path, server: BatchesServer
) -> None:
    ids = ["../../out", "/abs", "..", "a/b", "a b", ""]
    file = requests_file(
        tmp_path, *[{"id": name or "x" * 300, "destination": "planner"} for name in ids]
    )
    server.add(*[route("planner")] * 6, text("Done.", agent="planner", repeat=True))
    kept = tmp_path / "in" / "kept"
    assert live(tmp_path, server, "--routes", file, "--record", kept).code == 0
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["kept"]
    assert len(collect([kept])) == len(ids)
    cases = tmp_path / "cases"
    before = (write_case(cases) / "case.yaml").read_text("utf-8")
    ended = live(tmp_path, server, cases, "--record", cases)
    assert ended.code == 2 and "would replace the case" in ended.err
    assert (cases / "edit" / "case.yaml").read_text("utf-8") == before


def test_a_budget_stops_the_run_in_time_and_a_larger_one_goes_on(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 6)
    server.add(*[route("planner")] * 6)
    given = ("--routes", file, "--routes-only")
    ended = live(tmp_path, server, *given, "--budget", 0.007)
    assert ended.code == 1
    assert ended.report["summary"]["cost_usd"] <= 0.007
    assert 0 < len(server.requests) < 6
    assert "to go. Go on with --resume" in ended.err
    assert "The budget of $0.007 is spent but for" in ended.err
    ended = live(tmp_path, server, *given, "--budget", 1, "--resume")
    assert ended.code == 0
    assert len(server.requests) == 6
    assert set(statuses(ended).values()) == {"passed"}


def test_a_rate_limit_of_one_call_slows_the_run_and_fails_no_case(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 6)
    limited = refusal(429, "rate_limit_error", "slow down", retry_after="0.05")
    server.add(*[limited] * 2, *[route("planner")] * 6)
    ended = live(tmp_path, server, "--routes", file, "--routes-only", "--jobs", 3)
    assert ended.code == 0
    assert len(server.requests) == 8


def test_a_rate_limit_that_stays_fails_its_case_and_a_resumed_run_asks_again(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 2)
    limited = refusal(429, "rate_limit_error", "slow down", retry_after="0.01")
    given = ("--routes", file, "--routes-only", "--jobs", 1)
    attempts = Settings().retry.attempts
    server.add(*[limited] * attempts, *[route("planner")] * 2)
    ended = live(tmp_path, server, *given)
    assert statuses(ended) == {"r-1": "failed", "r-2": "passed"}
    assert len(server.requests) == attempts + 1  # nobody but the model's own retry asked again
    assert statuses(live(tmp_path, server, *given, "--resume")) == dict.fromkeys(
        ("r-1", "r-2"), "passed"
    )
    assert len(server.requests) == attempts + 2


def test_a_key_that_is_refused_ends_the_run_at_the_first_case(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 6)
    server.add(*[refusal(401, "authentication_error", "no")] * 6)
    ended = live(tmp_path, server, "--routes", file, "--routes-only", "--jobs", 1)
    assert ended.code == 1
    assert len(server.requests) == 1
    assert "every other case would end like this one" in ended.err


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "authentication_error"), (500, "api_error"), (413, "too_large")]
)
def test_a_resumed_run_asks_again_what_nobody_has_answered(
    tmp_path: Path, server: BatchesServer, status: int, kind: str
) -> None:
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 2)
    given = ("--routes", file, "--routes-only", "--jobs", 1)
    server.add(route("planner"), *[refusal(status, kind, "no")] * 3)
    ended = live(tmp_path, server, *given)
    assert statuses(ended) == {"r-1": "passed", "r-2": "failed"}
    server._answers = [route("planner")]
    before = len(server.requests)
    ended = live(tmp_path, server, *given, "--resume")
    answered = status == 413  # the service looked at the request and refused it
    assert ended.code == int(answered)
    assert len(server.requests) - before == int(not answered)
    assert ("is not complete" in ended.err) is False


def test_without_a_key_nothing_is_begun(tmp_path: Path, server: BatchesServer) -> None:
    file = requests_file(tmp_path, {"destination": "planner"})
    url = ("--live", "--base-url", server.url)
    without = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}
    ended = run(tmp_path, "--routes", file, *url, **without)
    assert ended.code == 3 and "ANTHROPIC_API_KEY" in ended.err
    assert not (tmp_path / "history.sqlite").exists()


def test_a_history_that_cannot_be_written_ends_a_live_run_in_words(
    tmp_path: Path, server: BatchesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(history: History, *_: object) -> None:
        raise BadRequest("The history cannot be used: database or disk is full.")

    monkeypatch.setattr(History, "add", full)
    file = requests_file(tmp_path, *[{"destination": "planner"}] * 6)
    server.add(*[route("planner")] * 6)
    ended = live(tmp_path, server, "--routes", file, "--routes-only", "--jobs", 1)
    assert ended.code == 2 and "disk is full" in ended.err.replace("\n", "")
    assert len(server.requests) == 1


def test_a_budget_without_a_price_is_refused_before_anything_is_asked(
    tmp_path: Path, server: BatchesServer
) -> None:
    file = requests_file(tmp_path, {"destination": "planner"})
    (tmp_path / "p.toml").write_text("[models.another]\ninput = 1\noutput = 1\n", "utf-8")
    given = ("--routes", file, "--budget", 1, "--prices", tmp_path / "p.toml")
    ended = live(tmp_path, server, *given)
    assert ended.code == 2 and "no price" in ended.err
    assert not server.requests and not (tmp_path / "history.sqlite").exists()


def test_cases_without_a_label_cannot_be_run_live(tmp_path: Path, server: BatchesServer) -> None:
    write_case(tmp_path / "cases", "unlabelled", CASE.replace("route: {", "#"))
    ended = live(tmp_path, server, tmp_path / "cases")
    assert ended.code == 2 and "route label" in ended.err


def test_labelled_requests_need_somebody_who_answers(tmp_path: Path) -> None:
    file = requests_file(tmp_path, {"destination": "planner"})
    ended = run(tmp_path, "--routes", file)
    assert ended.code == 2
    assert "--live" in ended.err


async def test_a_batch_that_nobody_waits_for_any_more_is_cancelled(server: BatchesServer) -> None:
    from global_chat.model.batched import BatchedModel

    server.polls = 1_000_000
    model = BatchedModel(api_key=KEY, base_url=server.url, poll_seconds=0.01)
    asking = asyncio.create_task(reply_of(model, a_request()))
    assert await asyncio.to_thread(server.looked.wait, 10)
    asking.cancel()
    await model.aclose()
    assert server.cancelled == ["msgbatch_0"]
