"""What `replay` does: read the cases, run them, report; or look at runs of before."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from global_chat.contract.errors import AuthError, BadRequest, Forbidden, NotFound, TurnError
from global_chat.render.wording import error_text
from global_chat.replay.case import Case
from global_chat.replay.collect import BrokenCases, collect
from global_chat.replay.history import History, Run
from global_chat.replay.labelled import read_labelled
from global_chat.replay.prices import read_prices
from global_chat.replay.result import Evidence, Result
from global_chat.replay.run import Enough, Work, work_of
from global_chat.replay.scripted_runs import run_scripted
from global_chat.replay.selection import matching, shard
from global_chat.replay.terminal import Bar, console

from .replay_live import LiveRun, is_live
from .replay_options import CaseOptions, LiveOptions, ReportOptions, RunOptions
from .replay_reports import Reports, list_runs, show_two_runs
from .replay_update import update
from .wiring import read_settings

#: What keeps every case of a live run from being answered.
HOPELESS = frozenset(kind.type for kind in (AuthError, Forbidden, NotFound))


class Replay:
    """One invocation of `replay`."""

    def __init__(
        self, cases: CaseOptions, run: RunOptions, reports: ReportOptions, live: LiveOptions
    ) -> None:
        self._cases, self._run, self._reports, self._live = cases, run, reports, live
        colours = not os.environ.get("NO_COLOR")
        self._out = console(sys.stdout, colours=colours)
        self._err = console(sys.stderr, colours=colours)

    def run_command(self) -> int:
        """Do it and return the exit code. Every failure is told; none escapes."""
        try:
            return self._dispatch()
        except BrokenCases as broken:
            self._say("\n".join(broken.faults))
            self._say("Nothing was run. Put this right first.")
            return BadRequest.exit_code
        except TurnError as error:
            self._say(error_text(error))
            return error.exit_code
        except KeyboardInterrupt:
            return 130

    def _say(self, text: str) -> None:
        self._err.print(text, markup=False)

    def _dispatch(self) -> int:
        words = [str(path) for path in self._cases.paths or ()]
        if words == ["history"] or (words[:1] == ["compare"] and len(words) == 3):
            with History(self._run.history) as history:
                if len(words) == 1:
                    return list_runs(history, self._out)
                return show_two_runs(history, words[1], words[2], self._out)
        if words[:1] in (["history"], ["compare"]) and not Path(words[0]).exists():
            raise BadRequest(
                "It is `replay history`, or `replay compare A B` with two of its runs, such as "
                "last~1 and last."
            )
        cases = self._selected()
        if self._run.update:
            return update(cases, self._out, self._err, ask=not self._run.yes)
        live = LiveRun(self._live) if is_live(self._live) else None
        reports = Reports(self._reports, self._out)
        reports.check()
        with History(self._run.history) as history:
            return self._replay(history, cases, live, reports)

    def _replay(
        self, history: History, cases: Sequence[Case], live: LiveRun | None, reports: Reports
    ) -> int:
        begin = history.resume if self._run.resume else history.begin
        run = begin(self._backend, self._selection())
        work = work_of(cases, self._run.repeat, history.done(run))
        interrupted = not self._carry_out(history, run, work, live)
        summary = reports.give(history, run, cases)
        left = len(work_of(cases, self._run.repeat, history.done(run)))
        if left:
            runs = "1 run of a case is" if left == 1 else f"{left} runs of cases are"
            self._say(f"{runs} left. Go on with --resume.")
        else:
            history.end(run)
        return 130 if interrupted else int(bool(left or summary.failed))

    def _selected(self) -> tuple[Case, ...]:
        """The cases that the options name, of the kind that the backend can answer."""
        given = self._cases
        if not given.paths and not given.routes:
            raise BadRequest("Name folders of cases, or a file of labelled requests with --routes.")
        cases = list(collect(given.paths)) if given.paths else []
        settings = read_settings(self._live.config)
        for file in given.routes or ():
            cases += read_labelled(file, settings)
        chosen = shard(matching(cases, given.filters or ()), given.shard)
        if not chosen:
            raise BadRequest("No case is left: --filter or --shard leaves them all out.")
        if is_live(self._live):
            return self._labelled(chosen)
        if any(case.script is None for case in chosen):
            raise BadRequest(
                "Labelled requests have no script: say who answers them, with --live or "
                "--backend offline."
            )
        return chosen

    def _labelled(self, chosen: Sequence[Case]) -> tuple[Case, ...]:
        """The cases that a live run can judge."""
        labelled = tuple(case for case in chosen if case.label is not None)
        if not labelled:
            raise BadRequest("None of these cases has a route label, so none can be run live.")
        if left_out := len(chosen) - len(labelled):
            some = "1 case is" if left_out == 1 else f"{left_out} cases are"
            self._say(f"{some} left out: without a route label nothing can be judged live.")
        return labelled

    @property
    def _backend(self) -> str:
        return str(self._live.backend or "anthropic") if is_live(self._live) else "scripted"

    def _selection(self) -> str:
        """What makes two runs the same one, for --resume, as one would type it."""
        given = self._cases
        words = [str(path) for path in given.paths or ()]
        for name, values in (("--routes", given.routes), ("--filter", given.filters)):
            words += [word for value in values or () for word in (name, str(value))]
        if given.shard:
            words += ["--shard", given.shard]
        if self._run.repeat > 1:
            words += ["--repeat", str(self._run.repeat)]
        if self._live.routes_only or self._live.batches:
            words.append("--routes-only")
        if is_live(self._live) and self._live.config:
            words += ["--config", str(self._live.config)]
        return shlex.join(words)

    def _carry_out(
        self, history: History, run: Run, work: Sequence[Work], live: LiveRun | None
    ) -> bool:
        """Run what is left to do. False when it was interrupted."""
        lost: list[BadRequest] = []
        with Bar(self._err, len(work)) as bar:

            def tell(result: Result, evidence: Evidence | None) -> None:
                try:
                    history.add(run, result, evidence)
                except BadRequest as error:
                    lost.append(error)
                    raise Enough from error
                bar.advance(result)
                if why := self._why_enough(result):
                    self._say(why)
                if why is not None:
                    raise Enough

            try:
                if live is not None:
                    asyncio.run(live.run(work, self._run.jobs, tell))
                else:
                    jobs = self._run.jobs or os.cpu_count() or 1
                    run_scripted(work, read_prices(self._live.prices), jobs, tell)
            except KeyboardInterrupt:
                return False
        if lost:
            raise lost[0]
        return True

    def _why_enough(self, result: Result) -> str | None:
        """Why no more cases are run after this one, "" when that needs no word; None goes on."""
        if not result.scripted and result.error in HOPELESS:
            return f"{result.error}: every other case would end like this one."
        if result.status == "stopped":
            return "\n".join(result.differences)
        return "" if result.failed and self._run.fail_fast else None
