"""Lines of code taken out or put in: console lines, comments, emojis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .asking import CodeAsk, Elsewhere, Refused, V
from .javascript import Code, Replacement, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_REMOVE = r"(?:remove|delete|drop|get rid of|take out|take|strip|kill|clean|no more|no|without|supprime[rz]?|enleve[rz]?|retire[rz]?|vire[rz]?|efface[rz]?|plus d[e']|pas d[e']|quit(?:a|ar|e)|elimin(?:a|ar|e)|borr(?:a|ar|e)|sac(?:a|ar)|sin|remov(?:a|er|e)|apag(?:a|ar|ue)|tir(?:a|ar|e)|sem|ondoa|futa|toa)"
_ALL = r"(?: (?:all|any|every|the|those|these|of|that|out|tous|toutes|les|la|le|ces|cette|tod[oa]s|l[oa]s|el|es[oa]s?|os|as|o|a|zote|ote|hiyo|from|de|dos|das|des|d'|single|annoying|silly))*"
_CONSOLE = rf"(?:console(?:[. ]log)?(?: (?:lines?|statements?|calls?|messages?|output))?s?|log(?:ging)? (?:lines?|statements?|messages?|output|calls?)|logs?|logging|prints?|print(?:ing)? (?:lines?|statements?)|{V}(?:\(\))? ?(?:lines?|statements?|calls?)?|lignes? (?:de )?(?:log|console)\w*|messages? (?:de|du) (?:log|journal)|lineas? (?:de )?(?:log|console)\w*|registros? de (?:log|consola)|linhas? (?:de )?(?:log|console)\w*)"
_EMOJI = r"(?:emojis?|emoticons?|smileys?|icons?|waves?|fancy (?:characters|symbols)|emoticones|emoticonos)"
_COMMENT = r"(?:comments?|commentaires?|comentarios?|maoni)"
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
    """Takes a statement out with its line when it has one to itself, else with the blank after it."""
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
    """A line between two blank ones leaves one of them; at the top, it takes the blank one along."""
    blank_before = start == 0 or text[:start].endswith("\n\n")
    if blank_before and text[end : end + 1] == "\n":
        end += 1
    return start, end, ""


def remove_console(ask: CodeAsk) -> None:
    """Remove console lines: all of them, the first, the last, or the one that holds a text."""
    match = ask.first(
        rf"{_REMOVE}{_ALL} (?P<which>first |second |third |last |premiere? |derniere? |primer[oa]? |ultim[oa] |primeir[oa] )?(?P<what>{_CONSOLE})(?: (?:out|away))?"
    )
    if match is None or not _is_console(ask, match["what"]):
        return
    statements = console_statements(ask.code)
    if not statements:
        raise Elsewhere
    about = ask.first(
        rf"(?:about|with|that (?:says|prints|logs|writes)|saying|qui (?:dit|affiche)|avec|que (?:dice|diz)|con|com) {V}"
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
    _claim_scope(ask)
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


def _claim_scope(ask: CodeAsk) -> None:
    """ "of the workflow", "in all steps", "here": where, which the caller has seen to."""
    for extra in [
        *ask.find(
            r"(?:of|in|from|across|dans|de|du|en|em|do|da|katika|kwenye) (?:the |all |every |each |this |both |tou\w+ |les |la |le |el |los |las |os |as |o |a |tod\w+ |cada |kila )*(?:workflow|steps?|step's code|code|flow|flux|etapes?|pasos?|passos?|flujo|fluxo|hatua|logs?|messages?|banners?|places?)(?: (?:zote|please))?|everywhere|partout|here|§t"
        )
    ]:
        ask.claim(extra)


EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|[\U0001f300-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u231a-\u23ff\u2190-\u21ff\u25a0-\u25ff\U0001f000-\U0001f2ff]"
    "[\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+"
)
_KEPT = frozenset("→←↑↓↔⇒⇐▸▶■□●○◦►")


def remove_emojis(ask: CodeAsk) -> None:
    """Remove emojis from strings and comments, with the blanks that they leave behind."""
    match = ask.first(
        rf"{_REMOVE}{_ALL} {_EMOJI}|{_EMOJI}[^.;]{{0,40}}(?:must go|have to go|should go|go away|out|weg|get rid of them|remove them|doivent partir|fuera)",
        rf"hate{_ALL} {_EMOJI}[^.]*\. ?(?:get rid of them|remove them|take them out)",
    )
    if match is None:
        return
    replacements = list(_emoji_removals(ask.code))
    if not replacements:
        raise Elsewhere
    ask.become(ask.code.with_replacements(replacements))
    ask.claim(match)
    for extra in [
        *ask.find(
            rf"(?:get rid of|remove|take out|drop) (?:them|those|these)|(?:in|from|of) (?:the |all |every )*(?:banners?|logs?|messages?|log (?:lines|messages))[^.;¤§]{{0,30}}"
        )
    ]:
        ask.claim(extra)
    _claim_scope(ask)
    ask.say("removed_emojis")


def _emoji_removals(code: Code) -> list[Replacement]:
    places = [span for _, span, _ in code.strings()] + [code.span(n) for n in code.walk("comment")]
    found: list[Replacement] = []
    for start, end in places:
        text = code.text[start:end]
        for match in EMOJI.finditer(text):
            if set(match[0]) <= _KEPT:
                continue
            first, last = start + match.start(), start + match.end()
            at_start, at_end = not text[: match.start()].strip(), not text[match.end() :].strip()
            while (
                last < end and code.text[last] == " " and (at_start or code.text[first - 1] == " ")
            ):
                last += 1
            while at_end and first > start and code.text[first - 1] == " ":
                first -= 1
            found.append((first, last, ""))
    return found


def remove_comments(ask: CodeAsk) -> None:
    """Remove every comment of the code."""
    match = ask.first(rf"{_REMOVE}{_ALL} {_COMMENT}(?: out)?")
    if match is None:
        return
    comments = list(ask.code.walk("comment"))
    if not comments:
        raise Elsewhere
    ask.become(ask.code.with_replacements(_comment_removal(ask.code, c) for c in comments))
    ask.claim(match)
    _claim_scope(ask)
    ask.say("removed_comments", count=str(len(comments)))


def _comment_removal(code: Code, node: Node) -> Replacement:
    start, end, new = removal_of(code, code.span(node))
    if start == code.span(node)[0]:
        while start > 0 and code.text[start - 1] in " \t":
            start -= 1
    return start, end, new


_POSITION_LAST = r"(?:just |right )?(?:before|above|avant|antes d[eo]l?|kabla ya) (?:the |le |el |o )?(?:last |final |dernier |ultimo )?(?:return(?: state)?|¤\d+)|at the (?:very )?end|as the last (?:line|thing)|a la fin|al final|no fim|mwisho\w*"
_POSITION_FIRST = r"at the (?:very )?(?:top|beginning|start)|as the first (?:line|thing)|first thing|on top|au debut|en haut|al principio|no inicio|no topo|mwanzo\w*"
_LOG = r"(?:add|put|insert|include|write|print|log|display|show|affiche[rz]?|ajoute[rz]?|mets|logue[rz]?|imprim(?:e|ir|a)|agreg(?:a|ar|ue)|anade|muestra|pon|registra|adiciona|acrescenta|imprime|mostra|coloca|ongeza|andika|onyesha)"

_SHOW = r"(?:print|log|display|show|affiche[rz]?|logue[rz]?|imprim(?:e|ir|a)|muestra|registra|imprime|mostra|andika kwenye log|onyesha)"


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
                rf"{_LOG}(?: an?| the| un| une| uma?)?(?: (?:console|log)?\s?(?:line|statement|call))?"
            ),
            *ask.find(rf"{_POSITION_LAST}|{_POSITION_FIRST}"),
        ]:
            ask.claim(extra)
        return
    match = ask.first(
        rf"(?:{_SHOW}|{_LOG} (?:an? |the |une? |uma? |la |el )?(?:log|console)(?: line)?(?: with| saying| that says)?) (?:also |out |the value of |the |aussi |tambien |tambem |la valeur de |el valor de |o valor de )*(?P<value>{V})(?= *(?:$|[.,;]|at the|a la fin|al final|no fim|before|avant|here|§|please|to the console|in the log|in (?:every|all|each)))"
    )
    if match is None:
        return
    value = ask.value(match["value"])
    expression = value.value
    if (
        re.fullmatch(r"(?:state|\$|Object|JSON)(?:\.[\w$?]+)+", expression)
        or value.kind == "identifier"
        and "." in expression
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
