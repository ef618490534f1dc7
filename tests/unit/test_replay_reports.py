"""Reports: what a model said is text in every one of them, and scripted is called scripted."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from global_chat.render.live import console
from global_chat.replay.history import Run
from global_chat.replay.report import html_report, json_report, junit_report, show_run
from global_chat.replay.result import Result
from global_chat.replay.summary import Summary
from tests.replay_cases import a_result

pytestmark = pytest.mark.unit

RUN = Run(3, "2026-01-01T00:00:00Z", None, "scripted", "{}")
HOSTILE = "</pre><script>alert(1)</script>\x1b[2J\x00\ud83d <img src=http://example.org/x>"

RESULTS = [
    a_result(
        "good",
        agents=["router", "planner"],
        expected="planner",
        taken="planner",
        right=True,
        confidence=5,
    ),
    a_result(
        "bad",
        title=HOSTILE,
        status="failed",
        differences=(f"says: {HOSTILE}", "second\nline"),
        agents=["router", "job_code_agent", "planner"],
        handover="job_code_agent",
        expected="planner",
        taken="job_code_agent",
        right=False,
        confidence=4,
        conversation=[("planner", HOSTILE)],
        workflow_diff=["-a", "+b", " c"],
    ),
    a_result("dead", status="crashed", differences=("ZeroDivisionError: of all things\ufffe",)),
    a_result("left", status="stopped"),
]


def page(results: list[Result] = RESULTS) -> str:
    return html_report(RUN, Summary(results))


class _Reader(HTMLParser):
    """Collects what a browser would do something with."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str | None]] = {}
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_no_other_file_and_names_no_host_of_its_own() -> None:
    reader = _Reader()
    reader.feed(page())
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(reader.tags)
    assert not {"src", "onclick", "action"} & set(reader.attributes)
    links = [target or "" for target in reader.attributes["href"]]
    assert links and all(target.startswith("#") for target in links)
    assert {target[1:] for target in links} <= set(reader.attributes["id"])
    assert "url(" not in page() and "@import" not in page()
    assert "//" not in page([RESULTS[0]]).replace("<!doctype html>", "")


def test_hostile_text_is_shown_as_text_on_the_page() -> None:
    reader = _Reader()
    reader.feed(page())
    assert "<script>alert(1)</script>" in reader.text
    assert "\x1b" not in page() and "\x00" not in page()
    page().encode()  # half of a pair would not go into any file


def test_the_page_tells_routes_confidence_failures_and_every_case() -> None:
    text = page()
    for wanted in ("scripted", "job code agent ⇢ planner", "<ins>+b</ins>", "<del>-a</del>", "50%"):
        assert wanted in text
    assert text.count("<article") == 2
    assert all(f"<td>{result.case}</td>" in text for result in RESULTS)


def test_a_number_of_the_matrix_leads_to_its_cases_and_hides_the_others() -> None:
    text = page()
    assert '<a href="#planner-job_code_agent"><span class="bad">1 wrong</span>' in " ".join(
        text.split()
    )
    assert '<tr data-route="planner-job_code_agent">' in text
    hidden = '[data-route]:not([data-route="planner-job_code_agent"]) { display: none; }'
    assert f"body:has(#planner-job_code_agent:target) {hidden}" in text


def test_every_case_opens_on_what_it_was_given_what_was_said_and_what_changed() -> None:
    said = [("payload", "what was given"), ("to router", "what was asked")]
    text = page([a_result("one", conversation=said, workflow_diff=["+added"])])
    for wanted in ("what was given", "what was asked", "<ins>+added</ins>"):
        assert wanted in text
    assert text.count("<details>") == 3


def test_a_price_is_named_only_where_a_model_was_asked() -> None:
    spent = [{"agent": "router", "model": "m", "usage": {"input_tokens": 5}, "cost": 0.5}]
    assert "$" not in page([a_result("one", spent=spent)])
    assert "$0.5000" in page([a_result("one", spent=spent, scripted=False)])
    assert "$" not in page([a_result("one", scripted=False)])


def test_the_trend_draws_each_figure_over_the_runs() -> None:
    def summary(right: int) -> Summary:
        results = [a_result(str(n), taken="planner", right=n < right) for n in range(4)]
        return Summary(results)

    runs = [(RUN._replace(id=number), summary(number)) for number in (1, 2)]
    text = html_report(RUN, summary(4), runs)
    assert re.findall(r"<title>run (\d), \S+: (\d+%)</title>", text) == [
        *[("1", "25%"), ("2", "50%"), ("3", "100%")],
        *[("1", "0%"), ("2", "0%"), ("3", "0%")],
    ]
    assert text.count("<polyline") == 4
    assert "<svg" not in page()


def test_a_live_run_is_not_called_scripted() -> None:
    live = [result.model_copy(update={"scripted": False}) for result in RESULTS]
    assert '<span class="badge">live</span>' in page(live)
    assert "no model was asked" not in page(live)
    assert "no model was asked" in page()


def test_the_junit_file_is_xml_and_counts_right() -> None:
    suite = ET.fromstring(junit_report(RUN, Summary(RESULTS))).find("testsuite")
    assert suite is not None
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    kinds = {case.get("name"): [child.tag for child in case] for case in suite}
    assert kinds == {"good": [], "bad": ["failure"], "dead": ["error"], "left": ["skipped"]}
    assert "<script>" in (suite.findtext("testcase/failure") or "")


def test_the_json_report_is_one_object_with_every_result() -> None:
    report = json.loads(json_report(RUN, Summary(RESULTS)))
    assert [result["case"] for result in report["results"]] == ["good", "bad", "dead", "left"]
    assert report["results"][0]["scripted"] is True
    assert (report["summary"]["passed"], report["summary"]["failed"]) == (1, 1)
    assert report["summary"]["matrix"][0] == {
        "expected": "planner",
        "taken": "planner",
        "right": True,
        "count": 1,
    }


def shown(results: list[Result]) -> str:
    out = io.StringIO()
    screen = console(out, colours=False)
    show_run(screen, RUN, Summary(results))
    return out.getvalue()


def test_the_terminal_shows_cases_in_order_and_why_they_failed() -> None:
    text = shown(RESULTS)
    rows = re.findall(r"^[✔✘–] +(\w+)", text, re.MULTILINE)
    assert rows[:4] == ["good", "bad", "dead", "left"]
    assert "router → job code agent ⇢ planner" in text
    assert "\x1b" not in text and "\x00" not in text
    assert "1 passed, 1 failed, 1 crashed, 1 stopped of 4" in text
    told = "of 2 routed turns, 1 went right, 1 wrong and 0 without a label; 1 handed over"
    assert told in " ".join(text.split())
    assert "scripted: Every model's answer comes from a script; no model was asked." in text


def test_repetitions_are_one_row_with_a_rate_and_its_interval() -> None:
    results = [
        a_result("a", number=n, status="passed" if n > 3 else "failed") for n in range(1, 11)
    ]
    assert re.search(r"✘ +a .*7/10 \(40%–89%\)", shown(results))
    assert "0 scripted" not in shown(results)


def test_markup_in_a_name_is_no_markup() -> None:
    assert "[red]x[/]" in shown([a_result("[red]x[/]", status="failed", title="[bold]t")])
