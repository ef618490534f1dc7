"""What payload and workflow files may look like, and what is said when they cannot be read."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.contract.attachments import as_text
from global_chat.contract.errors import BadRequest
from global_chat.contract.payload import Payload, read
from global_chat.disk import reading
from global_chat.disk.reading import read_object, read_text

pytestmark = pytest.mark.unit


def written(folder: Path, data: str | bytes, name: str = "payload.json") -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def refusal(source: str | Path) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        read_object(source)
    return caught.value


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("text", ['{"content": "né"}', 'content: "né"\n', "{content: né}"])
def test_json_and_yaml_are_read_with_or_without_a_byte_order_mark(
    tmp_path: Path, text: str, mark: bytes
) -> None:
    name = "payload.yaml" if text == "{content: né}" else "payload.json"
    assert read_object(written(tmp_path, mark + text.encode(), name)) == {"content": "né"}


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"content": "hi"}')))
    assert read_object("-") == {"content": "hi"}


def test_numbers_in_evidence_keep_their_digits(tmp_path: Path) -> None:
    literals = ["9007199254740993123", "1.10", "1e5", "0.0000001", "-0", "NaN", "-Infinity"]
    literals += ["1" * 5000, "1e99999999999999999999"]
    path = written(tmp_path, f'{{"v": [{", ".join(literals)}], "ok": true, "n": null}}')
    text = as_text(read_object(path))
    assert [line.strip(" ,") for line in text.splitlines()[2:-4]] == literals
    assert '"ok": true,\n  "n": null' in text


def test_numbers_in_yaml_evidence_keep_their_digits_and_words_stay_words(tmp_path: Path) -> None:
    path = written(tmp_path, "v: [1.10, 0123, 0x1F, 7, NO, on, 2024-01-02, .inf]\n", "p.yaml")
    text = as_text(read_object(path))
    rows = [line.strip(" ,") for line in text.splitlines()[2:-2]]
    assert rows == ["1.10", "0123", "0x1F", "7", '"NO"', '"on"', '"2024-01-02"', ".inf"]


def test_a_payload_with_odd_numbers_still_validates(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"content": "why?", "attachments": [{"type": "log", "content": {"t": NaN, "v": 1.10}}]}',
    )
    payload = read(Payload, read_object(path))
    assert payload.evidence[0].content == '{\n  "t": NaN,\n  "v": 1.10\n}'
    assert payload.warnings == ()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_whatever_json_holds_is_what_is_read(value: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        data = json.dumps({"content": value}).encode()
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read_object("-") == {"content": value}


def test_a_block_scalar_in_a_yaml_payload_keeps_every_line(tmp_path: Path) -> None:
    log = "[R/T] start\n\n    at get (x.js:1)\nend  \n"
    block = "".join(f"  {line}\n" if line else "\n" for line in log.splitlines())
    assert read_object(written(tmp_path, f"log: |\n{block}", "p.yaml")) == {"log": log}


def test_aliases_are_followed(tmp_path: Path) -> None:
    path = written(tmp_path, "a: &x {k: v}\nb: *x\n", "p.yaml")
    assert read_object(path) == {"a": {"k": "v"}, "b": {"k": "v"}}


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ('{"content": "x"\n "page": 1}', (2, 2), "delimiter"),
        ('{"content": "two\nlines"}', (1, 17), "control character"),
        ('{"content": hi}', (1, 13), "Expecting value"),
        ("content: [1\npage: x\n", (2, 5), "bracket is not closed"),
        ("content: x\n---\ncontent: y\n", (2, 1), "2 YAML documents"),
        ("a: 1\nb: \x1b[2J\n", (2, 4), "U+001B"),
        ("content:\n  !!omap [x]\n", (2, 3), "not supported"),
        ("content: !!binary aGk=\n", (1, 10), "not supported"),
        ("? [a, b]\n: c\n", (1, 3), "key must be text"),
        ("a: 1\na: 2\n", (2, 1), "`a` occurs twice"),
        ("a: *nowhere\n", (1, 4), "anchor"),
        ("a: &a [*a]\n", (1, 8), "inside its own anchor"),
        ("a: 'open\n", (1, 4), "quotation mark"),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(
    tmp_path: Path, text: str, place: tuple[int, int], says: str
) -> None:
    error = refusal(written(tmp_path, text))
    assert (error.details["line"], error.details["column"]) == place
    assert f"line {place[0]}, column {place[1]}" in error.message
    assert says in error.message


def test_a_json_mistake_is_not_read_as_yaml_which_would_fold_the_lines_of_a_log(
    tmp_path: Path,
) -> None:
    text = '{"content": "why?", "log": "line one\nline two"}'
    assert "JSON" in refusal(written(tmp_path, text)).message
    folded = read_object(written(tmp_path, text, "payload.yaml"))
    assert folded == {"content": "why?", "log": "line one line two"}


def test_an_alias_bomb_is_refused(tmp_path: Path) -> None:
    rows = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert "aliases" in refusal(written(tmp_path, "\n".join(rows), "p.yaml")).message


@pytest.mark.parametrize("name", ["p.json", "p.yaml"])
@pytest.mark.parametrize("depth", [150, 1_000])
def test_what_nests_too_deeply_is_refused(tmp_path: Path, name: str, depth: int) -> None:
    error = refusal(written(tmp_path, "[" * depth + "]" * depth, name))
    assert "nested" in error.message


def test_a_key_that_occurs_twice_in_json_is_refused(tmp_path: Path) -> None:
    error = refusal(written(tmp_path, '{"content": "a", "page": "", "content": "b"}'))
    assert "'content' twice" in error.message


@pytest.mark.parametrize("text", [b"", b"  \n", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: bytes) -> None:
    assert "is empty" in refusal(written(tmp_path, text)).message


def test_a_wrong_encoding_is_refused_with_the_place_of_the_byte(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": 1,\n"b": "é"}'.encode("latin-1"))
    error = refusal(path)
    assert error.details == {"offset": 15, "line": 2}
    assert "0xe9 at offset 15 (line 2)" in error.message
    assert str(path) in error.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_refused_by_name_where_a_mark_gives_it_away(
    tmp_path: Path, encoding: str
) -> None:
    error = refusal(written(tmp_path, '\ufeff{"content": "né"}'.encode(encoding)))
    assert "UTF-8" in error.message


def test_a_missing_file_a_folder_and_an_impossible_path_are_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "absent.json").message
    assert "is a folder" in refusal(tmp_path).message
    assert "cannot be" in refusal("a\0b").message
    assert "cannot be read" in refusal("x" * 5000).message


def test_standard_input_that_is_closed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert "cannot be opened" in refusal("-").message


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 2_000_000)
    assert "larger than 2 MB" in refusal(written(tmp_path, b" " * 2_000_001)).message
    assert "is empty" in refusal(written(tmp_path, b" " * 2_000_000)).message


def test_the_size_of_an_endless_source_is_not_waited_for() -> None:
    assert "larger than 50 MB" in refusal("/dev/zero").message


@given(st.text())
def test_other_files_are_read_exactly(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", lambda *_: io.BytesIO(text.encode()))
        assert read_text("workflow.yaml") == text


def test_line_ends_and_a_byte_order_mark_stay_in_text(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbfname: One\r\njobs: {}\rend")
    assert read_text(path) == "\ufeffname: One\r\njobs: {}\rend"


def test_evidence_that_is_not_utf_8_is_refused_rather_than_altered(tmp_path: Path) -> None:
    path = written(tmp_path, b"ok\n\xff\xfe\xfd", "run.log")
    with pytest.raises(BadRequest, match=r"run\.log is not UTF-8"):
        read_text(path)
