"""Console lines put into code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .asking import CodeAsk, Refused, V
from .javascript import Code

if TYPE_CHECKING:
    from tree_sitter import Node


_POSITION_LAST = (
    r"(?:just |right )?(?:before|above|avant|antes d[eo]l?|kabla ya) (?:the |le |el "
    r"|o )?(?:last |final |dernier |ultimo )?(?:return(?: state)?|¤\d+)|at the (?:very )?end"
    r"|as the last (?:line|thing)|a la fin|al final|no fim|mwisho\w*"
)


_POSITION_FIRST = (
    r"at the (?:very )?(?:top|beginning|start)|as the first (?:line|thing)|first thing|on top"
    r"|au debut|en haut|al principio|no inicio|no topo|mwanzo\w*"
)


_LOG = (
    r"(?:add|put|insert|include|write|print|log|display|show|affiche[rz]?|ajoute[rz]?|mets"
    r"|logue[rz]?|imprim(?:e|ir|a)|agreg(?:a|ar|ue)|anade|muestra|pon|registra|adiciona"
    r"|acrescenta|imprime|mostra|coloca|ongeza|andika|onyesha)"
)


_SHOW = (
    r"(?:print|log|display|show|affiche[rz]?|logue[rz]?|imprim(?:e|ir|a)|muestra|registra"
    r"|imprime|mostra|andika kwenye log|onyesha)"
)


def add_console(ask: CodeAsk) -> None:
    """Add a console line whose text or expression the request gives."""
    text = ask.masked.text
    given = re.search(r"console\.(?:log|error|warn|info)\((?:[^()]|\([^()]*\))*\);?", text)
    if given:
        _insert(ask, given[0].rstrip(";") + ";")
        norm_start = next((i for i, p in enumerate(ask.masked.places) if p >= given.start()), 0)
        norm_end = next(
            (i for i, p in enumerate(ask.masked.places) if p >= given.end()), len(ask.masked.norm)
        )
        ask.claimed.append((norm_start, norm_end))
        for extra in [
            *ask.find(
                rf"{_LOG}(?: an?| the| un| une| uma?)?(?: (?:console|log)?\s?(?:line"
                r"|statement|call))?"
            ),
            *ask.find(rf"{_POSITION_LAST}|{_POSITION_FIRST}"),
        ]:
            ask.claim(extra)
        return
    match = ask.first(
        rf"(?:{_SHOW}|{_LOG} (?:an? |the |une? |uma? |la |el )?(?:log"
        r"|console)(?: line)?(?: with| saying| that says)?) (?:also |out |the value of "
        r"|the |aussi |tambien |tambem |la valeur de |el valor de "
        rf"|o valor de )*(?P<value>{V})(?:\([^()]*\))?(?= *(?:$|[.,;]"
        r"|at the|a la fin|al final|no fim"
        r"|before|avant|here|§|please|to the console|in the log|in (?:every|all|each)))"
    )
    if match is None:
        return
    value = ask.value(match["value"])
    expression = value.value
    if re.fullmatch(r"(?:state|\$|Object|JSON)(?:\.[\w$?]+)+", expression) or (
        value.kind == "identifier" and "." in expression
    ):
        start = ask.masked.places[match.start("value")]
        call = re.match(re.escape(expression) + r"(?:\((?:[^()]|\([^()]*\))*\))?", text[start:])
        expression = call[0] if call else expression
        _insert(ask, f"console.log({expression});")
        if call and call.end() > len(value.value):
            end = next(i for i, p in enumerate(ask.masked.places) if p >= start + call.end())
            ask.claimed.append((match.start("value"), end))
    elif value.quoted and not re.search(r"subject|mail|sms|body|message to", ask.masked.norm):
        _insert(ask, f"console.log('{_quoted(value.value)}');")
    else:
        return
    ask.claim(match)
    for extra in [*ask.find(rf"{_POSITION_LAST}|{_POSITION_FIRST}|so (?:that )?[^.;]*")]:
        ask.claim(extra)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _insert(ask: CodeAsk, line: str) -> None:
    """Put a line before the last `return state`, or first in the first function when asked so."""
    code = ask.code
    if not Code(line).root.named_children or Code(line).broken:
        raise Refused("not_understood")
    returns = [
        n for n in code.walk("return_statement") if re.match(r"return\s+(?:state\b|\{)", code.of(n))
    ]
    returns = [n for n in returns if _in_operation(code, n)]
    if re.search(_POSITION_FIRST, ask.masked.norm):
        body = next((n for n in code.walk("statement_block") if _in_operation(code, n)), None)
        if body is None:
            raise Refused("no_place")
        at = code.span(body)[0] + 1
        ask.become(code.text[:at] + f"\n{_indent(code, body)}{line}" + code.text[at:])
    elif returns:
        start = code.span(returns[-1])[0]
        blank = code.text[code.text.rfind("\n", 0, start) + 1 : start]
        indent = blank if not blank.strip() else " "
        joint = f"\n{indent}" if not blank.strip() else " "
        ask.become(code.text[:start] + line + joint + code.text[start:])
    else:
        tail = "" if code.text.endswith("\n") or not code.text else "\n"
        ask.become(f"{code.text}{tail}\nfn(state => {{\n  {line}\n  return state;\n}});\n")
    ask.say("added_console", line=line.rstrip(";"))


def _indent(code: Code, body: Node) -> str:
    first = next(iter(body.named_children), None)
    if first is None:
        return "  "
    start = code.span(first)[0]
    before = code.text[code.text.rfind("\n", 0, start) + 1 : start]
    return before if not before.strip() else "  "


def _in_operation(code: Code, node: Node) -> bool:
    """Whether a node is in the function of a top-level `fn(...)`, not in one inside of it."""
    depth, current = 0, node.parent
    while current is not None and current.type != "program":
        depth += current.type in ("arrow_function", "function_expression")
        if current.type == "call_expression" and depth == 1 and code.called(current) != "fn":
            return False
        current = current.parent
    return depth == 1
