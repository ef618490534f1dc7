"""What handling a workflow document costs, and what one new path in it costs a model.

Run it as `python -m benchmarks.workflow`. Every figure of time is a multiple of what ruamel.yaml's
own load of the same text takes, so that it means the same on every machine: the best of several
runs of each, measured side by side. Growth is linear when a row keeps its figure. `reply size` is
the number of characters of the JSON reply that a model must write for one new path: the same
whatever the size of the workflow, else this fails.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise, zip_longest

from ruamel.yaml import YAML

from global_chat.workflow.document import Workflow
from global_chat.workflow.patching.reply import read_patch

SIZES = (10, 100, 1_000)
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


def listed(steps: int) -> str:
    """The same in the app's form with one list of steps."""
    keys = [f"step-{number}" for number in range(steps)]
    items = "".join(
        f"  - id: {key}\n    name: Step {number}\n    adaptor: '@openfn/language-http@7.3.2'\n"
        f"    expression: |\n{_BODY}"
        + (f"    next:\n      {after}:\n        condition: on_job_success\n" if after else "")
        for number, (key, after) in enumerate(zip_longest(keys, keys[1:]))
    )
    return (
        "id: benchmark\nname: Benchmark\nschema_version: '4.0'\nstart: cron\nsteps:\n  - id: cron\n"
        "    type: cron\n    enabled: true\n    cron_expression: 0 8 * * *\n    next:\n"
        f"      step-0:\n        condition: always\n{items}"
    )


#: What a model has to write for one new path in the middle of the workflow.
REPLY = {
    "remove": [],
    "yaml": "edges:\n  step-3->step-7:\n    source_job: step-3\n    target_job: step-7\n"
    "    condition_type: on_job_failure\n",
    "text": "Step 7 now also runs when Step 3 fails.",
}


def patched(text: str) -> Workflow:
    """The document with the new path."""
    workflow = Workflow.read(text)
    return workflow.apply(read_patch(str(REPLY["yaml"]), [], workflow)).workflow


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
    return {
        "ruamel load": lambda: YAML().load(text),
        "parse": lambda: Workflow.read(text).steps,
        "outline": lambda: Workflow.read(text).outline(),
        "stitch": lambda: Workflow.read(text).with_code("step-0", "fn(state => state);\n"),
        "new path": lambda: patched(text),
        "check": lambda: Workflow.read(text).check(),
    }


def main() -> None:
    """Print the table."""
    write = sys.stdout.write
    for form, made in (("jobs", document), ("steps", listed)):
        rows: dict[str, list[str]] = {}
        for size in SIZES:
            unit = 0.0
            for name, work in measures(made(size)).items():
                taken = seconds(work)
                unit = unit or taken
                ratio = (
                    f"{taken * 1000:,.1f} ms" if name == "ruamel load" else f"{taken / unit:.2f} ×"
                )
                rows.setdefault(name, []).append(ratio)
        write(f"{form + ' form':<14}" + "".join(f"{size:>12,}" for size in SIZES) + "\n")
        for name, cells in rows.items():
            write(f"{name:<14}" + "".join(f"{cell:>12}" for cell in cells) + "\n")
        sizes = [reply_size(made(size)) for size in SIZES]
        write(f"{'reply size':<14}" + "".join(f"{size:>12,}" for size in sizes) + "\n\n")
        if len(set(sizes)) > 1:
            sys.exit("the reply grows with the workflow")


def reply_size(text: str) -> int:
    """The characters of the reply, which does add the path and changes nothing else."""
    changes = Workflow.read(text).changes_to(patched(text))
    if len(changes) != 1:
        sys.exit(f"one new path was asked for, this came: {changes}")
    return len(json.dumps(REPLY))


if __name__ == "__main__":
    main()
