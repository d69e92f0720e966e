from __future__ import annotations

import gzip
import os
import resource
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

import pytest

from keval import projections
from keval.cli import run
from keval.errors import InputError
from keval.events import encode, event
from keval.logs.collect import collected
from keval.projections.log_file import LogFile
from keval.projections.views import named_in
from tests.builders import judgment_event, response_event, run_event, write_log


def lines(*ids: str) -> bytes:
    made = (event("retraction", each, "r", target="t", reason="x", author=None) for each in ids)
    return b"".join(encode(each | {"time": "2026-11-20T11:00:00.123Z"}) for each in made)


def test_a_whole_log_is_used_as_it_is(tmp_path: Path) -> None:
    """No copy is made of a log in which every line is a valid event."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a", "b"))
    with collected([log], lambda _: None) as files:
        assert files == [LogFile(log, str(log), 2)]


@pytest.mark.parametrize("tail", [b'{"type":"ret', b"\n\n", lines("c")[:-2]])
def test_what_follows_the_last_whole_line_is_not_counted(tmp_path: Path, tail: bytes) -> None:
    """A log whose last line is being written is used as it is, without that line."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a") + tail)
    with collected([log], lambda _: None) as (file,):
        assert file == LogFile(log, str(log), 1)
        assert b"".join(file.read()) == lines("a")
    assert log.read_bytes().endswith(tail)


def test_a_last_event_without_its_newline_gets_it_in_a_copy(tmp_path: Path) -> None:
    """A whole last line counts; the log itself is left as it is."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a", "b").rstrip(b"\n"))
    with collected([log], lambda _: None) as (file,):
        assert (file.name, file.lines) == (str(log), 2)
        assert file.path.read_bytes() == lines("a", "b")
    assert not log.read_bytes().endswith(b"\n")
    assert not file.path.exists()


def test_what_is_appended_after_the_check_is_not_read(tmp_path: Path) -> None:
    """A writer that goes on while a log is read, with lines and half a line, changes nothing of what is seen."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(lines("a") + b"\n" + lines("b"))
    with collected([log], print) as (copied,):
        with log.open("ab") as writer:
            writer.write(lines("c") + b'{"type":"ret')
        assert b"".join(copied.read()) == lines("a", "b")
    with collected([log], print) as (copied,):
        assert b"".join(copied.read()) == lines("a", "b", "c")


@pytest.mark.parametrize("head", [b"", b"\n"])
def test_the_longest_line_is_known_without_another_reading(tmp_path: Path, head: bytes) -> None:
    """It was counted when the lines were checked or copied; of a file that nobody checked, it is read."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(head + lines("a" * 100, "b"))
    with collected([log], print) as (file,):
        assert file.is_checked
        assert file.where.longest == len(lines("a" * 100))
    assert LogFile(log, "run.jsonl").where.longest == len(lines("a" * 100))


def test_a_bad_line_stops_unless_it_shall_be_skipped(tmp_path: Path) -> None:
    """Skipping is explicit, and names the line."""
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"{}\n" + lines("a"))
    with pytest.raises(InputError, match=r"run\.jsonl:1: "), collected([log], lambda _: None):
        pass
    said: list[str] = []
    with collected([log], said.append, skip_invalid=True) as (copy,):
        assert list(copy.read()) == [lines("a")]
    assert "run.jsonl:1: skipped" in said[0]


def test_a_log_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message holds the path and the reason."""
    with (
        pytest.raises(InputError, match=r"nowhere\.jsonl: No such file"),
        collected([tmp_path / "nowhere.jsonl"], print),
    ):
        pass


def test_a_pipe_with_a_name_is_read_once(tmp_path: Path) -> None:
    """What a shell gives as `<(command)` becomes a copy, checked like any log."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=[lines("a", "b")])
    writer.start()
    with collected([fifo], lambda _: None) as (copy,):
        writer.join()
        assert (copy.name, copy.lines) == (str(fifo), 2)
        assert copy.path.read_bytes() == lines("a", "b")


QUERY = """
select r.position, r.sample_id, r.text, s.score, (select sum(cost_usd) from costs) as cost
from responses as r left join scores as s on s.response_id = r.id order by r.position
"""


def answers(*texts: str) -> bytes:
    """Return a run, and an answer and a judgment of each text."""
    responses = [response_event(f"q{number}", text=text) for number, text in enumerate(texts)]
    judged = chain.from_iterable((response, judgment_event(response)) for response in responses)
    return b"".join(map(encode, [run_event(samples=len(texts)), *judged]))


@contextmanager
def piped(raw: bytes, fifo: Path) -> Iterator[Path]:
    """Give a pipe with a name, from which these bytes come."""

    def write() -> None:
        with suppress(BrokenPipeError):  # who reads may stop before the end
            fifo.write_bytes(raw)

    os.mkfifo(fifo)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield fifo
    finally:
        writer.join()


def found(
    files: Sequence[LogFile | Path], *, everything: bool = False, apart: bool = False
) -> list[tuple[object, ...]]:
    with projections.connect(
        files, everything=everything, apart=apart, tools=False, asked=named_in(QUERY)
    ) as connection:
        return connection.sql(QUERY).fetchall()


SHORT = ["a", "b", "c"] * 20
CHUNK = "because " * 2**15
"""A text of more bytes than are read at once."""
LONG = "because " * 2**18
"""A text of more bytes than DuckDB is told at first that a line has."""


@pytest.mark.parametrize(
    ("texts", "piece", "asked"),
    [
        (SHORT, 2**24, {}),
        pytest.param([*SHORT, CHUNK, *SHORT, CHUNK, *SHORT], 1, {}, marks=pytest.mark.slow),
        ([*SHORT, CHUNK, *SHORT, CHUNK, *SHORT], 2**18, {"everything": True}),
        pytest.param([*SHORT, CHUNK, *SHORT, CHUNK, *SHORT], 1, {"apart": True}, marks=pytest.mark.slow),
        (["a", LONG, "b", CHUNK], 1, {}),
        pytest.param([LONG, LONG], 1, {"apart": True}, marks=pytest.mark.slow),
    ],
)
def test_what_is_read_while_it_comes_in_is_what_it_is_in_a_file(
    texts: list[str], piece: int, asked: Mapping[str, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much of a pipe is copied before the rest is read, tables and texts are those of a log.

    So much comes in this way that its tables are made in a file, always.
    """
    monkeypatch.setattr(projections, "MOST_IN_MEMORY", 0)
    log = tmp_path / "log.jsonl"
    log.write_bytes(answers(*texts))
    with piped(log.read_bytes(), tmp_path / "fifo") as fifo, collected([fifo], print, piece=piece) as files:
        assert (files[0].growing is None) == (piece > log.stat().st_size)
        expected = found([log], **asked)
        for _ in range(2):
            assert found(files, **asked) == expected
        assert b"".join(files[0].read()) == log.read_bytes()


def test_what_there_is_no_room_to_read_meanwhile_is_read_afterwards(tmp_path: Path) -> None:
    """A log that fits into the temporary folder, but no part of it beside it, is read as it was before."""
    raw = answers("a", CHUNK, "c")
    (tmp_path / "log.jsonl").write_bytes(raw)
    with piped(raw, tmp_path / "fifo") as fifo, collected([fifo], print, piece=1) as (file,):
        assert file.growing is not None
        file.growing.reaches(2**60)  # more than any disk has
        assert found([file]) == found([tmp_path / "log.jsonl"])


def test_lines_are_all_there_for_who_reads_no_table(tmp_path: Path) -> None:
    """Whoever reads the copy itself reads all of it, though only a part was copied before."""
    raw = answers("a", CHUNK, "c")
    with piped(raw, tmp_path / "fifo") as fifo, collected([fifo], print, piece=1) as (file,):
        assert file.path.stat().st_size < len(raw)
        assert b"".join(file.read()) == raw


def test_several_pipes_are_copied_before_they_are_read(tmp_path: Path) -> None:
    """Tables of several logs are made one log after the other, and the lines of all are counted first."""
    parts = [answers("a"), lines("b")]
    with (
        piped(parts[0], tmp_path / "one") as one,
        piped(parts[1], tmp_path / "two") as two,
        collected([one, two], print, piece=1) as files,
    ):
        assert [file.lines for file in files] == [3, 1]
        assert len(found(files)) == 1


def test_more_packed_logs_are_read_than_files_may_be_open(tmp_path: Path) -> None:
    """Each is closed when it has been copied."""
    packed = [tmp_path / f"{number}.jsonl.gz" for number in range(100)]
    for log in packed:
        log.write_bytes(gzip.compress(lines("a")))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE,
        (min(before[0], max(int(each.name) for each in Path("/dev/fd").iterdir()) + 50), before[1]),
    )
    try:
        with collected(packed, print) as files:
            assert [file.lines for file in files] == [1] * len(packed)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_line_that_is_no_event_is_told_from_the_midst_of_what_comes_in(tmp_path: Path) -> None:
    """What was read of the lines before it counts for nothing, and nobody waits for more."""
    raw = answers("a", CHUNK) + b"{}\n" + lines("c")
    with (
        piped(raw, tmp_path / "fifo") as fifo,
        collected([fifo], print, piece=1) as files,
        pytest.raises(InputError, match="fifo:6: "),
    ):
        found(files)
    said: list[str] = []
    with (
        piped(raw, tmp_path / "again") as fifo,
        collected([fifo], said.append, skip_invalid=True, piece=1) as files,
    ):
        assert len(found(files)) == 2
        assert len(said) == 1


@pytest.mark.parametrize("command", ["aggregate", "report", "compare", "agreement", "plan", "gate"])
def test_a_log_without_events_is_no_input(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """All that say what a log shows end with one exit code, and name the log: it shows nothing good or bad."""
    log = tmp_path / "empty.jsonl"
    log.touch()
    options = {"compare": [str(log)], "plan": ["--difference", "0.3"], "gate": ["--rule", "missing <= 5%"]}
    assert run([command, str(log), *options.get(command, [])]) == 3
    said = capfd.readouterr()
    assert "empty.jsonl: no events in it" in said.err
    assert said.out == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such a name")
def test_a_log_whose_name_is_no_text_is_told_and_the_others_are_listed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A folder may hold what nobody can type: no log and no database can say its name."""
    write_log(tmp_path / "good.jsonl", [run_event()])
    os.link(tmp_path / "good.jsonl", bytes(tmp_path) + b"/b\xff.jsonl")
    assert run(["list", str(tmp_path)]) == 3
    said = capfd.readouterr()
    assert "good.jsonl" in said.out
    assert "is no text in utf-8; a file can be renamed" in said.err
