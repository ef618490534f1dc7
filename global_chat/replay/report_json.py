"""The report for machines: one JSON object, written result by result, so that size is no matter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from .history import Run
from .result import Result
from .summary import Summary


def json_report(run: Run, summary: Summary, results: Iterable[Result]) -> Iterator[str]:
    """The pieces of the report's text."""
    yield '{\n  "run": '
    yield _text(_run(run))
    yield ',\n  "summary": '
    yield _text(summary_data(summary))
    yield ',\n  "results": ['
    separator = "\n"
    for result in results:
        yield f"{separator}    {result.model_dump_json(exclude_none=True)}"
        separator = ",\n"
    yield "\n  ]\n}\n"


def _run(run: Run) -> dict[str, Any]:
    return {"id": run.id, "started": run.started, "backend": run.backend}


def summary_data(summary: Summary) -> dict[str, Any]:
    """The summary as JSON data. Rates come with their 95 % interval."""
    return {
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
            for name, total in summary.by_agent
        },
        "cost_usd": summary.cost,
        "seconds": round(summary.seconds, 3),
        "rates": {
            case: {"passed": rate.passed, "total": rate.total, "interval": rate.interval}
            for case, rate in summary.rates.items()
            if rate.total > 1
        },
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
