"""The report that continuous integration shows: JUnit's XML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from .history import Run
from .result import Result
from .summary import Summary

#: Characters that no XML 1.0 file can hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(run: Run, summary: Summary, results: Iterable[Result]) -> str:
    """The text of the report: one test case a result, named after the case."""
    suite = ET.Element(
        "testsuite",
        name=f"global-chat replay ({run.backend})",
        tests=str(summary.total),
        failures=str(summary.counts["failed"]),
        errors=str(summary.counts["crashed"]),
        skipped=str(summary.counts["stopped"]),
        time=f"{summary.seconds:.3f}",
        timestamp=run.started,
    )
    for result in results:
        _add(suite, result)
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    text: str = ET.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(suite: ET.Element, result: Result) -> None:
    repeated = f" #{result.number}" if result.number > 1 else ""
    case = ET.SubElement(
        suite,
        "testcase",
        classname="replay.scripted" if result.scripted else "replay.live",
        name=_clean(f"{result.case}{repeated}"),
        time=f"{result.seconds:.3f}",
    )
    if result.status == "stopped":
        ET.SubElement(case, "skipped", message="the budget was spent")
    elif result.failed:
        kind = "error" if result.status == "crashed" else "failure"
        first = result.differences[0] if result.differences else result.status
        failure = ET.SubElement(case, kind, message=_clean(first.partition("\n")[0]))
        failure.text = _clean("\n".join(result.differences))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
