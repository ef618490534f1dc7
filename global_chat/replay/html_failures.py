"""One failed case in the HTML report: what differed, who said what, what became of the workflow."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from .markup import tag
from .result import Evidence, Result


def failure(result: Result, evidence: Evidence | None) -> Element:
    """The section of one failure; without evidence only its differences."""
    scripted = "scripted" if result.scripted else "live"
    repeated = f", run {result.number}" if result.number > 1 else ""
    return tag(
        "article",
        tag("h3", f"{result.case}{repeated} ", tag("span", scripted, class_="badge")),
        tag("p", result.title),
        tag("p", result.way, class_="soft"),
        tag("pre", "\n".join(result.differences)),
        _conversation(evidence) if evidence else None,
        _diff(evidence) if evidence and evidence.workflow_diff else None,
        class_="failure",
        id=f"failure-{result.case}-{result.number}",
    )


def _conversation(evidence: Evidence) -> Element:
    said = [
        tag("div", tag("span", line.who), tag("pre", line.text), class_="said")
        for line in evidence.conversation
    ]
    return tag("details", tag("summary", "Conversation"), *said, open="open")


def _diff(evidence: Evidence) -> Element:
    lines: list[Element | str] = []
    for line in evidence.workflow_diff:
        name = {"+": "ins", "-": "del"}.get(line[:1])
        lines.append(tag(name, line) if name else f"{line}\n")
    return tag("details", tag("summary", "Workflow"), tag("pre", *lines), open="open")
