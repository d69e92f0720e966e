"""What keval did not write is never written over, and what it writes appears whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from keval.errors import EnvironmentLacksError, UsageError
from keval.logs.log_head import begins_as_log
from keval.logs.outputs import STDIN, check_output, replaced
from tests.builders import response_event, run_event, write_log


def is_report(head: bytes) -> bool:
    return head.startswith(b"report")


def write(output: Path, inputs: list[Path], content: bytes = b"report 2\n") -> None:
    with replaced(output, inputs, is_report) as temporary:
        temporary.write_bytes(content)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.jsonl", [run_event(), response_event()])


def itself(log: Path) -> Path:
    return log


def through_a_link(log: Path) -> Path:
    link = log.with_name("link.jsonl")
    link.symlink_to(log.name)
    return link


def through_a_hard_link(log: Path) -> Path:
    link = log.with_name("hard.jsonl")
    link.hardlink_to(log)
    return link


def through_a_detour(log: Path) -> Path:
    (log.parent / "folder").mkdir()
    return log.parent / "folder" / ".." / log.name


@pytest.mark.parametrize("name", [itself, through_a_link, through_a_hard_link, through_a_detour])
@pytest.mark.parametrize("content", [None, b"", b"report 1\n"])
def test_an_input_is_never_an_output(name: Callable[[Path], Path], content: bytes | None, log: Path) -> None:
    """An input is refused under every name that it has, whatever it holds, and keeps its bytes."""
    if content is not None:
        log.write_bytes(content)
    before = log.read_bytes()
    with pytest.raises(UsageError, match="input"):
        write(name(log), [log])
    assert log.read_bytes() == before
    assert not list(log.parent.glob(".keval-*"))


def test_an_input_is_known_by_an_open_descriptor(tmp_path: Path) -> None:
    """`/dev/fd/N` and `/proc/self/fd/N` are the files that they stand for."""
    source = tmp_path / "questions.txt"
    source.write_bytes(b"report\n")
    with source.open("rb+") as opened:
        for name in (f"/dev/fd/{opened.fileno()}", f"/proc/self/fd/{opened.fileno()}"):
            with pytest.raises(UsageError, match="input"):
                write(Path(name), [source])
    assert source.read_bytes() == b"report\n"


def in_a_process(code: str, stdin: int | None = None, stdout: int | None = None) -> subprocess.CompletedProcess[bytes]:
    script = "from pathlib import Path\nfrom keval.errors import KevalError\nfrom keval.logs.outputs import *\n" + code
    return subprocess.run(
        [sys.executable, "-c", script], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, check=False
    )


def test_an_input_on_stdin_is_never_an_output(tmp_path: Path) -> None:
    """A file that stdin was redirected from is an input like one that was named."""
    source = tmp_path / "input"
    source.write_bytes(b"report\n")
    with source.open("rb") as stdin:
        done = in_a_process(f"check_output(Path({str(source)!r}), [STDIN], lambda head: True)", stdin=stdin.fileno())
    assert b"is the same file as stdin, an input" in done.stderr


def test_stdout_never_leads_into_an_input(log: Path) -> None:
    """`>> run.jsonl` is noticed, and the message says what to type instead."""
    with log.open("ab") as stdout:
        done = in_a_process(f"check_stdout([Path({str(log)!r})], 'use --append')", stdout=stdout.fileno())
    assert b"stdout leads into" in done.stderr
    assert b"use --append" in done.stderr


def test_no_file_is_called_as_stdin_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tools take `-o -` for stdout; a file of that name would be found by nobody."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="-o /dev/stdout writes to stdout"):
        write(STDIN, [])
    assert not [*tmp_path.iterdir()]


def test_a_log_is_never_replaced(log: Path) -> None:
    """A log that is no input is refused, too, even if the kind of output would take anything for its own."""
    before = log.read_bytes()
    with pytest.raises(UsageError, match="is a keval log"), replaced(log, [], lambda _: True):
        pass
    assert log.read_bytes() == before


def test_what_is_not_of_its_kind_is_never_replaced(tmp_path: Path) -> None:
    """A file that somebody wrote keeps its bytes, and none of them are shown."""
    notes = tmp_path / "notes.md"
    notes.write_text("# My notes\nkeep them\n")
    with pytest.raises(UsageError, match="it holds text"):
        write(notes, [])
    assert notes.read_text() == "# My notes\nkeep them\n"


def test_an_earlier_output_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    """The same command again replaces its own output; the file's rights stay as they are."""
    report = tmp_path / "report.txt"
    report.write_bytes(b"report 1\n")
    report.chmod(0o640)
    write(report, [])
    assert report.read_bytes() == b"report 2\n"
    assert report.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [report]


def test_a_new_or_an_empty_file_is_written(tmp_path: Path) -> None:
    """What holds nothing can lose nothing."""
    (tmp_path / "empty").touch()
    for name in ("new", "empty"):
        write(tmp_path / name, [tmp_path / "input"])
        assert (tmp_path / name).read_bytes() == b"report 2\n"


def test_an_error_leaves_the_old_output(tmp_path: Path) -> None:
    """An output that could not be made whole does not take the place of the old one."""
    report = tmp_path / "report.txt"
    report.write_bytes(b"report 1\n")

    def fail() -> None:
        with replaced(report, [], is_report) as temporary:
            temporary.write_bytes(b"rep")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert report.read_bytes() == b"report 1\n"
    assert list(tmp_path.iterdir()) == [report]


def test_a_file_that_became_a_log_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """The file is looked at again before it is replaced: a report can take long."""
    output = tmp_path / "report.txt"

    def write_slowly() -> None:
        with replaced(output, [], is_report) as temporary:
            temporary.write_bytes(b"report\n")
            write_log(output, [run_event()])

    with pytest.raises(UsageError, match="is a keval log"):
        write_slowly()
    with output.open("rb") as opened:
        assert begins_as_log(opened.fileno())


def test_what_a_killed_command_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """After kill -9 in the middle the same output again leaves no other file; one at work keeps its own."""
    output = tmp_path / "report.txt"
    code = f"""
        with replaced(Path({str(output)!r}), [], lambda head: True) as temporary:
            temporary.write_bytes(b"half a report")
            print("begun", flush=True)
            input()
    """
    script = "from pathlib import Path\nfrom keval.logs.outputs import replaced\n" + textwrap.dedent(code)
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        (left,) = tmp_path.iterdir()
        write(output, [])
        assert set(tmp_path.iterdir()) == {left, output}
        process.kill()
    write(tmp_path / "another.txt", [])
    assert left.exists()
    write(output, [])
    assert {path.name for path in tmp_path.iterdir()} == {"report.txt", "another.txt"}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What a link leads to is replaced, whether it is there already or not."""
    (tmp_path / "reports").mkdir()
    link = tmp_path / "latest.txt"
    link.symlink_to("reports/today.txt")
    for _ in range(2):
        write(link, [])
        assert link.is_symlink()
        assert (tmp_path / "reports" / "today.txt").read_bytes() == b"report 2\n"


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        (".", "is a folder", UsageError),
        ("no/report.txt", "No such file", EnvironmentLacksError),
        ("file/report.txt", "Not a directory", EnvironmentLacksError),
        ("loop", "Too many levels", EnvironmentLacksError),
        ("r" * 300, "File name too long", EnvironmentLacksError),
        ("/dev/full", "No space left", EnvironmentLacksError),
    ],
)
def test_what_cannot_be_written_is_said(name: str, message: str, kind: type[Exception], tmp_path: Path) -> None:
    """One line names the output and the reason."""
    (tmp_path / "file").write_bytes(b"report\n")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(kind, match=message) as raised:
        write(tmp_path / name, [])
    assert "\n" not in str(raised.value)


def test_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    """A named pipe stays a pipe, and its reader gets the bytes; so does /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, [])
    reader.join()
    assert got == [b"report 2\n"]
    assert pipe.is_fifo()
    write(Path(os.devnull), [Path(os.devnull)])


def test_an_open_descriptor_keeps_its_place_in_the_file(tmp_path: Path) -> None:
    """What a shell wrote before and writes after `-o /dev/stdout` stays around it."""
    path = tmp_path / "all.txt"
    with path.open("wb", buffering=0) as stdout:
        stdout.write(b"before\n")
        code = "with replaced(Path('/dev/stdout'), [], lambda head: False) as to: to.write_bytes(b'report\\n')"
        done = in_a_process(code, stdout=stdout.fileno())
        stdout.write(b"after\n")
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == b"before\nreport\nafter\n"


def test_stdin_that_is_no_file_is_no_output(tmp_path: Path) -> None:
    """Stdin from a pipe or a terminal stands in no output's way."""
    check_output(tmp_path / "new", [STDIN], is_report)


def test_a_disk_that_fills_while_an_output_is_made_is_said(log: Path) -> None:
    """What cannot be written is a message about the output, and the earlier output stays."""
    output = log.parent / "report.md"
    with pytest.raises(EnvironmentLacksError, match=r"report\.md: No space left"), replaced(output, [log], is_report):
        Path("/dev/full").write_bytes(b"report 2")
    assert not output.exists()
    assert sorted(path.name for path in log.parent.iterdir()) == [log.name]
