"""Steps added, removed and moved."""

from __future__ import annotations

import re

from .asking import Ask, CannotDo
from .rewiring import (
    bridge,
)
from .words import (
    AND,
    IT,
    NOUN,
    PATH,
    REMOVE,
    S,
)


def remove(ask: Ask) -> None:
    """Remove the steps that are named, with their paths; what is left in between is connected."""
    verb = rf"{REMOVE}[- ](?:the |las? |les |l[eo]s? |el |o |a )?(?:steps? |{NOUN} )?"
    unneeded = (
        r"(?:(?:is|are|'s) (?:no longer|not|no more) (?:needed|used|necessary)(?: any ?more)?"
        r"|(?:is|are) (?:useless|superfluous|obsolete)(?: now)?|n'est plus (?:utile"
        r"|necessaire)|ya no (?:se necesita|hace falta|sirve)|ja nao e preciso"
        r"|haihitajiki tena)"
    )
    patterns = (
        rf"{verb}(?P<steps>{S}(?:{AND}{S})*)(?! (?:path|edge|connection|condition))",
        rf"(?P<steps2>{S}(?:{AND}{S})*) {unneeded}",
        rf"(?:we |i )?(?:do not|don't|no longer) need (?P<steps3>{S}(?:{AND}{S})*)(?: any ?more)?",
        (
            rf"(?:take|throw) (?P<steps4>{S}(?:{AND}{S})*) (?:out|away)(?: of the (?:chain"
            r"|flow|workflow))?"
        ),
        (
            rf"{REMOVE}[- ](?P<steps5>{IT})\b(?! (?:path|edge|connection|condition|line|log"
            r"|field|comment))"
        ),
    )
    for pattern in patterns:
        for match in [*ask.find(pattern)]:
            text = next(v for k, v in match.groupdict().items() if k.startswith("steps") and v)
            keys = [ask.key(t) for t in re.findall(r"§(?:\d+|t)", text)] or [ask.key("§t")]
            ask.claim(match)
            for key in dict.fromkeys(keys):
                _remove(ask, key)
    if ask.said:
        for extra in [
            *ask.find(
                r"(?:and |et |y |e |na )?(?:connect|join|link|reconnect|relie|conecta"
                r"|une|liga)[^.;]*(?:neighbou?rs?|others?|rest|two|around it|voisin\w*"
                r"|vecin\w*|vizinh\w*|demas|autres)\b|(?:and|with) (?:its|their"
                rf"|all its) (?:{PATH})"
            )
        ]:
            ask.claim(extra)


def _remove(ask: Ask, key: str) -> None:
    draft = ask.draft
    if len(draft.jobs) == 1:
        raise CannotDo("last_step")
    name = ask.name(key)
    connected = bridge(draft, key)
    draft.remove_step(key)
    ask.say("removed", name=name)
    for source, target in connected:
        start = ask.name(source) if source in draft.jobs else source
        ask.say("reconnected", path=f"{start} → {ask.name(target)}")
