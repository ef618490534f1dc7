"""What handling a workflow document costs. Run it as `python -m benchmarks.workflow`.

Every figure is a multiple of what ruamel.yaml's own load of the same text takes, so that it means
the same on every machine: the best of several runs of each, measured side by side. Growth is linear
when a row keeps its figure.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise

from ruamel.yaml import YAML

from global_chat.workflow.document import Workflow

SIZES = (1, 50, 1_000)
_SECONDS = 2.0  # how long one figure is measured, at least twice
_BODY = """\
      get('/api/records', {
        query: { page: 1, limit: 100, since: $.cursor },
      });

      fn(state => {
        const rows = state.data.items.filter(item => item.status === 'active');
        console.log(`kept ${rows.length} of ${state.data.items.length}`);
        return { ...state, rows };
      });
"""


def document(steps: int) -> str:
    """A workflow of `steps` steps in a chain, as the app exports it."""
    keys = [f"step-{number}" for number in range(steps)]
    jobs = "".join(
        f"  {key}:\n    id: {number:08d}-aaaa-4aaa-8aaa-aaaaaaaaaaaa\n    name: Step {number}\n"
        f"    adaptor: '@openfn/language-http@7.3.2'\n    credential: null\n    body: |\n{_BODY}"
        for number, key in enumerate(keys)
    )
    edges = "".join(
        f"  {source}->{target}:\n    source_job: {source}\n    target_job: {target}\n"
        "    condition_type: on_job_success\n    enabled: true\n"
        for source, target in pairwise(keys)
    )
    return (
        f"name: Benchmark\njobs:\n{jobs}triggers:\n  cron:\n    type: cron\n"
        "    cron_expression: 0 8 * * *\n    enabled: true\nedges:\n  cron->step-0:\n"
        "    source_trigger: cron\n    target_job: step-0\n    condition_type: always\n"
        f"    enabled: true\n{edges}"
    )


def seconds(work: Callable[[], object]) -> float:
    """The shortest time that `work` took in a few runs."""
    best, started, runs = float("inf"), time.perf_counter(), 0
    while runs < 2 or (time.perf_counter() - started < _SECONDS and runs < 200):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
        runs += 1
    return best


def measures(text: str) -> dict[str, Callable[[], object]]:
    """What is measured: each works on a document that is read anew where reading is part of it."""
    read = Workflow.read(text)
    answer = (
        read.draft()
        .replace("name: Step 0\n", "name: First step\n", 1)
        .replace("0 8 * * *", "0 7 * * 1")
    )
    return {
        "ruamel load": lambda: YAML().load(text),
        "parse": lambda: Workflow.read(text).steps,
        "outline": lambda: Workflow.read(text).outline(),
        "stitch": lambda: Workflow.read(text).with_code("step-0", "fn(state => state);\n"),
        "merge": lambda: Workflow.read(text).merge(answer, request="Mondays at 7, and rename it"),
        "check": lambda: Workflow.read(text).check(),
    }


def main() -> None:
    """Print the table."""
    rows: dict[str, list[str]] = {}
    for size in SIZES:
        unit = 0.0
        for name, work in measures(document(size)).items():
            taken = seconds(work)
            unit = unit or taken
            shown = f"{taken * 1000:,.1f} ms" if name == "ruamel load" else f"{taken / unit:.2f} ×"
            rows.setdefault(name, []).append(shown)
    sys.stdout.write(f"{'steps':<12}" + "".join(f"{size:>12,}" for size in SIZES) + "\n")
    for name, cells in rows.items():
        sys.stdout.write(f"{name:<12}" + "".join(f"{cell:>12}" for cell in cells) + "\n")


if __name__ == "__main__":
    main()
