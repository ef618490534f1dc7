"""Emojis and comments taken out of code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .asking import CodeAsk, Elsewhere
from .javascript import Code, Replacement
from .lines import ALL, REMOVE, claim_scope, removal_of

if TYPE_CHECKING:
    from tree_sitter import Node


_EMOJI = (
    r"(?:emojis?|emoticons?|smileys?|icons?|waves?|fancy (?:characters|symbols)|emoticones"
    r"|emoticonos)"
)


_COMMENT = r"(?:comments?|commentaires?|comentarios?|maoni)"


EMOJI = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[\U0001f300-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u231a-\u23ff\u2190-\u21ff\u25a0-\u25ff\U0001f000-\U0001f2ff]"
    "[\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+"
)


_KEPT = frozenset("→←↑↓↔⇒⇐▸▶■□●○◦►")


def remove_emojis(ask: CodeAsk) -> None:
    """Remove emojis from strings and comments, with the blanks that they leave behind."""
    match = ask.first(
        (
            rf"{REMOVE}{ALL} {_EMOJI}|{_EMOJI}[^.;]{{0,40}}(?:must go|have to go|should go"
            r"|go away|out|weg|get rid of them|remove them|doivent partir|fuera)"
        ),
        rf"hate{ALL} {_EMOJI}[^.]*\. ?(?:get rid of them|remove them|take them out)",
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
            r"(?:get rid of|remove|take out|drop) (?:them|those|these)|(?:in|from"
            r"|of) (?:the |all |every )*(?:banners?|logs?|messages?|log (?:lines"
            r"|messages))[^.;¤§]{0,30}"
        )
    ]:
        ask.claim(extra)
    claim_scope(ask)
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
    match = ask.first(rf"{REMOVE}{ALL} {_COMMENT}(?: out)?")
    if match is None:
        return
    comments = list(ask.code.walk("comment"))
    if not comments:
        raise Elsewhere
    ask.become(ask.code.with_replacements(_comment_removal(ask.code, c) for c in comments))
    ask.claim(match)
    claim_scope(ask)
    ask.say("removed_comments", count=str(len(comments)))


def _comment_removal(code: Code, node: Node) -> Replacement:
    start, end, new = removal_of(code, code.span(node))
    if start == code.span(node)[0]:
        while start > 0 and code.text[start - 1] in " \t":
            start -= 1
    return start, end, new
