"""The `replay` command. What it needs is loaded when it runs."""

from __future__ import annotations

from .options import takes
from .replay_options import CaseOptions, LiveOptions, ReportOptions, RunOptions

EPILOG = "Example: global-chat replay fixtures/cases --jobs 2 --html tmp/replay.html"


@takes(CaseOptions, RunOptions, ReportOptions, LiveOptions)
def replay(cases: CaseOptions, run: RunOptions, reports: ReportOptions, live: LiveOptions) -> int:
    """Run cases: scripted turns with what must come out, or labelled requests live.

    Every case is read before any runs. What came out otherwise than expected is told case by
    case, and the exit code is then 1.
    """
    # Pydantic, Rich and the whole program below: 300 ms that `--help` need not pay.
    from .replay_command import Replay  # noqa: PLC0415

    return Replay(cases, run, reports, live).run_command()
