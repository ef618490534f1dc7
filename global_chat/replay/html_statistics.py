"""The tables and charts of the HTML report."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from global_chat.contract.names import DESTINATIONS

from .markup import tag
from .summary import Summary


def route_matrix(summary: Summary) -> Element:
    """Where requests belong (rows) and where the router sent them (columns), as a heat map."""
    taken: list[str] = [*DESTINATIONS]
    if any(column == "none" for _, column in summary.matrix):
        taken.append("none")
    most = max(summary.matrix.values(), default=1)
    head = tag(
        "tr",
        tag("th", "belongs to ↓  sent to →"),
        *(tag("th", name.replace("_", " ")) for name in taken),
    )
    rows = [
        tag(
            "tr",
            _agent(expected),
            *(_cell(summary.matrix[expected, name], most, expected == name) for name in taken),
        )
        for expected in DESTINATIONS
    ]
    return tag("div", tag("table", head, *rows, class_="matrix"), class_="scroll")


def _agent(name: str) -> Element:
    return tag("th", name.replace("_", " "))


def _cell(count: int, most: int, right: bool) -> Element:
    colour = "--good" if right else "--bad"
    strength = 0.12 + 0.6 * count / most if count else 0
    style = f"background: rgba(var({colour}), {strength:.2f})" if count else None
    return tag("td", str(count) if count else "·", style=style)


def confidence_chart(summary: Summary) -> Element:
    """How often the router was how sure, and how often it was right then."""
    totals = {
        level: {right: summary.confidence[level, right] for right in (True, False, None)}
        for level in range(1, 6)
    }
    most = max((sum(t.values()) for t in totals.values()), default=0) or 1
    cells: list[Element] = []
    for level, counts in totals.items():
        bars = [
            tag("i", class_=name, style=f"width: {counts[right] / most:.1%}", title=f"{name}")
            for right, name in ((True, "right"), (False, "wrong"), (None, "unknown"))
            if counts[right]
        ]
        cells += [
            tag("b", str(level)),
            tag("div", *bars, class_="bar"),
            tag("span", str(sum(counts.values()))),
        ]
    legend = "Green was right, red was wrong, blue has no label to judge by."
    return tag("div", tag("div", *cells, class_="bars"), tag("p", legend, class_="soft"))


def agents_table(summary: Summary) -> Element:
    """What each agent read, wrote and cost."""
    names = ("asked in", "read", "from cache", "to cache", "written", "cost")
    head = tag("tr", tag("th", "agent"), *(tag("th", name, class_="number") for name in names))
    rows = []
    for name, total in summary.by_agent:
        usage = total.usage
        counts = (
            total.asked_in,
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.output_tokens,
        )
        cost = "not known" if total.cost is None else f"${total.cost:.4f}"
        cells = [f"{count:,}" for count in counts] + [cost]
        rows.append(tag("tr", tag("td", name), *(tag("td", c, class_="number") for c in cells)))
    note = "Tokens; dollars at the prices of the price file, which are yours to keep current."
    if summary.scripted:
        note += " Scripted turns count the tokens of their scripts, or an estimate."
    table = tag("table", head, *rows)
    return tag("div", tag("div", table, class_="scroll"), tag("p", note, class_="soft"))


def kinds_table(summary: Summary) -> Element:
    """How many passed of each kind of labelled request."""
    head = tag("tr", *(tag("th", name) for name in ("kind", "passed (95 % interval)")))
    rows = [
        tag("tr", tag("td", kind), tag("td", str(rate)))
        for kind, rate in sorted(summary.kinds.items(), key=lambda item: item[0])
    ]
    return tag("div", tag("table", head, *rows), class_="scroll")
