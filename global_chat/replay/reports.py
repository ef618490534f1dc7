"""Reports in files: HTML for people who look closer, JUnit's XML for CI, JSON for programs."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from global_chat.contract.names import DESTINATIONS
from global_chat.render.safe_text import clean

from .history import Run
from .summary import Summary, dollars


def html_report(run: Run, summary: Summary) -> str:
    """One page that needs no other file and no network."""
    return _filled("report.html.j2", run, summary)


def junit_report(run: Run, summary: Summary) -> str:
    """JUnit's XML: one test case a result, named after the case."""
    return _filled("report.junit.j2", run, summary)


def _filled(template: str, run: Run, summary: Summary) -> str:
    """The template with all text in it as text, never markup."""
    environment = Environment(
        loader=PackageLoader("global_chat.replay", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    return environment.get_template(template).render(
        run=run,
        summary=summary,
        answered_by=summary.answered_by(run.backend),
        destinations=DESTINATIONS,
        dollars=dollars,
    )


def _printable(value: object) -> object:
    """Text without the characters that HTML and XML cannot hold, not even escaped."""
    if type(value) is not str:  # markup that a macro has made is a subclass
        return value
    return clean(value).translate(dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd"))


def json_report(run: Run, summary: Summary) -> str:
    """One JSON object, two-space indent, characters as they are. Rates come with their interval."""
    told: dict[str, Any] = {
        "total": summary.total,
        "passed": summary.counts["passed"],
        "failed": summary.counts["failed"],
        "crashed": summary.counts["crashed"],
        "stopped": summary.counts["stopped"],
        "scripted": summary.scripted,
        "handovers": summary.handovers,
        "routed": summary.routed,
        "routes_right": summary.right,
        "routes_labelled": summary.labelled,
        "matrix": [
            {"expected": expected, "taken": taken, "count": count}
            for (expected, taken), count in sorted(summary.matrix.items())
        ],
        "confidence": {
            str(level): sum(n for (c, _), n in summary.confidence.items() if c == level)
            for level in range(1, 6)
        },
        "agents": {
            name: {"asked_in": total.asked_in, "cost_usd": total.cost, **total.usage.as_dict()}
            for name, total in summary.agents.items()
        },
        "cost_usd": summary.cost,
        "seconds": round(summary.seconds, 3),
        "rates": {
            case: {**rate._asdict(), "interval": rate.interval()}
            for case, rate in summary.rates.items()
            if rate.total > 1
        },
    }
    report = {
        "run": {"id": run.id, "started": run.started, "backend": run.backend},
        "summary": told,
        "results": [
            result.model_dump(mode="json", exclude_none=True, exclude={"evidence"})
            for result in summary.results
        ],
    }
    return json.dumps(report, ensure_ascii=False, indent=2)
