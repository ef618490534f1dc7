"""Plans the triggers of a merge. A trigger is switched on or off only when the request says so."""

from __future__ import annotations

from dataclasses import replace

from global_chat.workflow.merging.intent import Intent
from global_chat.workflow.merging.match import match_triggers, traces
from global_chat.workflow.merging.plan import Findings, Names, Planned, Request, fresh_id
from global_chat.workflow.parts import Trigger
from global_chat.workflow.reading.forms import Layout
from global_chat.workflow.reading.source import Source


def plan_triggers(
    old: Layout, source: Source, reply: Layout, request: Request, found: Findings
) -> list[Planned[Trigger]]:
    """The triggers of the result, one for each of the reply, which `source` holds."""
    before = tuple(p.part for p in old.triggers)
    hints = [traces(source, p, "trigger", reply.body_key) for p in reply.triggers]
    partners = match_triggers(before, [p.part for p in reply.triggers], hints)
    kept = {t.key for t in partners if t}
    for trigger in before:
        allowed = request.intent.may_remove_trigger(trigger.key, confirmed=request.confirmed)
        if trigger.key not in kept and not allowed:
            found.problems.append(
                f"The reply leaves out the trigger `{trigger.key}`. If the request asks to remove "
                "it, leave it out again; otherwise include it, unchanged."
            )
    steps = (*old.steps, *reply.steps) if old.form == "steps" else ()
    pairs = list(zip((p.part for p in reply.triggers), partners, strict=True))
    changed = {part.key: _kept_trigger(part, t, request.intent) for part, t in pairs if t}
    keys = Names((*(t.key for t in changed.values()), *(p.part.key for p in steps)))
    return [
        Planned(partner, changed.get(part.key) or _new_trigger(part, old, keys, request.intent))
        for part, partner in pairs
    ]


def _new_trigger(part: Trigger, old: Layout, keys: Names, intent: Intent) -> Trigger:
    """A trigger that the document has not: off, and written so, unless it is to be switched on."""
    return replace(
        part,
        key=keys.unique(part.key, "-"),
        enabled=bool(part.enabled) and intent.may_switch(True, trigger=True),
        id=fresh_id((p.part.id for p in old.triggers), old),
        line=0,
    )


def _kept_trigger(part: Trigger, old: Trigger, intent: Intent) -> Trigger:
    """A trigger that changes type loses its schedule and nothing else. `enabled` changes when the
    request is about switching, the key when the type does or the request says it."""
    type_ = part.type or old.type
    cron = part.cron_expression or old.cron_expression
    same = (cron or "").split() == (old.cron_expression or "").split()
    if same or (type_ == old.type != "cron"):
        cron = old.cron_expression
    if type_ not in ("cron", old.type):
        cron = None
    enabled = old.enabled
    if part.enabled not in (None, old.enabled is not False):
        enabled = part.enabled if intent.may_switch(bool(part.enabled), trigger=True) else enabled
    renamed = type_ != old.type or intent.mentions(part.key)
    key = part.key if renamed else old.key
    return replace(old, key=key, type=type_, cron_expression=cron, enabled=enabled)
