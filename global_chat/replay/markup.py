"""HTML as a tree, so that whatever a model said is text and never markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

#: Control characters that HTML has no way to write; a page shows where one was.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def tag(name: str, /, *children: ET.Element | str | None, **attributes: object) -> ET.Element:
    """An element with children and attributes; `class_` stands for `class`, None is left out."""
    given = {k.rstrip("_"): str(v) for k, v in attributes.items() if v is not None}
    element = ET.Element(name, given)
    for child in children:
        if isinstance(child, str):
            _add_text(element, _UNSEEN.sub("\ufffd", child))
        elif child is not None:
            element.append(child)
    return element


def _add_text(element: ET.Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def page(title: str, style: str, *body: ET.Element | None) -> str:
    """A whole page that needs nothing but itself."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    root = tag("html", head, tag("body", *body), lang="en")
    return "<!doctype html>\n" + ET.tostring(root, encoding="unicode", method="html") + "\n"
