"""Scripted cases in processes: each worker takes one case at a time, and may die of it."""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from .prices import Prices
from .run import Enough, Judged, Tell, Work, crashed, guarded, scripted_play

#: Where processes come from: one that has the program imported already, and no threads.
_CONTEXT = multiprocessing.get_context("forkserver")


def run_in_processes(work: Sequence[Work], prices: Prices, jobs: int, tell: Tell) -> None:
    """Run `jobs` processes until the work is done. A case that kills its process is that one lost.

    Ends early, without raising, on `Enough`.
    """
    _CONTEXT.set_forkserver_preload([__name__])
    results: queue.SimpleQueue[Judged] = queue.SimpleQueue()
    shared = _Shared(work)
    with ThreadPoolExecutor(jobs) as threads:
        keepers = [threads.submit(_keep, shared, prices, results) for _ in range(jobs)]
        try:
            for _ in work:
                tell(*results.get())
        except Enough:
            pass
        finally:
            shared.stop()
    for keeper in keepers:
        keeper.result()


class _Shared:
    """The work that is left, for several threads."""

    def __init__(self, work: Sequence[Work]) -> None:
        self._left: Iterator[Work] = iter(work)
        self._lock = threading.Lock()

    def next(self) -> Work | None:
        with self._lock:
            return next(self._left, None)

    def stop(self) -> None:
        with self._lock:
            self._left = iter(())


class _Worker:
    """One process and the line to it."""

    def __init__(self, prices: Prices) -> None:
        self._line, theirs = _CONTEXT.Pipe()
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=_serve, args=(theirs, prices), daemon=True
        )
        self._process.start()
        theirs.close()

    def run(self, work: Work) -> Judged | None:
        """The result of one case; None when the process died of it."""
        try:
            self._line.send(work)
            judged: Judged = self._line.recv()
        except (EOFError, OSError):
            return None
        return judged

    def why_it_died(self) -> str:
        self._process.join()
        code = self._process.exitcode or 0
        return f"the process died of it ({signal.Signals(-code).name if code < 0 else code})"

    def close(self) -> None:
        self._line.close()
        self._process.join()


def _keep(shared: _Shared, prices: Prices, results: queue.SimpleQueue[Judged]) -> None:
    """Keep one process busy; start another when it dies."""
    worker: _Worker | None = None
    while (work := shared.next()) is not None:
        worker = worker or _Worker(prices)
        judged = worker.run(work)
        if judged is None:
            judged, worker = (crashed(work, worker.why_it_died()), None), None
        results.put(judged)
    if worker is not None:
        worker.close()


def _serve(line: Connection, prices: Prices) -> None:
    """What a process does: a case comes, a result goes, until nobody is there any more."""
    # Ctrl-C reaches every process of the terminal; the one that was started decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    play = scripted_play(prices)
    with asyncio.Runner() as runner:
        while True:
            try:
                work: Work = line.recv()
            except EOFError:
                return
            try:
                line.send(runner.run(guarded(work, play)))
            except BrokenPipeError:
                return
