"""The report for machines: one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .history import Run
from .result import Result
from .summary import Summary


def json_report(run: Run, summary: Summary, results: Iterable[Result]) -> str:
    """The text of the report, two-space indent, characters as they are."""
    report = {
        "run": {"id": run.id, "started": run.started, "backend": run.backend},
        "summary": summary_data(summary),
        "results": [result.model_dump(mode="json", exclude_none=True) for result in results],
    }
    return json.dumps(report, ensure_ascii=False, indent=2)


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
