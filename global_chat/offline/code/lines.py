"""Lines of code taken out or put in: console lines, comments, emojis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .asking import CodeAsk, Elsewhere, V
from .javascript import Code, Replacement, Span

if TYPE_CHECKING:
    from tree_sitter import Node

REMOVE = (
    r"(?:remove|delete|drop|get rid of|take out|take|strip|kill|clean|no more|no|without"
    r"|supprime[rz]?|enleve[rz]?|retire[rz]?|vire[rz]?|efface[rz]?|plus d[e']|pas d[e']"
    r"|quit(?:a|ar|e)|elimin(?:a|ar|e)|borr(?:a|ar|e)|sac(?:a|ar)|sin|remov(?:a|er|e)"
    r"|apag(?:a|ar|ue)|tir(?:a|ar|e)|sem|ondoa|futa|toa)"
)
ALL = (
    r"(?: (?:all|any|every|the|those|these|of|that|out|tous|toutes|les|la|le|ces|cette"
    r"|tod[oa]s|l[oa]s|el|es[oa]s?|os|as|o|a|zote|ote|hiyo|from|de|dos|das|des|d'|single"
    r"|annoying|silly))*"
)
_CONSOLE = (
    r"(?:console(?:[. ]log)?(?: (?:lines?|statements?|calls?|messages?|output))?s?"
    r"|log(?:ging)? (?:lines?|statements?|messages?|output|calls?)|logs?|logging|prints?"
    rf"|print(?:ing)? (?:lines?|statements?)|{V}(?:\(\))? ?(?:lines?|statements?|calls?)?"
    r"|lignes? (?:de )?(?:log|console)\w*|messages? (?:de|du) (?:log|journal)"
    r"|lineas? (?:de )?(?:log|console)\w*|registros? de (?:log|consola)"
    r"|linhas? (?:de )?(?:log|console)\w*)"
)
_WHERE = r"(?:[^.;,¤§]{0,60})"


def _statement_of(node: Node) -> Node | None:
    parent = node.parent
    return parent if parent is not None and parent.type == "expression_statement" else None


def console_statements(code: Code) -> list[Node]:
    """Statements that do nothing but write to the console."""
    found = []
    for call in code.walk("call_expression"):
        if re.match(r"console\s*\.\s*(?:log|error|warn|info|debug)$", code.called(call)):
            statement = _statement_of(call)
            if statement is not None:
                found.append(statement)
    return found


def removal_of(code: Code, span: Span) -> Replacement:
    """Takes a statement out, with its line when it has one to itself."""
    start, end = span
    line_start = code.text.rfind("\n", 0, start) + 1
    line_end = code.text.find("\n", end)
    line_end = len(code.text) if line_end < 0 else line_end + 1
    before, after = code.text[line_start:start], code.text[end:line_end].split("//")[0]
    if not before.strip() and not after.strip():
        return _with_blank_line(code.text, line_start, line_end)
    while end < len(code.text) and code.text[end] == " ":
        end += 1
    return start, end, ""


def _with_blank_line(text: str, start: int, end: int) -> Replacement:
    """A line between two blank ones leaves one of them; at the top, it takes one along."""
    blank_before = start == 0 or text[:start].endswith("\n\n")
    if blank_before and text[end : end + 1] == "\n":
        end += 1
    return start, end, ""


def remove_console(ask: CodeAsk) -> None:
    """Remove console lines: all of them, the first, the last, or the one that holds a text."""
    match = ask.first(
        rf"{REMOVE}{ALL} (?P<which>first |second |third |last |premiere? |derniere? "
        rf"|primer[oa]? |ultim[oa] |primeir[oa] )?(?P<what>{_CONSOLE})(?: (?:out|away))?"
    )
    if match is None or not _is_console(ask, match["what"]):
        return
    statements = console_statements(ask.code)
    if not statements:
        raise Elsewhere
    about = ask.first(
        r"(?:about|with|that (?:says|prints|logs|writes)|saying|qui (?:dit|affiche)|avec"
        rf"|que (?:dice|diz)|con|com) {V}"
    )
    if about:
        text = ask.value(about[0]).value
        statements = [s for s in statements if text in ask.code.of(s)]
        ask.claim(about)
    elif match["which"]:
        statements = _picked(statements, match["which"].strip())
    if not statements:
        raise Elsewhere
    ask.become(
        ask.code.with_replacements(removal_of(ask.code, ask.code.span(s)) for s in statements)
    )
    ask.claim(match)
    claim_scope(ask)
    ask.say("removed_console", count=str(len(statements)))


def _is_console(ask: CodeAsk, what: str) -> bool:
    """A value counts only when it is `console.log` or the like; so does a bare "log" or "logs"."""
    if re.match(V, what):
        return bool(re.match(r"console(?:\.\w+)?(?:\(\))?$", ask.value(what).value))
    return True


def _picked(statements: list[Node], which: str) -> list[Node]:
    index = {"second": 1, "third": 2, "last": -1}.get(
        which, -1 if re.match(r"dernier|ultim", which) else 0
    )
    return statements[index : index + 1 or None] if -1 <= index < len(statements) else []


def claim_scope(ask: CodeAsk) -> None:
    """ "of the workflow", "in all steps", "here": where, which the caller has seen to."""
    for extra in [
        *ask.find(
            r"(?:of|in|from|across|dans|de|du|en|em|do|da|katika|kwenye) (?:the |all "
            r"|every |each |this |both |tou\w+ |les |la |le |el |los |las |os |as |o |a "
            r"|tod\w+ |cada |kila )*(?:workflow|steps?|step's code|code|flow|flux|etapes?"
            r"|pasos?|passos?|flujo|fluxo|hatua|logs?|messages?|banners?"
            r"|places?)(?: (?:zote|please))?|everywhere|partout|here|§t"
        )
    ]:
        ask.claim(extra)
