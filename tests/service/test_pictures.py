"""The pictures of the README are what its commands show."""

from __future__ import annotations

import pytest

from pictures.__main__ import FOLDER, draw

pytestmark = pytest.mark.service


def test_the_pictures_of_the_readme_are_what_the_commands_show() -> None:
    drawn = draw()
    assert drawn == {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.svg")}
