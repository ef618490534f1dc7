"""What `replay` does: read the cases, run them, report; or look at earlier runs."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.syntax import Syntax

from global_chat.contract.errors import AuthError, BadRequest, TurnError
from global_chat.disk.reading import read_text
from global_chat.disk.writing import check_writable, write_atomically, write_together
from global_chat.model.anthropic import DEFAULT_BASE_URL
from global_chat.model.prices import Budgeted, Prices, parse_prices
from global_chat.model.seam import Model
from global_chat.render.live import console
from global_chat.render.text import Stream, clean, counted, diff_lines
from global_chat.render.wording import error_text
from global_chat.replay import report
from global_chat.replay.cases import Case, collect, matching, read_labelled, shard
from global_chat.replay.history import History, Run
from global_chat.replay.play import play_script
from global_chat.replay.result import ACCESS_ERRORS, Result
from global_chat.replay.run import Paced, StopRun, live, run_all, scripted
from global_chat.replay.summary import Summary, compare_runs
from global_chat.replay.update import kept_in, update_of

from .options import ModelOptions
from .replay import ReplayOptions
from .wiring import read_settings, wire

#: The trend of a report has at most this many runs before its own.
TREND_RUNS = 30

Work = Sequence[tuple[Case, int]]
TakeTurns = Callable[[Work, Callable[[Result], None]], Coroutine[Any, Any, None]]


def run_replay(options: ReplayOptions) -> int:
    """Run the command and return the exit code. Failures are reported on standard error."""
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
        self._errors.print(clean(text), markup=False)

    def run(self) -> int:
        options = self._options
        words = [str(path) for path in options.paths or ()]
        if words == ["history"] or (words[:1] == ["compare"] and len(words) == 3):
            with History(options.history) as history:
                return self._look_back(history, words[1:])
        if words[:1] in (["history"], ["compare"]) and not Path(words[0]).exists():
            runs = "`replay compare A B` with two of its runs, such as last~1 and last"
            raise BadRequest(f"Use `replay history`, or {runs}.")
        _check(options)
        cases = self._selected()
        if options.update:
            return self._update(cases)
        prices = parse_prices()
        if options.prices is not None:
            prices = parse_prices(read_text(options.prices), str(options.prices))
        take_turns = (_with_model if options.asks_model else _with_scripts)(options, prices)
        self._check_outputs(cases)
        with History(options.history) as history:
            return self._replay(history, cases, take_turns)

    def _check_outputs(self, cases: Sequence[Case]) -> None:
        """Raise `BadRequest` when an output cannot be written or would replace an input."""
        options = self._options
        read = {file for case in cases for file in case.files}
        read |= {file for file in (options.history, options.prices, options.config) if file}
        outputs = [path for path in (options.junit, options.html) if path]
        check_writable(outputs, inputs=sorted(read))
        if options.record is not None:
            check_writable([options.record / "case.yaml"], create=options.record)
            read_from = {case.path.parent.resolve() for case in cases}
            for case in cases:
                if (folder := kept_in(options.record, case)).resolve() in read_from:
                    raise BadRequest(
                        f"--record would replace the case in {folder}; name another folder."
                    )

    def _look_back(self, history: History, names: Sequence[str]) -> int:
        """List all runs, or compare two; the exit code is 1 when something broke in between."""
        runs = [history.run(name) for name in names] or history.runs()
        summed = [(run, Summary(history.results(run))) for run in runs]
        if not names:
            report.show_runs(self._screen, summed)
            return 0
        found = compare_runs(summed[0][1].results, summed[1][1].results)
        report.show_comparison(self._screen, summed[0], summed[1], found)
        return int(any(change.kind == "broken" for change in found))

    def _selected(self) -> Sequence[Case]:
        """The cases that the options name, of the kind that the backend can answer."""
        options = self._options
        if not options.paths and not options.routes:
            raise BadRequest("Name folders of cases, or a file of labelled requests with --routes.")
        cases = list(collect(options.paths or ()))
        settings = read_settings(options.config)
        for file in options.routes or ():
            cases += read_labelled(file, settings)
        chosen = shard(matching(cases, options.filters or ()), options.shard or "1/1")
        if not chosen:
            raise BadRequest("No case is left: --filter or --shard leaves them all out.")
        if not options.asks_model:
            if all(case.script for case in chosen):
                return chosen
            who = "say who answers them, with --live or --backend offline"
            raise BadRequest(f"Labelled requests have no script: {who}.")
        labelled = [case for case in chosen if case.label]
        if not labelled:
            raise BadRequest("None of these cases has a route label, so none can be run live.")
        if left_out := len(chosen) - len(labelled):
            why = "without a route label nothing can be judged live"
            self._say(f"Left out: {counted(left_out, 'case')}, because {why}.")
        return labelled

    def _replay(self, history: History, cases: Sequence[Case], take_turns: TakeTurns) -> int:
        options = self._options
        backend = options.backend or "anthropic" if options.asks_model else "scripted"
        begin = history.resume if options.resume else history.begin
        run = begin(backend, _selection(options))

        def left() -> Work:
            """What is to be done, a whole round of cases before the next repetition."""
            done = {(r.case, r.number, r.fingerprint) for r in history.results(run) if r.is_final}
            rounds = ((case, n) for n in range(1, options.repeat + 1) for case in cases)
            return [(case, n) for case, n in rounds if (case.id, n, case.fingerprint) not in done]

        interrupted = False
        try:
            self._carry_out(history, run, left(), take_turns)
        except KeyboardInterrupt:
            interrupted = True
        summary = self._report(history, run, cases)
        if count := len(left()):
            to_go = f"{counted(count, 'turn')} to go"
            self._say(f"The run is not complete: {to_go}. Go on with --resume.")
        else:
            history.end(run)
        return 130 if interrupted else int(bool(count or summary.failed))

    def _carry_out(self, history: History, run: Run, work: Work, take_turns: TakeTurns) -> None:
        failed, lost = 0, None
        with report.progress(self._errors) as bar:
            task = bar.add_task("", total=len(work), failed="")

            def receive(result: Result) -> None:
                nonlocal failed, lost
                try:
                    history.add(run, result)
                except BadRequest as error:
                    lost = error
                    raise StopRun from error
                failed += result.failed
                count = f"{failed} failed" if failed else ""
                bar.update(task, advance=1, description=clean(result.case), failed=count)
                self._stop_after(result)

            asyncio.run(take_turns(work, receive))
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
            Stream(sys.stdout).json(report.json_report(run, summary))
        else:
            report.show_run(self._screen, run, summary)
        if self._options.junit is not None:
            write_atomically(self._options.junit, report.junit_report(run, summary))
        if self._options.html is not None:
            earlier = [(one, Summary(found)) for one, found in history.earlier(run, TREND_RUNS)]
            write_atomically(self._options.html, report.html_report(run, summary, earlier))
        return summary

    def _update(self, cases: Sequence[Case]) -> int:
        """Show how the case files would change, and change them when that is wanted.

        The exit code is 1 when a difference is left that only a person can settle, or when
        nothing was written because nobody could be asked.
        """
        updates = [u for case in cases if (u := update_of(asyncio.run(play_script(case))))]
        if not updates:
            self._screen.print("Every case expects what came out. Nothing to update.")
            return 0
        changing = [u for u in updates if u.before != u.after]
        for one in changing:
            diff = clean("\n".join((f"--- {one.path}", *diff_lines(one.before, one.after))))
            self._screen.print(Syntax(diff, "diff", background_color="default", word_wrap=True))
        for path, difference in ((u.path, text) for u in updates for text in u.left):
            self._say(f"{path}: {difference}")
        if changing and not self._options.yes:
            if not sys.stdin.isatty():
                self._say("Nothing was written. Look at the differences, then add --yes.")
                return 1
            if not typer.confirm(f"Write {counted(len(changing), 'file')}?"):
                return 1
        write_together({one.path: one.after for one in changing})
        self._screen.print(f"Updated {len(changing)} of {len(cases)} cases.")
        return int(any(one.left for one in updates))


def _check(options: ReplayOptions) -> None:
    """Raise `BadRequest` for options that contradict each other."""
    if options.live and options.backend == "scripted":
        raise BadRequest("--live asks a model, so it cannot be combined with --backend scripted.")
    if options.batches and options.backend == "offline":
        raise BadRequest(
            "--batches asks the provider, so it cannot be combined with --backend offline."
        )
    for name in ("routes_only", "batches", "record", "budget"):
        if getattr(options, name) not in (None, False) and not options.asks_model:
            raise BadRequest(f"--{name.replace('_', '-')} is for live runs: add --live.")


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


def _with_scripts(options: ReplayOptions, prices: Prices) -> TakeTurns:
    play = scripted(prices)
    return lambda work, receive: run_all(work, play, options.jobs or 1, receive)


def _with_model(options: ReplayOptions, prices: Prices) -> TakeTurns:
    """Turns with a model, within the budget and at a common pace.

    Asks nobody yet. Raises a `TurnError` for options that cannot work.
    """
    key = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")
    given = ModelOptions(backend=options.backend or "anthropic", base_url=options.base_url)
    wired = wire(replace(given, timeout=options.timeout, config=options.config), None)
    if options.backend != "offline" and not key:
        local = "a local server behind --base-url takes any value"
        raise AuthError(f"There is no API key. Set ANTHROPIC_API_KEY; {local}.")
    if options.budget is not None:
        settings = wired.services.settings
        agents = (settings.router, settings.workflow_agent, settings.job_code_agent)
        for agent in (*agents, settings.planner):
            prices.of(agent.model)

    async def take(work: Work, receive: Callable[[Result], None]) -> None:
        model: Model = Paced(wired.services.model)
        connections: list[Any] = [wired.live] if wired.live else []
        jobs, factor = options.jobs or 4, 1.0
        if options.batches:
            # The SDK takes over a second to import, and only this needs it here.
            from global_chat.model.batched import BatchedModel  # noqa: PLC0415

            url = options.base_url or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL
            model = BatchedModel(api_key=key or "", base_url=url, poll_seconds=options.poll_seconds)
            connections.append(model)
            # Calls of one batch wait for each other, so all turns have to be under way.
            jobs, factor = max(len(work), 1), prices.batch_factor
        if options.budget is not None:
            model = Budgeted(model, options.budget, prices, factor=factor)
        play = live(
            replace(wired.services, model=model),
            prices,
            # Without a model there is a router and nobody behind it.
            routes_only=options.routes_only or options.batches or options.backend == "offline",
            batch=options.batches,
            record=options.record,
            secrets=[key] if key else [],
        )
        try:
            await run_all(work, play, jobs, receive)
        finally:
            for connection in connections:
                await connection.aclose()

    return take
