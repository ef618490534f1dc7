"""The answer's Markdown for a terminal: shown as it is written, and cut where it is complete."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markdown import Markdown
from rich.segment import Segment
from rich.text import Text

from .text import clean


def _parser() -> MarkdownIt:
    # HTML is off because a tag that is not rendered, such as `<your-url>`, would vanish.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


_PARSER = _parser()
#: Finds blocks, and does not read what is in them.
_BLOCK_PARSER = _parser().disable("inline")


class Safe:
    """Draws `inner` with every piece of its text cleaned once more.

    Cleaning the source is not enough: Markdown turns `&#x202e;` and `%1b` into characters. Blank
    rows at either end and blanks at the end of rows are left out: whoever prints decides on the
    space between, and a full row would wrap where a character turns out wider than expected.
    """

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(self._inner, options.update(height=None), pad=False)
        rows = [_without_blanks(row) for row in rows]
        filled = [number for number, row in enumerate(rows) if row]
        for row in rows[filled[0] : filled[-1] + 1] if filled else []:
            for text, style, _ in row:
                yield Segment(clean(text), style)
            yield Segment.line()


def _without_blanks(row: list[Segment]) -> list[Segment]:
    """`row` without blanks at its end."""
    while row and not row[-1].text.strip():
        row = row[:-1]
    return [*row[:-1], Segment(row[-1].text.rstrip(), row[-1].style)] if row else []


def as_markdown(source: str) -> RenderableType:
    """`source` as Markdown, safe for a terminal. A link's address stands beside its text."""
    return Safe(_Markdown(clean(source)))


class _Markdown(Markdown):
    """Rich's Markdown, read by our parser; what it cannot draw, it shows as it is written."""

    def __init__(self, source: str) -> None:
        super().__init__("", code_theme="ansi_dark", hyperlinks=False)
        self.markup = source
        self.parsed = _PARSER.parse(source)
        for token in self.parsed:
            if token.children:
                # The text of `<https://…>` is its address already.
                token.children = [t for t in token.children if t.markup != "autolink"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        try:
            drawn: Iterable[object] = list(super().__rich_console__(console, options))
        except Exception:
            # Rich trips over some rare nesting; the answer matters more than its looks.
            drawn = [Text(self.markup)]
        yield from drawn  # type: ignore[misc]


class StreamedMarkdown:
    """Markdown that arrives in pieces, and gives off each top-level block once it is complete.

    A block is complete when another begins after it in a line that is complete too: no later text
    can then change how it reads. (A link that is defined further down stays as it is written.)
    """

    def __init__(self) -> None:
        self.rest = ""
        self._parsed = 0

    def add(self, piece: str) -> list[str]:
        """The blocks that `piece` completes."""
        self.rest += clean(piece)
        # Parsing again only after growth by an eighth keeps the whole cost in proportion.
        grown = len(self.rest) - self._parsed
        if "\n" not in piece or grown < len(self.rest) // 8:
            return []
        end = self.rest.rfind("\n") + 1
        blocks = split_blocks(self.rest[:end])
        self.rest = "".join(blocks[-1:]) + self.rest[end:]
        self._parsed = len(self.rest)
        return blocks[:-1]

    def end(self) -> list[str]:
        """Every block that is left."""
        blocks, self.rest, self._parsed = split_blocks(self.rest), "", 0
        return [block for block in blocks if block.strip()]

    def window(self, rows: int, columns: int) -> str:
        """The end of the incomplete block: enough of it to fill a screen, and not much more."""
        lines = self.rest.rsplit("\n", rows)
        cut = "\n".join(lines[-rows:])[-rows * columns :]
        first = self.rest.partition("\n")[0]
        if len(cut) < len(self.rest) and first.lstrip().startswith(("```", "~~~")):
            return f"{first}\n{cut}"
        return cut


def split_blocks(source: str) -> list[str]:
    """`source` cut before each top-level block but the first; joined, they are `source`."""
    starts = [
        token.map[0] for token in _BLOCK_PARSER.parse(source) if _opens_block(token) and token.map
    ]
    lines = source.split("\n")
    edges = [0, *starts[1:], len(lines)]
    blocks = ["\n".join([*lines[a:b], ""]) for a, b in pairwise(edges)]
    return [*blocks[:-1], blocks[-1][:-1]]


def _opens_block(token: Token) -> bool:
    return token.level == 0 and token.nesting >= 0
