"""Errors of operations: a `.catch(...)` added, or taken out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .asking import CodeAsk, Elsewhere, Refused, V
from .javascript import Code

if TYPE_CHECKING:
    from tree_sitter import Node

_REMOVE = (
    r"(?:remove|delete|drop|take|get rid of|strip|enleve[rz]?|retire[rz]?|supprime[rz]?"
    r"|quit(?:a|ar|e)|elimin(?:a|ar)|sac(?:a|ar)|tir(?:a|ar|e)|remov(?:a|er)|ondoa|toa)"
)
_CATCH = r"(?:\.?catch(?:es|ing)?(?: block| handler)?|error handl(?:ing|er)|try[ /-]?catch)"
_WISH = (
    r"(?:catch|wrap|handle (?:the )?errors?|error handling|try[ /-]?catch|attrape[rz]?"
    r"|intercepte[rz]?|gere[rz]? les erreurs|captur(?:a|ar|e)|manej(?:a|ar)|trat(?:a|ar)"
    r"|shika makosa)"
)
_PLAIN = frozenset(("fn", "fnIf", "each", "cursor", "dataPath", "fields", "combine", "execute"))


def remove_catch(ask: CodeAsk) -> None:
    """Take `.catch(...)` out, so that an error ends the step again."""
    match = ask.first(
        rf"{_REMOVE}(?: (?:the|this|that|all|le|la|les|el|los|o|os|out))* {_CATCH}(?:es)?(?: out)?",
        rf"(?:without|no) (?:the |a |any )?{_CATCH}",
        rf"{_REMOVE} (?:the |el |le |o )?{V} out",
    )
    if match is None:
        return
    if re.search(V, match[0]) and ask.value(match[0]).value not in (".catch", "catch"):
        return
    spots = [
        (chain, call)
        for call in ask.code.walk("call_expression")
        if (chain := _caught(ask.code, call))
    ]
    if not spots:
        raise Elsewhere
    replacements = [(ask.code.span(inner)[1], ask.code.span(call)[1], "") for inner, call in spots]
    ask.become(ask.code.with_replacements(replacements))
    ask.claim(match)
    for extra in [
        *ask.find(
            r"(?:of|from|in|de|dans|en|do|da) (?:the code|this|here|aqui|ici)"
            r"|i want (?:it|this) to fail[^.;]*|(?:it|this) (?:should|must) fail[^.;]*"
            r"|when [^.;]*"
        )
    ]:
        ask.claim(extra)
    ask.say("removed_catch")


def _caught(code: Code, call: Node) -> Node | None:
    """The operation that a `.catch(...)` is chained to."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "member_expression":
        return None
    name, inner = function.child_by_field_name("property"), function.child_by_field_name("object")
    return inner if name is not None and inner is not None and code.of(name) == "catch" else None


def add_catch(ask: CodeAsk) -> None:
    """Catch the errors of the operation that reaches out; keep the message where asked."""
    match = ask.first(rf"{_WISH}\b[^.;,¤§]*")
    if match is None:
        return
    operations = [
        o
        for o in ask.code.operations()
        if ask.code.called(ask.code.first_call(o)) not in _PLAIN - {"each"}
    ]
    if len(operations) != 1:
        raise Refused("which_operation")
    operation = operations[0]
    if any(
        _caught(ask.code, c)
        for c in ask.code.walk("call_expression")
        if c.start_byte >= operation.start_byte and c.end_byte <= operation.end_byte
    ):
        raise Refused("already_caught")
    ask.claim(match)
    lines = [*_kept(ask), "return state;"]
    end = ask.code.span(operation)[1]
    body = "".join(f"\n  {line}" for line in lines)
    ask.become(f"{ask.code.text[:end]}.catch((error, state) => {{{body}\n}}){ask.code.text[end:]}")
    for extra in [
        *ask.find(
            r"(?:and |then |et |y |e |na |just )?(?:go on|continue|carry on|keep going"
            r"|return state|do not (?:stop|fail)|continue[rz]?|sigue|seguir|continua\w*"
            r"|endelea)\b[^.;]*|(?:the run|this|it|everything) (?:must|should"
            r"|shall) not (?:stop|fail|kill|break|be red)[^.;]*|(?:if|when|quand|si"
            r"|cuando|se|quando)\b[^.,;¤]*(?:down|fails?|doesn't|does not|refuses?"
            r"|error\w*|not answer|red|echoue|falla|falha)[^.,;¤]*|(?:i )?(?:don't|dont"
            r"|do not) want[^.,;¤]*"
        )
    ]:
        ask.claim(extra)
    ask.say("added_catch", operation=ask.code.called(ask.code.first_call(operation)))


def _kept(ask: CodeAsk) -> list[str]:
    """Where the error's message goes: a key of the state, the console, or both."""
    keep = ask.first(
        r"(?:keep|put|store|save|write|collect|garde[rz]?|mets|stocke[rz]?"
        r"|enregistre[rz]?|guarda\w*|pon|guarda|grava|poe|coloca|hifadhi|weka) (?:the "
        r"|le |la |el |o |its |his )?(?:error(?:'s)? )?(?:error|message|it|reason|erreur"
        r"|mensaje|erro|mensagem|ujumbe|kosa)(?: message)? (?:in|on|to|under|into|as"
        rf"|dans|en|em|katika|kwenye) (?P<key>{V})"
    )
    lines = []
    if keep:
        key = ask.value(keep["key"]).value
        if not re.fullmatch(r"state\.[A-Za-z_]\w*", key):
            raise Refused("not_understood")
        lines.append(f"{key} = error.message;")
        ask.claim(keep)
    log = ask.first(
        r"(?:log|print|console|affiche|loggue|imprime|registra|mostra)\w* (?:the |le |la "
        r"|el |o |only )?(?:error|message|it|erreur|mensaje|mensagem|erro)?(?:'s message"
        r"| message)?"
    )
    if log or not keep:
        lines.append("console.error(error.message);")
        if log:
            ask.claim(log)
    return lines
