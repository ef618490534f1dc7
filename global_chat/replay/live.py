"""Live runs: the same turns with a model that answers, within a budget and a common pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from global_chat.agents.context import Services
from global_chat.model.recording import Recording

from .budget import BudgetSpent
from .compare_live import live_differences
from .judge import judge
from .keep import keep
from .play import play_live
from .prices import Prices
from .run import Judged, Play, Work


@dataclass(frozen=True, slots=True)
class Live:
    """How live turns are taken. `secrets` never reach a recording."""

    services: Services
    prices: Prices
    routes_only: bool = False
    batch: bool = False
    record: Path | None = None
    secrets: Sequence[str] = ()


def live_play(live: Live) -> Play:
    """Plays a case with the services' model and judges what came."""

    async def play(work: Work) -> Judged:
        case, services = work.case, live.services
        recording = Recording(services.model, live.secrets) if live.record else None
        if recording is not None:
            services = replace(services, model=recording)
        outcome = await play_live(case, services, routes_only=live.routes_only)
        found = live_differences(case, outcome, routes_only=live.routes_only)
        result, evidence = judge(
            case,
            outcome,
            live.prices,
            number=work.number,
            scripted=False,
            found=found,
            batch=live.batch,
        )
        spent = next((x.error for x in outcome.exchanges if isinstance(x.error, BudgetSpent)), None)
        if spent is not None:
            why = (spent.message,)
            return result.model_copy(update={"status": "stopped", "differences": why}), None
        if recording is not None and live.record is not None:
            keep(live.record, case, work.number, recording, outcome)
        return result, evidence

    return play
