"""Paths and their conditions: connected, cut, decided otherwise."""

from __future__ import annotations

import re
from typing import Any

from .asking import Ask, CannotDo
from .draft import conditions
from .rewiring import is_after, usual_condition
from .triggers import path_name
from .words import ALWAYS, COME, CONNECT, DISCONNECT, FAILURE, IT, ONLY, PATH, REMOVE, SUCCESS, S, V

_OPERAND = rf"(?:!*{V}|-?\d+(?:\.\d+)?|true|false|null|undefined)"
_EXPRESSION = rf"(?P<expr>!*{V}(?:\s*(?:===|!==|==|!=|>=|<=|>|<|&&|\|\||\+)\s*{_OPERAND})*)(?=\s*(?:$|[.,;)\n\"'`]| (?:and|et|y|e|na|on top|too|as well|also|please|instead|aussi|tambien|tambem|pia)\b))"
_DIRECT = r"(?:directly |straight |directo? |directement |directamente |direkt |diretamente |right |moja kwa moja )?"
_AND = r"\s+(?:to|with|and|on|onto|into|a|au|avec|et|con|y|com|e|ao|na|mit)\s+"
_DETACH = (
    rf"(?:(?:must|should|does|do|shall) not (?:wait for|depend on|come from|be reached from|follow|run after) (?P<x1>{S})"
    rf"|(?:and |et |y |e |,\s*)?(?:no more|no longer|not any ?more|not|instead of|rather than|et plus|plus|au lieu de|ya no|y no|en (?:lugar|vez) de|e nao|ja nao|nao|em vez de|badala ya)\s+{_DIRECT}(?:after |from |on |behind |to |at |sur |de |depuis |desde |en |a |em |kutoka )*(?P<x2>{S}))"
)


def connect(ask: Ask) -> None:
    """Let one step lead to another, with the condition that is named; the old way may go."""
    match = ask.first(
        rf"(?P<b>{S}|{IT})(?: {COME}| (?:should|must|can))?(?: also)?(?: be)?(?: also)? (?:reached|started|called|triggered|entered) (?:only )?(?:from|by|after) (?P<a>{S})",
        rf"(?:hang|attach|hook|append|rattach\w+|accroch\w+|enganch\w+|cuelg\w+|pendur\w+) (?P<b>{S}|{IT}) {_DIRECT}(?:at the end,? )?(?:on|onto|to|after|behind|from|at|a|sur|apres|de|en|despues de|em|depois de)\s+(?P<a>{S})",
        rf"{CONNECT} (?:the )?(?P<a>{S}|{IT}) {_DIRECT}(?:up )?(?:to|with|and|a|au|avec|et|con|y|com|e|ao|na|mit)\s+(?P<b>{S})",
        rf"(?P<a>{S}|{IT}) (?:should|must|doit|debe|deve|lazima) (?:also )?{_DIRECT}(?:lead|go|point|continue|mener|aller|llevar|ir|levar) {_DIRECT}(?:to|a|vers|para)\s+(?P<b>{S})",
        rf"(?:go|from) (?:from )?(?P<a>{S}) {_DIRECT}(?:go )?to (?P<b>{S})",
        rf"(?:add|ajoute[rz]?|agrega|adiciona|acrescenta|weka|ongeza) (?:an? |une? |uma? )?(?:\w+ )?{PATH}(?: d'echec| de fallo| de error| de falha| on failure)? (?:from|de|depuis|desde|kutoka) (?P<a>{S}) (?:to|vers|a|para|ate|kwenda) (?P<b>{S})",
    )
    if match is None:
        return
    source, target = (ask.meant(match, g) for g in ("a", "b"))
    if source == target:
        raise CannotDo("which_step")
    ask.claim(match)
    if is_after(ask.draft, source, target) and not is_after(ask.draft, target, source):
        source, target = target, source  # the other way round would run in a circle
    alarm = re.search(r"\b(?:failure|error|echec|fallo|falha|erreur)\b", match[0])
    named = {"condition_type": "on_job_failure"} if alarm else None
    condition = named or _condition(ask) or _same_condition(ask, source)
    old = _detached(ask, target, source)
    if condition is None and old is not None:
        condition = conditions(old)
    ask.draft.connect(
        source, target, **_as_arguments(condition or {"condition_type": usual_condition(ask.draft)})
    )
    ask.say("connected", path=f"{ask.name(source)} → {ask.name(target)}")


def _as_arguments(condition: dict[str, Any]) -> dict[str, Any]:
    rest = {k: v for k, v in condition.items() if k != "condition_type"}
    return {"condition": condition["condition_type"], **rest}


def _detached(ask: Ask, target: str, source: str) -> dict[str, Any] | None:
    """Cut the paths that the request gives up; the last of them, for its condition."""
    found = None
    for match in [*ask.find(_DETACH)]:
        other = ask.key(match["x1"] or match["x2"])
        edge = ask.draft.between(other, target)
        if edge is None or other == source:
            raise CannotDo("no_path", first=ask.name(other), second=ask.name(target))
        found = ask.draft.edges.pop(edge[0])
        ask.say("cut", path=path_name(ask, found))
        ask.claim(match)
        for again in [*ask.find(rf"(?P<s>{S}|{IT}) ?,?\s*$")]:
            ask.claim(again)
    if found is not None:
        _claim_repeats(ask, target)
    return found


def _claim_repeats(ask: Ask, key: str) -> None:
    """The step that is connected may be named again, as the subject of what it must not do."""
    for match in [*ask.find(r"§(?:\d+|t)")]:
        if ask.key(match[0]) == key:
            ask.claim(match)


def _same_condition(ask: Ask, source: str) -> dict[str, Any] | None:
    """ "with the same condition as today": the condition of the source's way on."""
    match = ask.first(
        r"(?:with |under |avec |con |com |kwa )?(?:the |la |a )?(?:same|meme|misma|mesma) condition\w*(?:[^.;()]*)(?:\([^()]*\))?|(?:con |com |avec )?la (?:misma|meme) condici?t?i?on[^.;()]*(?:\([^()]*\))?|(?:com )?a mesma condicao[^.;()]*(?:\([^()]*\))?"
    )
    if match is None:
        return None
    ways = [e for _, e in ask.draft.outgoing(source)]
    special = [e for e in ways if e.get("condition_type") == "js_expression"] or ways
    if len(special) != 1:
        raise CannotDo("which_path")
    ask.claim(match)
    return conditions(special[0])


def _condition(ask: Ask) -> dict[str, Any] | None:
    """The condition that the request names, if it names one."""
    expression = ask.first(
        rf"(?:{ONLY} )?(?:if|when|on condition|si|quand|cuando|se|quando|ikiwa|kama|:|wenn|condi\w+(?: (?:for|of|on|before|to) (?:this path|§t|§\d+))?(?: (?:to|is|should be|must be|as|a|=))?)\s*:?\s*{_EXPRESSION}"
    )
    if expression:
        ask.claim(expression)
        return {
            "condition_type": "js_expression",
            "condition_expression": _original(ask, expression),
        }
    for kind, words in (
        ("always", ALWAYS),
        ("on_job_failure", FAILURE),
        ("on_job_success", SUCCESS),
    ):
        if match := ask.first(rf"(?:{ONLY} )?{words}"):
            ask.claim(match)
            return {"condition_type": kind}
    return None


def _original(ask: Ask, match: re.Match[str]) -> str:
    text = ask.masked.original(*match.span("expr")).strip()
    return text.strip("`\"'“”").strip()


def disconnect(ask: Ask) -> None:
    """Cut the path between two steps."""
    match = ask.first(
        rf"(?:{DISCONNECT}|{REMOVE}) (?:the |la |le |el |o |a )?(?:{PATH} )?(?:between |entre |from |de |desde |kati ya )?(?P<a>{S}|{IT})(?:\s+(?:and|from|to|et|de|a|y|e|na|hasta|vers|para|con|com|au)\s+)(?:to )?(?P<b>{S})"
        rf"|cut (?:the )?(?:{PATH} )?(?:between |from )(?P<c>{S})(?: (?:and|to) )(?P<d>{S})"
    )
    if match is None:
        _cut_off(ask)
        return
    if not re.search(rf"{PATH}|{DISCONNECT}|cut|between", match[0]):
        return
    ends = ("a", "b") if match["a"] else ("c", "d")
    first, second = (ask.meant(match, end) for end in ends)
    found = ask.draft.between(first, second) or ask.draft.between(second, first)
    if found is None:
        raise CannotDo("no_path", first=ask.name(first), second=ask.name(second))
    ask.say("cut", path=path_name(ask, found[1]))
    ask.draft.edges.pop(found[0])
    ask.claim(match)


def _cut_off(ask: Ask) -> None:
    """ "disconnect X": the one path that leads there goes."""
    match = ask.first(rf"{DISCONNECT} (?P<a>{S})(?!\s+(?:from|and|de|et|y|e|na|to))")
    if match is None:
        return
    ways = ask.draft.incoming(ask.key(match["a"]))
    if len(ways) != 1 or ways[0][1].get("source_trigger"):
        raise CannotDo("which_path")
    ask.say("cut", path=path_name(ask, ways[0][1]))
    ask.draft.edges.pop(ways[0][0])
    ask.claim(match)


def condition(ask: Ask) -> None:
    """Decide a path otherwise: on success, on failure, always, or by an expression."""
    if _extended(ask) or _removed(ask) or _labelled(ask):
        return
    subject = ask.first(
        rf"{PATH} (?:between|from|entre|de|kati ya) (?P<a>{S}|§t)(?:{_AND}|\s+)(?:the )?(?P<b>{S})",
        rf"condition (?:between|from|entre) (?P<a>{S})(?:{_AND})(?P<b>{S})",
        rf"(?P<b>{S}|{IT})(?: {COME})?(?: be)?(?: reached| executed)? (?:{ONLY} )?(?:if|when|after|si|quand|cuando|se|quando|ikiwa|wenn)\s+(?P<a>{S})(?= (?:has |a |ha |tem |is |was )?(?:fail|succ|echou|reuss|fall|exit|work|falh|ime|ends? in))",
        rf"{PATH} (?:that (?:leads|goes) |leading )?(?:to|into|before|vers|avant|a|para|antes de|kwenda) (?P<b>{S})",
        rf"(?:condition|condicion|condicao|sharti)\b(?: \w+){{0,3}} (?:before|for|of|on|to|in front of|avant|devant|de|antes d[eo]|para|ya) (?P<b>{S})",
        rf"(?P<b>{S}|{IT})(?= (?:should |must |may |can |has to |doit |debe |deve |lazima |ne doit )?(?:also |only |just |solo |so |que |tourner |run |iende |correr |ejecutarse |s'executer |partir )*(?:{ONLY}|{SUCCESS}|{FAILURE}|{ALWAYS}))",
        rf"(?:{ONLY} |always |toujours |siempre |sempre )?(?:run|execute|start|reach|do|execute[rz]?|lance[rz]?|ejecuta|executa|endesha) (?P<b>{S}|{IT})",
    )
    groups = subject.groupdict() if subject else {}
    given = _condition(ask)
    if given is None:
        return
    target = ask.meant(subject, "b") if subject else ask.key("§t")
    source = ask.key(groups["a"]) if groups.get("a") else None
    edge = _edge(ask, source, target)
    if conditions(edge) == given:
        raise CannotDo("already_condition", path=path_name(ask, edge))
    _decide(edge, given)
    if subject:
        ask.claim(subject)
    for extra in [
        *ask.find(
            rf"(?:at the moment|now|today|currently|right now)[^.;,]*(?:{ALWAYS}|{SUCCESS}|{FAILURE})|(?:not|and not|instead of|pas|no|nao) (?:{ALWAYS}|{SUCCESS}|{FAILURE})"
        )
    ]:
        ask.claim(extra)
    ask.say("condition", path=path_name(ask, edge), condition=_spoken(edge))


def _decide(edge: dict[str, Any], given: dict[str, Any]) -> None:
    for name in ("condition_type", "condition_expression", "condition_label"):
        edge.pop(name, None)
    edge.update(given)


def _spoken(edge: dict[str, Any]) -> str:
    expression = " ".join(str(edge.get("condition_expression") or "").split())
    return f"`{expression}`" if expression else str(edge.get("condition_type"))


def _edge(ask: Ask, source: str | None, target: str) -> dict[str, Any]:
    """The one path that is meant. Raises CannotDo when there is none, or several."""
    if source is not None:
        found = ask.draft.between(source, target) or ask.draft.between(target, source)
        if found is None:
            raise CannotDo("no_path", first=ask.name(source), second=ask.name(target))
        return found[1]
    ways = [e for _, e in ask.draft.incoming(target)]
    if len(ways) != 1:
        raise CannotDo("which_path")
    if ways[0].get("source_trigger"):
        raise CannotDo("first_step", step=ask.name(target))
    return ways[0]


def _extended(ask: Ask) -> bool:
    """ "should also require X": the condition that is there, and X."""
    match = ask.first(
        rf"(?:also|additionally|aussi|en plus|tambien|ademas|tambem|pia|in addition|require[sd]?|demand|check|exig\w+|verif\w+|pedir|pida)\b[^.;¤§]{{0,40}}{_EXPRESSION}",
    )
    if match is None or not re.search(
        r"condition|condicion|condicao|sharti|require|path|chemin|camino|caminho", ask.masked.norm
    ):
        return False
    if not re.search(
        r"\b(?:also|aussi|en plus|tambien|ademas|tambem|pia|on top|addition\w*|too|as well|igualmente)\b",
        ask.masked.norm,
    ):
        return False
    step = ask.first(
        rf"(?:before|to|for|into|of|avant|devant|antes d[eo]|de|vers|para|a|ya|on)\s+(?P<b>{S})",
        rf"(?P<b>{S})",
    )
    edge = _edge(ask, None, ask.key(step["b"] if step else "§t"))
    new = _original(ask, match)
    old = str(edge.get("condition_expression") or "").strip()
    if edge.get("condition_type") == "js_expression" and old:
        edge["condition_expression"] = f"{_bracketed(old)} && {_bracketed(new)}"
    elif edge.get("condition_type") == "on_job_success":
        _decide(
            edge,
            {
                "condition_type": "js_expression",
                "condition_expression": f"!state.errors && {_bracketed(new)}",
            },
        )
    elif edge.get("condition_type") == "on_job_failure":
        _decide(
            edge,
            {
                "condition_type": "js_expression",
                "condition_expression": f"state.errors && {_bracketed(new)}",
            },
        )
    else:
        _decide(edge, {"condition_type": "js_expression", "condition_expression": new})
    ask.claim(match)
    for extra in [*([step] if step else []), *ask.find(r"on top of [^.;]*|in addition[^.;]*")]:
        ask.claim(extra)
    ask.say("condition", path=path_name(ask, edge), condition=_spoken(edge))
    return True


def _bracketed(expression: str) -> str:
    return (
        f"({expression})"
        if "||" in expression or "?" in expression.replace("?.", "")
        else expression
    )


def _removed(ask: Ask) -> bool:
    """ "drop the condition before X": the path is always taken."""
    match = ask.first(
        rf"(?:{REMOVE}|no|without) (?:the |any |la |el |a )?condi\w+ (?:that is |which is )?(?:before|in front of|to|for|of|on|avant|devant|antes d[eo]|de|para|ya) (?:the path to )?(?P<b>{S})"
        rf"|(?:make )?(?:the )?{PATH} (?:to|before|into) (?P<c>{S}) (?:is |should be |must be )?unconditional"
    )
    if match is None:
        return False
    edge = _edge(ask, None, ask.key(match["b"] or match["c"]))
    if edge.get("condition_type") == "always":
        raise CannotDo("already_condition", path=path_name(ask, edge))
    _decide(edge, {"condition_type": "always"})
    ask.claim(match)
    ask.say("condition", path=path_name(ask, edge), condition="always")
    return True


def _labelled(ask: Ask) -> bool:
    """Another label for a path's condition."""
    if not re.search(r"\b(?:label|libelle|etiquet\w+|rotulo)\b", ask.masked.norm):
        return False
    label = ask.first(
        rf"(?:to|be|read|say|:|is|as|en|a|por|para|=)\s*(?P<label>{V})", rf"(?P<label>{V})"
    )
    step = ask.first(
        rf"(?:before|to|for|into|of|avant|devant|antes d[eo]|de|vers|para)\s+(?P<b>{S})"
    )
    if label is None or ask.value(label["label"]).kind != "quoted":
        return False
    edge = _edge(ask, None, ask.key(step["b"] if step else "§t"))
    edge["condition_label"] = ask.value(label["label"]).value
    for match in (label, *([step] if step else [])):
        ask.claim(match)
    ask.say("label", path=path_name(ask, edge), label=str(edge["condition_label"]))
    return True
