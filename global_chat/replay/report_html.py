"""The report for people who look closer: one HTML page that needs no other file and no network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.resources import files
from xml.etree.ElementTree import Element

from .history import Run
from .html_failures import failure
from .html_statistics import agents_table, confidence_chart, kinds_table, route_matrix
from .markup import page, tag
from .result import Evidence, Result
from .summary import Summary, who_answered

#: Of more failures than this the conversations would make a page that no browser likes.
MOST_CONVERSATIONS = 300


def html_report(
    run: Run,
    summary: Summary,
    results: Callable[[], Iterable[Result]],
    evidence: Callable[[Result], Evidence | None],
) -> str:
    """The whole page. `results` is called more than once; `evidence` only for failures."""
    style = (files(__package__) / "report.css").read_text("utf-8")
    return page(
        f"Replay {run.id}: {summary.failed} of {summary.total} failed",
        style,
        _heading(run, summary),
        _tiles(summary),
        tag(
            "div",
            _section("Routes: expected × taken", route_matrix(summary)),
            _section("Confidence of the router", confidence_chart(summary)),
            class_="columns",
        ),
        _section("Tokens and cost", agents_table(summary)),
        _section("By kind of request", kinds_table(summary)) if summary.kinds else None,
        _section("Failures", *_failures(results(), evidence)),
        _section("All cases", _cases(results(), summary)),
    )


def _section(title: str, *content: Element) -> Element:
    return tag("section", tag("h2", title), *content)


def _heading(run: Run, summary: Summary) -> Element:
    badge, what = who_answered(summary, run.backend)
    return tag(
        "header",
        tag("h1", f"Replay {run.id} ", tag("span", badge, class_="badge")),
        tag("p", f"{run.started}. {what}", class_="soft"),
    )


def _tiles(summary: Summary) -> Element:
    handed = f"{summary.handovers / summary.routed:.0%}" if summary.routed else "–"
    tiles = [
        (f"{summary.counts['passed']} of {summary.total}", "passed"),
        (str(summary.failed), "failed"),
        (handed, f"handed over ({summary.handovers} of {summary.routed})"),
    ]
    if summary.labelled:
        tiles.append((f"{summary.right} of {summary.labelled}", "routes right"))
    cost = "not known" if summary.cost is None else f"${summary.cost:.4g}"
    tiles.append((cost, "at the prices given" if summary.scripted else "spent"))
    if summary.counts["stopped"]:
        tiles.append((str(summary.counts["stopped"]), "stopped by the budget"))
    shown = (tag("div", tag("b", number), what, class_="tile") for number, what in tiles)
    return tag("div", *shown, class_="tiles")


def _failures(
    results: Iterable[Result], evidence: Callable[[Result], Evidence | None]
) -> Iterable[Element]:
    failed = [result for result in results if result.failed]
    if not failed:
        yield tag("p", "None.", class_="good")
    for number, result in enumerate(failed):
        yield failure(result, evidence(result) if number < MOST_CONVERSATIONS else None)


def _cases(results: Iterable[Result], summary: Summary) -> Element:
    rows = [
        tag(
            "tr",
            tag("td", "✔" if result.status == "passed" else "✘", class_=_tone(result)),
            tag("td", result.case if result.number == 1 else f"{result.case} #{result.number}"),
            tag("td", result.title),
            tag("td", result.way),
            tag("td", str(result.confidence or ""), class_="number"),
            tag("td", f"{result.seconds * 1000:,.0f}", class_="number"),
            id=f"case-{result.case}-{result.number}",
        )
        for result in results
    ]
    head = [tag("th", name) for name in ("", "case", "title", "way")]
    head += [tag("th", name, class_="number") for name in ("confidence", "ms")]
    rates = [f"{case}: {rate}" for case, rate in summary.rates.items() if rate.total > 1]
    return tag(
        "div",
        tag("p", "Passed, with the 95 % interval: ", "; ".join(rates)) if rates else None,
        tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows)),
        class_="scroll",
    )


def _tone(result: Result) -> str:
    return "good" if result.status == "passed" else "bad"
