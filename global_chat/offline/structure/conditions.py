"""When a path is taken: on success, on failure, always, or by an expression."""

from __future__ import annotations

import re
from typing import Any

from .asking import Ask, CannotDo
from .draft import conditions
from .triggers import path_name
from .words import ALWAYS, COME, FAILURE, IT, JOIN, ONLY, PATH, REMOVE, SUCCESS, S, V

_OPERAND = rf"(?:!*{V}|-?\d+(?:\.\d+)?|true|false|null|undefined)"


_EXPRESSION = (
    rf"(?P<expr>!*{V}(?:\s*(?:===|!==|==|!=|>=|<=|>|<|&&|\|\||\+)\s*{_OPERAND})*)(?=\s*(?:$"
    r"|[.,;)\n\"'`]| (?:and|et|y|e|na|on top|too|as well|also|please|instead|aussi|tambien"
    r"|tambem|pia)\b))"
)


def named_condition(ask: Ask) -> dict[str, Any] | None:
    """The condition that the request names, if it names one."""
    expression = ask.first(
        rf"(?:{ONLY} )?(?:if|when|on condition|si|quand|cuando|se|quando|ikiwa|kama|:"
        r"|wenn|condi\w+(?: (?:for|of|on|before|to) (?:this path|§t|§\d+))?(?: (?:to|is"
        rf"|should be|must be|as|a|=))?)\s*:?\s*{_EXPRESSION}"
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


#: How the path is named whose condition changes: by its ends (`a`, `b`), or by its target alone.
_SUBJECTS = (
    rf"{PATH} (?:between|from|entre|de|kati ya) (?P<a>{S}|§t)(?:{JOIN}|\s+)(?:the )?(?P<b>{S})",
    rf"condition (?:between|from|entre) (?P<a>{S})(?:{JOIN})(?P<b>{S})",
    (
        rf"(?P<b>{S}|{IT})(?: {COME})?(?: be)?(?: reached| executed)? (?:{ONLY} )?(?:if"
        rf"|when|after|si|quand|cuando|se|quando|ikiwa|wenn)\s+(?P<a>{S})(?= (?:has |a "
        r"|ha |tem |is |was )?(?:fail|succ|echou|reuss|fall|exit|work|falh|ime"
        r"|ends? in))"
    ),
    (
        rf"{PATH} (?:that (?:leads|goes) |leading )?(?:to|into|before|vers|avant|a|para"
        rf"|antes de|kwenda) (?P<b>{S})"
    ),
    (
        rf"(?:condition|condicion|condicao|sharti)\b(?: \w+){{0,3}} (?:before|for|of|on"
        rf"|to|in front of|avant|devant|de|antes d[eo]|para|ya) (?P<b>{S})"
    ),
    (
        rf"(?P<b>{S}|{IT})(?= (?:should |must |may |can |has to |doit |debe |deve "
        r"|lazima |ne doit )?(?:also |only |just |solo |so |que |tourner |run |iende "
        rf"|correr |ejecutarse |s'executer |partir )*(?:{ONLY}|{SUCCESS}|{FAILURE}"
        rf"|{ALWAYS}))"
    ),
    (
        rf"(?:{ONLY} |always |toujours |siempre |sempre )?(?:run|execute|start|reach|do"
        rf"|execute[rz]?|lance[rz]?|ejecuta|executa|endesha) (?P<b>{S}|{IT})"
    ),
)
_ALSO = (
    r"\b(?:also|aussi|en plus|tambien|ademas|tambem|pia|on top|addition\w*|too"
    r"|as well|igualmente)\b"
)


def condition(ask: Ask) -> None:
    """Decide a path otherwise: on success, on failure, always, or by an expression."""
    if _extended(ask) or _removed(ask) or _labelled(ask):
        return
    subject = ask.first(*_SUBJECTS)
    groups = subject.groupdict() if subject else {}
    given = named_condition(ask)
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
            rf"(?:at the moment|now|today|currently|right now)[^.;,]*(?:{ALWAYS}"
            rf"|{SUCCESS}|{FAILURE})|(?:not|and not|instead of|pas|no|nao) (?:{ALWAYS}"
            rf"|{SUCCESS}|{FAILURE})"
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
        (
            r"(?:also|additionally|aussi|en plus|tambien|ademas|tambem|pia|in addition"
            r"|require[sd]?|demand|check|exig\w+|verif\w+|pedir"
            rf"|pida)\b[^.;¤§]{{0,40}}{_EXPRESSION}"
        ),
    )
    if match is None or not re.search(
        r"condition|condicion|condicao|sharti|require|path|chemin|camino|caminho", ask.masked.norm
    ):
        return False
    if not re.search(_ALSO, ask.masked.norm):
        return False
    step = ask.first(
        rf"(?:before|to|for|into|of|avant|devant|antes d[eo]|de|vers|para|a|ya|on)\s+(?P<b>{S})",
        rf"(?P<b>{S})",
    )
    edge = _edge(ask, None, ask.key(step["b"] if step else "§t"))
    _decide(edge, _with(edge, _original(ask, match)))
    ask.claim(match)
    for extra in [*([step] if step else []), *ask.find(r"on top of [^.;]*|in addition[^.;]*")]:
        ask.claim(extra)
    ask.say("condition", path=path_name(ask, edge), condition=_spoken(edge))
    return True


def _with(edge: dict[str, Any], new: str) -> dict[str, Any]:
    """The path's condition, and `new` on top of it."""
    old = {
        "js_expression": _bracketed(str(edge.get("condition_expression") or "").strip()),
        "on_job_success": "!state.errors",
        "on_job_failure": "state.errors",
    }.get(str(edge.get("condition_type")), "")
    expression = f"{old} && {_bracketed(new)}" if old else new
    kept = conditions(edge) if edge.get("condition_type") == "js_expression" else {}
    return {**kept, "condition_type": "js_expression", "condition_expression": expression}


def _bracketed(expression: str) -> str:
    return (
        f"({expression})"
        if "||" in expression or "?" in expression.replace("?.", "")
        else expression
    )


def _removed(ask: Ask) -> bool:
    """ "drop the condition before X": the path is always taken."""
    match = ask.first(
        rf"(?:{REMOVE}|no|without) (?:the |any |la |el |a )?condi\w+ (?:that is "
        r"|which is )?(?:before|in front of|to|for|of|on|avant|devant|antes d[eo]|de"
        rf"|para|ya) (?:the path to )?(?P<b>{S})"
        rf"|(?:make )?(?:the )?{PATH} (?:to|before|into) (?P<c>{S}) (?:is |should be "
        r"|must be )?unconditional"
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
