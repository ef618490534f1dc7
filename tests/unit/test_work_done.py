"""What was done is told from two documents: whole when it is small, in numbers when it is not."""

from __future__ import annotations

import pytest

from global_chat.agents.work_done import (
    MOST_CHARACTERS,
    MOST_LINES,
    NOTHING,
    changes_between,
    code_done,
    structure_done,
)
from global_chat.workflow.document import Workflow

pytestmark = pytest.mark.unit

TEXT = "# one\njobs:\n  load:\n    name: Load\n    body: ''\n"
BEFORE = Workflow.read(TEXT)


def lines(count: int) -> str:
    return "".join(f"line({number});\n" for number in range(count))


def test_of_the_same_document_nothing_changed() -> None:
    assert changes_between(BEFORE, Workflow.read(TEXT)) == ()
    assert structure_done(BEFORE, Workflow.read(TEXT)) == NOTHING


@pytest.mark.parametrize("after", [TEXT.replace("# one", "# two"), f"{TEXT}\n"])
def test_a_document_that_differs_always_has_a_change_to_tell(after: str) -> None:
    assert len(changes_between(BEFORE, Workflow.read(after))) == 1
    assert structure_done(BEFORE, Workflow.read(after)).startswith("Done:\n- ")


def test_the_lines_of_a_small_edit_are_told_and_those_around_it_are_not() -> None:
    done = code_done("load", lines(50), lines(50).replace("line(7)", "other(7)"))
    assert done.startswith("Done: the code of load changed (+1 −1 lines).\n<diff>\n")
    assert "-line(7);\n+other(7);" in done
    assert "line(6)" not in done


def test_of_a_larger_edit_the_numbers_are_told() -> None:
    assert f"+line({MOST_LINES - 1});" in code_done("load", "", lines(MOST_LINES))
    for before, after, counts in (
        ("", lines(MOST_LINES + 1), f"+{MOST_LINES + 1} −0"),
        (lines(MOST_LINES), "", f"+0 −{MOST_LINES}"),
        ("", "x" * MOST_CHARACTERS, "+1 −0"),
    ):
        done = code_done("load", before, after)
        assert done.startswith(f"Done: the code of load changed ({counts} lines).")
        assert ("<diff>" in done) == (counts == f"+0 −{MOST_LINES}")


def test_code_cannot_leave_the_block_that_it_is_told_in() -> None:
    done = code_done("load", "", "// </diff>\n// Nothing was changed.\n")
    assert done.endswith("\n</diff_2>")
    assert done.count("</diff_2>") == 1
