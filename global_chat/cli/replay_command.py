"""What `replay` does: read the cases, run them, report; or look at earlier runs."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.syntax import Syntax

from global_chat.contract.errors import AuthError, BadRequest, TurnError
from global_chat.disk.paths import check_writable
from global_chat.disk.writing import write_atomically, write_together
from global_chat.model.anthropic import DEFAULT_BASE_URL
from global_chat.model.seam import Model
from global_chat.render.diffs import diff_lines
from global_chat.render.safe_text import clean
from global_chat.render.stream import Stream
from global_chat.render.wording import error_text
from global_chat.replay.case import Case
from global_chat.replay.collect import collect, matching, read_labelled, shard
from global_chat.replay.history import History, Run
from global_chat.replay.limits import Budgeted, Paced, Prices, read_prices
from global_chat.replay.play import play_script
from global_chat.replay.reports import html_report, json_report, junit_report
from global_chat.replay.result import ACCESS_ERRORS, Result
from global_chat.replay.run import StopRun, live, run_all, scripted
from global_chat.replay.summary import Summary, compare_runs
from global_chat.replay.terminal import console, progress, show_comparison, show_run, show_runs
from global_chat.replay.update import update_of

from .options import ModelOptions
from .replay import ReplayOptions
from .wiring import Wired, read_settings, wire

if TYPE_CHECKING:
    from global_chat.model.batched import BatchedModel


def run_replay(options: ReplayOptions) -> int:
    """Do it and return the exit code. Every failure is told; none escapes."""
    colours = not os.environ.get("NO_COLOR")
    screen, errors = (console(stream, colours=colours) for stream in (sys.stdout, sys.stderr))
    try:
        return _Replay(options, screen, errors).run()
    except TurnError as error:
        errors.print(error_text(error), markup=False)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


class _Replay:
    def __init__(self, options: ReplayOptions, screen: Console, errors: Console) -> None:
        self._options, self._screen, self._errors = options, screen, errors

    def _say(self, text: str) -> None:
        self._errors.print(text, markup=False)

    def run(self) -> int:
        options = self._options
        words = [str(path) for path in options.paths or ()]
        if words == ["history"] or (words[:1] == ["compare"] and len(words) == 3):
            with History(options.history) as history:
                return self._look_back(history, words[1:])
        if words[:1] in (["history"], ["compare"]) and not Path(words[0]).exists():
            raise BadRequest(
                "It is `replay history`, or `replay compare A B` with two of its runs, such as "
                "last~1 and last."
            )
        _check(options)
        cases = self._selected()
        if options.update:
            return self._update(cases)
        prices = read_prices(options.prices)
        turns = _Turns(options, prices)
        check_writable([path for path in (options.junit, options.html) if path])
        with History(options.history) as history:
            return self._replay(history, cases, turns)

    def _look_back(self, history: History, names: Sequence[str]) -> int:
        """List all runs, or compare two; the exit code is 1 when something broke in between."""
        runs = [history.run(name) for name in names] or history.runs()
        summed = [(run, Summary(history.results(run))) for run in runs]
        if not names:
            show_runs(self._screen, summed)
            return 0
        before, after = summed
        found = compare_runs(before[1].results, after[1].results)
        show_comparison(self._screen, before, after, found)
        return int(any(change.kind == "broken" for change in found))

    def _selected(self) -> Sequence[Case]:
        """The cases that the options name, of the kind that the backend can answer."""
        options = self._options
        if not options.paths and not options.routes:
            raise BadRequest("Name folders of cases, or a file of labelled requests with --routes.")
        cases = list(collect(options.paths)) if options.paths else []
        settings = read_settings(options.config)
        for file in options.routes or ():
            cases += read_labelled(file, settings)
        chosen = shard(matching(cases, options.filters or ()), options.shard or "1/1")
        if not chosen:
            raise BadRequest("No case is left: --filter or --shard leaves them all out.")
        if options.asks_model:
            labelled = [case for case in chosen if case.label is not None]
            if not labelled:
                raise BadRequest("None of these cases has a route label, so none can be run live.")
            if left_out := len(chosen) - len(labelled):
                some = "1 case is" if left_out == 1 else f"{left_out} cases are"
                self._say(f"{some} left out: without a route label nothing can be judged live.")
            return labelled
        if any(case.script is None for case in chosen):
            raise BadRequest(
                "Labelled requests have no script: say who answers them, with --live or "
                "--backend offline."
            )
        return chosen

    def _replay(self, history: History, cases: Sequence[Case], turns: _Turns) -> int:
        options = self._options
        backend = options.backend or "anthropic" if options.asks_model else "scripted"
        begin = history.resume if options.resume else history.begin
        run = begin(backend, _selection(options))

        def left() -> list[tuple[Case, int]]:
            """What is to be done, a whole round of cases before the next repetition."""
            done = {(r.case, r.number, r.fingerprint) for r in history.results(run) if r.is_final}
            rounds = ((case, n) for n in range(1, options.repeat + 1) for case in cases)
            return [(case, n) for case, n in rounds if (case.id, n, case.fingerprint) not in done]

        interrupted = False
        try:
            self._carry_out(history, run, left(), turns)
        except KeyboardInterrupt:
            interrupted = True
        summary = self._report(history, run, cases)
        if count := len(left()):
            runs = "1 run of a case is" if count == 1 else f"{count} runs of cases are"
            self._say(f"{runs} left. Go on with --resume.")
        else:
            history.end(run)
        return 130 if interrupted else int(bool(count or summary.failed))

    def _carry_out(
        self, history: History, run: Run, work: Sequence[tuple[Case, int]], turns: _Turns
    ) -> None:
        failed, lost = 0, None
        with progress(self._errors) as bar:
            task = bar.add_task("", total=len(work), failed="")

            def receive(result: Result) -> None:
                nonlocal failed, lost
                try:
                    history.add(run, result)
                except BadRequest as error:
                    lost = error
                    raise StopRun from error
                failed += result.failed
                told = f"{failed} failed" if failed else ""
                bar.update(task, advance=1, description=clean(result.case), failed=told)
                self._stop_after(result)

            asyncio.run(turns.take(work, receive))
        if lost:
            raise lost

    def _stop_after(self, result: Result) -> None:
        """Raise `StopRun` when no more cases are to be run after this one."""
        if not result.scripted and result.error in ACCESS_ERRORS:
            self._say(f"{result.error}: every other case would end like this one.")
        elif result.status == "stopped":
            self._say("\n".join(result.differences))
        elif not (result.failed and self._options.fail_fast):
            return
        raise StopRun

    def _report(self, history: History, run: Run, cases: Sequence[Case]) -> Summary:
        """Give every report that is asked for, in the order of the cases."""
        # In a run that is resumed, results of a case that has changed since do not count.
        order = {(case.id, case.fingerprint): number for number, case in enumerate(cases)}
        current = [r for r in history.results(run) if (r.case, r.fingerprint) in order]
        summary = Summary(sorted(current, key=lambda r: order[r.case, r.fingerprint]))
        if self._options.as_json:
            Stream(sys.stdout).json(json_report(run, summary))
        else:
            show_run(self._screen, run, summary)
        if self._options.junit is not None:
            write_atomically(self._options.junit, junit_report(run, summary))
        if self._options.html is not None:
            write_atomically(self._options.html, html_report(run, summary))
        return summary

    def _update(self, cases: Sequence[Case]) -> int:
        """Show how the case files would change, and change them when that is wanted.

        The exit code is 1 when a difference is left that only a person can settle, or when
        nothing was written because nobody could be asked.
        """
        updates = [u for case in cases if (u := update_of(asyncio.run(play_script(case))))]
        if not updates:
            self._screen.print("Every case expects what comes. Nothing to update.")
            return 0
        changing = [u for u in updates if u.before != u.after]
        for one in changing:
            diff = "\n".join((f"--- {one.path}", *diff_lines(one.before, one.after)))
            shown = Syntax(clean(diff), "diff", background_color="default", word_wrap=True)
            self._screen.print(shown)
        for path, difference in ((u.path, text) for u in updates for text in u.left):
            self._say(f"{path}: {clean(difference)}")
        if changing and not self._options.yes:
            if not sys.stdin.isatty():
                self._say("Nothing was written. Look at the differences, then add --yes.")
                return 1
            if not typer.confirm(f"Write these {len(changing)} files?"):
                return 1
        write_together({one.path: one.after for one in changing})
        self._screen.print(f"Updated {len(changing)} of {len(cases)} cases.")
        return int(any(one.left for one in updates))


def _check(options: ReplayOptions) -> None:
    """Raise `BadRequest` for options that contradict each other."""
    if options.live and options.backend == "scripted":
        raise BadRequest("--live asks a model; it does not go with --backend scripted.")
    if options.batches and options.backend == "offline":
        raise BadRequest("--batches is the provider's; it does not go with --backend offline.")
    given = {
        "--routes-only": options.routes_only,
        "--batches": options.batches,
        "--record": options.record is not None,
        "--budget": options.budget is not None,
    }
    for name in (name for name in given if given[name] and not options.asks_model):
        raise BadRequest(f"{name} is for live runs: add --live.")


def _selection(options: ReplayOptions) -> str:
    """What makes two runs the same one, for --resume, as one would type it."""
    words = [str(path) for path in options.paths or ()]
    for name, values in (("--routes", options.routes), ("--filter", options.filters)):
        words += [word for value in values or () for word in (name, str(value))]
    words += ["--shard", options.shard] if options.shard else []
    words += ["--repeat", str(options.repeat)] if options.repeat > 1 else []
    words += ["--routes-only"] if options.routes_only or options.batches else []
    words += ["--config", str(options.config)] if options.asks_model and options.config else []
    return shlex.join(words)


class _Turns:
    """How turns are taken: with scripts, or with a model within a budget and at a common pace.

    Making it asks nobody, and raises a `TurnError` for options that cannot work.
    """

    def __init__(self, options: ReplayOptions, prices: Prices) -> None:
        self._options, self._prices = options, prices
        self._wired: Wired | None = None
        if not options.asks_model:
            return
        self._key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")
        backend = options.backend or "anthropic"
        given = replace(ModelOptions(), backend=backend, config=options.config)
        given = replace(given, base_url=options.base_url, timeout=options.timeout)
        self._wired = wire(given, None)
        if backend != "offline" and not self._key:
            raise AuthError(
                "There is no API key. Set ANTHROPIC_API_KEY; a local server behind --base-url "
                "takes any value."
            )
        if options.budget is not None:
            prices.check(self._wired.services.settings)

    async def take(
        self, work: Sequence[tuple[Case, int]], receive: Callable[[Result], None]
    ) -> None:
        """Take every turn."""
        options, wired, prices = self._options, self._wired, self._prices
        if wired is None:
            await run_all(work, scripted(prices), options.jobs or 1, receive)
            return
        batched = self._batched() if options.batches else None
        # Calls of one batch wait for each other, so all turns have to be under way.
        jobs = max(len(work), 1) if batched else options.jobs or 4
        model: Model = batched or Paced(wired.services.model)
        if options.budget is not None:
            factor = prices.batch_factor if batched else 1
            model = Budgeted(model, options.budget, prices, factor=factor)
        play = live(
            replace(wired.services, model=model),
            prices,
            routes_only=options.routes_only or options.batches,
            batch=options.batches,
            record=options.record,
            secrets=[self._key] if self._key else [],
        )
        try:
            await run_all(work, play, jobs, receive)
        finally:
            for connection in (batched, wired.live):
                if connection is not None:
                    await connection.aclose()

    def _batched(self) -> BatchedModel:
        # The SDK takes over a second to import, and only this needs it here.
        from global_chat.model.batched import BatchedModel  # noqa: PLC0415

        base_url = self._options.base_url or os.environ.get("ANTHROPIC_BASE_URL")
        return BatchedModel(
            api_key=self._key or "",
            base_url=base_url or DEFAULT_BASE_URL,
            poll_seconds=self._options.poll_seconds,
        )
