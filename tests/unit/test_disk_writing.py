"""Results appear whole and together or not at all; wrong paths are found before any model call."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from global_chat.contract.errors import BadRequest, InternalError
from global_chat.disk.reading import read_text
from global_chat.disk.writing import (
    ResultPaths,
    check_writable,
    result_paths,
    write_atomically,
    write_together,
)

pytestmark = pytest.mark.unit


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@given(st.text())
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "exact.yaml"
    write_atomically(path, text)
    assert read_text(path) == text


def test_half_a_character_never_stops_a_result_from_being_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / "r.json", "why \ud83d? \ud83d\udc31")
    assert read_text(tmp_path / "r.json") == "why �? 🐱"


def test_an_existing_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)


def test_a_new_file_gets_the_permissions_that_the_user_gives_new_files(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_atomically(tmp_path / "w.yaml", "new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "w.yaml").stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "w.yaml"
    target.write_text("old")
    link = tmp_path / "link.yaml"
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert names(tmp_path / "real") == {"w.yaml"}


def test_a_link_to_nothing_yet_makes_the_file_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "link.yaml").symlink_to(tmp_path / "w.yaml")
    write_atomically(tmp_path / "link.yaml", "new")
    assert (tmp_path / "w.yaml").read_text() == "new"


def test_a_target_that_is_no_file_is_written_through_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_together({pipe: "through", tmp_path / "r.json": "{}"})
    reader.join(timeout=10)
    assert found == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == {"pipe", "r.json"}


@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_leaves_both_old_files_and_no_temporary_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    response, workflow = tmp_path / "r.json", tmp_path / "w.yaml"
    response.write_text("old response")
    workflow.write_text("old workflow")
    calls: list[int] = []

    def no_space(number: int) -> None:
        calls.append(number)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(InternalError, match="No space left on device"):
        write_together({response: "new response", workflow: "new workflow"})
    assert (response.read_text(), workflow.read_text()) == ("old response", "old workflow")
    assert names(tmp_path) == {"r.json", "w.yaml"}


def test_a_folder_that_went_away_is_reported_as_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="could not be written: "):
        write_atomically(tmp_path / "gone" / "r.json", "{}")


INTERRUPTED = """
import os, signal, sys, time
from pathlib import Path
from global_chat.disk import writing

# A process that was started in the background inherits that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def slow(number):
    print("in the middle", flush=True)
    time.sleep(float(sys.argv[2]))

os.fsync = slow
folder = Path(sys.argv[1])
try:
    writing.write_together({folder / "r.json": "new response", folder / "w.yaml": "new workflow"})
except KeyboardInterrupt:
    sys.exit(130)
"""


def interrupted(folder: Path, *signals: int, each_write: float = 0.3) -> tuple[int, str, str]:
    """Write over two old files in another process that gets `signals` in the middle."""
    (folder / "r.json").write_text("old response")
    (folder / "w.yaml").write_text("old workflow")
    command = [sys.executable, "-c", INTERRUPTED, str(folder), str(each_write)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "in the middle\n"
        for number in signals:
            run.send_signal(number)
            # Two of the same kind would be taken for one if the first had not been seen yet.
            while len(signals) > 1 and number != signals[-1] and _is_pending(run.pid, number):
                pass
        _, errors = run.communicate(timeout=30)
    assert "Traceback" not in errors
    return run.returncode, (folder / "r.json").read_text(), (folder / "w.yaml").read_text()


def _is_pending(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    masks = [
        line.split()[1] for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))
    ]
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def test_ctrl_c_in_the_middle_of_writing_leaves_two_files_of_one_run(tmp_path: Path) -> None:
    code, response, workflow = interrupted(tmp_path, signal.SIGINT)
    assert (code, response, workflow) == (130, "new response", "new workflow")
    assert names(tmp_path) == {"r.json", "w.yaml"}


def test_a_request_to_end_waits_for_the_files_and_then_ends_the_process(tmp_path: Path) -> None:
    code, response, workflow = interrupted(tmp_path, signal.SIGTERM)
    assert (code, response, workflow) == (-signal.SIGTERM, "new response", "new workflow")
    assert names(tmp_path) == {"r.json", "w.yaml"}


def test_a_second_interrupt_is_not_held_back_and_leaves_the_old_files(tmp_path: Path) -> None:
    code, response, workflow = interrupted(tmp_path, signal.SIGTERM, signal.SIGINT, each_write=20)
    assert (response, workflow) == ("old response", "old workflow")
    assert code == -signal.SIGTERM
    assert names(tmp_path) == {"r.json", "w.yaml"}


def test_a_killed_process_leaves_the_old_files_whole(tmp_path: Path) -> None:
    code, response, workflow = interrupted(tmp_path, signal.SIGKILL, each_write=20)
    assert (code, response, workflow) == (-signal.SIGKILL, "old response", "old workflow")


@pytest.mark.parametrize(
    ("source", "response", "workflow", "partial"),
    [
        (
            "tmp/payload.json",
            "tmp/payload.response.json",
            "tmp/payload.workflow.yaml",
            "tmp/payload.workflow.partial.yaml",
        ),
        (
            "a.b.yaml",
            "a.b.response.json",
            "a.b.workflow.yaml",
            "a.b.workflow.partial.yaml",
        ),
        *(
            (
                source,
                "global-chat.response.json",
                "global-chat.workflow.yaml",
                "global-chat.workflow.partial.yaml",
            )
            for source in ("-", None, "/dev/stdin", "/dev/fd/63")
        ),
    ],
)
def test_results_stand_beside_the_payload(
    source: str | None, response: str, workflow: str, partial: str
) -> None:
    expected = ResultPaths(Path(response), Path(workflow), Path(partial))
    assert result_paths(source) == expected
    assert result_paths(None if source is None else Path(source)) == expected


def test_each_result_can_be_sent_elsewhere() -> None:
    found = result_paths("tmp/p.json", output=Path("r.json"), output_dir=Path("out"))
    assert found == ResultPaths(
        Path("r.json"), Path("out/p.workflow.yaml"), Path("out/p.workflow.partial.yaml")
    )
    found = result_paths("tmp/p.json", workflow_out=Path("w/x.workflow.yml"))
    assert found.workflow == Path("w/x.workflow.yml")
    assert found.partial == Path("w/x.workflow.partial.yaml")


def refusal(*outputs: Path, inputs: tuple[Path, ...] = (), create: Path | None = None) -> str:
    with pytest.raises(BadRequest) as caught:
        check_writable(outputs, inputs=inputs, create=create)
    return caught.value.message


def test_a_good_path_is_accepted_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    check_writable([tmp_path / "new.json", tmp_path / "old.json"])
    assert names(tmp_path) == {"old.json"}
    assert (tmp_path / "old.json").read_text() == "old"


def test_only_the_output_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    check_writable([folder / "r.json"], create=folder)
    assert folder.is_dir()
    assert "does not exist" in refusal(tmp_path / "missing" / "r.json")
    assert not (tmp_path / "missing").exists()


def test_paths_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "is a folder" in refusal(tmp_path)
    assert "cannot be written" in refusal(tmp_path / "file" / "r.json")
    assert "cannot be written" in refusal(tmp_path / "loop")
    assert "cannot be written" in refusal(tmp_path / ("x" * 300))
    assert "cannot be written" in refusal(tmp_path / "a\0b")
    assert "cannot be written" in refusal(Path("/proc/x"))
    assert "cannot be made" in refusal(tmp_path / "r.json", create=tmp_path / "file")


def test_a_write_protected_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("keep")
    path.chmod(0o444)
    real = os.access
    # Root may write anything; everyone else is told so by the system.
    monkeypatch.setattr(os, "access", lambda p, mode: Path(p) != path and real(p, mode))
    assert "write-protected" in refusal(path)


def test_an_input_is_never_an_output(tmp_path: Path) -> None:
    payload = tmp_path / "payload.json"
    payload.write_text("{}")
    (tmp_path / "link.json").symlink_to(payload)
    assert "replace the input" in refusal(payload, inputs=(payload,))
    assert "replace the input" in refusal(tmp_path / "link.json", inputs=(payload,))
    assert "replace the input" in refusal(tmp_path / "x" / ".." / "payload.json", inputs=(payload,))


def test_two_results_never_share_a_file(tmp_path: Path) -> None:
    assert "same file" in refusal(tmp_path / "r.json", tmp_path / "." / "r.json")


def test_a_device_may_take_every_result(tmp_path: Path) -> None:
    check_writable([Path(os.devnull), Path(os.devnull)])


def test_when_the_last_of_several_files_cannot_be_put_in_place_all_are_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "gone"):
        (tmp_path / name).write_text(f"old {name}")
    put = Path.replace

    def fails_at_b(self: Path, target: Path) -> Path:
        if target.name == "b" and self.read_text() == "new":
            raise OSError(28, "No space left on device")
        return put(self, target)

    monkeypatch.setattr(Path, "replace", fails_at_b)
    with pytest.raises(InternalError, match="b could not be written: No space left"):
        write_together(
            dict.fromkeys([tmp_path / "a", tmp_path / "fresh"], "new")
            | {tmp_path / "gone": None, tmp_path / "b": "new"}
        )
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {name: f"old {name}" for name in ("a", "b", "gone")}
