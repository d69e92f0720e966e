"""Properties of the index beside a log: it changes no number, and is neither trusted by mistake nor in the way."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pytest

from keval import projections
from keval.errors import InputError
from keval.events import encode
from keval.ids import JsonObject
from keval.logs import index
from keval.logs.check import Check
from keval.logs.collect import collected
from keval.projections.log_file import ChangedError, LogFile
from tests.builders import judgment_event, response_event, retraction_event, run_event, write_log

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet
    from duckdb import DuckDBPyConnection

ASKED = ("responses", "judgments", "condition_means", "missing", "costs", "left_out")

Said = dict[str, list[tuple[object, ...]]]

NEVER = 2**62
"""Bytes that no log has."""

ANSWERS = [response_event(f"q{number}", text=f"answer {number}") for number in range(9)]
EVENTS = [run_event(samples=9), *ANSWERS, *(judgment_event(answer, 3) for answer in ANSWERS[:8])]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "run.jsonl", EVENTS)


def slow(value: object) -> ParameterSet:
    """Return a value for which a test runs with the slow ones: it repeats the others in another shape."""
    return pytest.param(value, marks=pytest.mark.slow)


def views(*logs: Path, smallest: int = 1, skip_invalid: bool = False) -> Said:
    """Return the rows of all views of logs, each with an index."""
    with (
        collected(logs, print, smallest=smallest, skip_invalid=skip_invalid) as files,
        projections.connect(files, tools=False, asked=ASKED) as connection,
    ):
        return said(connection)


def said(connection: DuckDBPyConnection, asked: Iterable[str] = ASKED) -> Said:
    """Return the rows of views; by default of those that are made from all tables and from the log's texts."""
    return {view: sorted(connection.sql(f"from {view}").fetchall(), key=repr) for view in asked}


def is_right(*logs: Path, skip_invalid: bool = False) -> bool:
    """Return whether logs say with their indexes what they say without, the first time and again."""
    expected = views(*logs, smallest=NEVER, skip_invalid=skip_invalid)
    return all(views(*logs, skip_invalid=skip_invalid) == expected for _ in range(2))


def beside(log: Path) -> Path:
    return log.with_name(f"{log.name}.index")


def is_used(log: Path) -> bool:
    """Return whether the index of a log is true of it."""
    with ExitStack() as kept:
        return index.find(log, kept) is not None


@cache
def _index() -> bytes:
    """Return what the index of a log of EVENTS holds."""
    with TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "run.jsonl", EVENTS)
        views(log)
        return beside(log).read_bytes()


def with_index(log: Path) -> None:
    """Put an index beside a log of EVENTS, as if it had been made there."""
    beside(log).write_bytes(_index())
    assert is_used(log)


def append(log: Path, *events: JsonObject) -> None:
    with log.open("ab") as file:
        file.writelines(map(encode, events))


def test_an_index_is_made_once_and_used_again(log: Path) -> None:
    """The second call leaves the file as it is and says the same."""
    assert is_right(log)
    made = _as_written(beside(log))
    assert is_used(log)
    assert is_right(log)
    assert _as_written(beside(log)) == made
    assert {path.name for path in log.parent.iterdir()} == {"run.jsonl", "run.jsonl.index"}


def test_a_small_log_gets_no_index(log: Path) -> None:
    """Without being asked for it, nothing is written beside a log of some kilobytes."""
    with collected([log], print) as (file,):
        assert file.stored is None
    assert not beside(log).exists()


def _in_place(log: Path, changed: bytes) -> None:
    with log.open("r+b") as file:
        file.write(changed)


def _by_rename(log: Path, changed: bytes) -> None:
    new = log.with_name("new")
    new.write_bytes(changed)
    new.rename(log)


def _written_over(log: Path, changed: bytes) -> None:
    log.write_bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("edit", [_in_place, slow(_by_rename), slow(_written_over)])
def test_an_edit_of_the_same_length_is_noticed(log: Path, edit: Callable[[Path, bytes], None]) -> None:
    """Another number in the middle counts, though the log has its old length and its old time."""
    views(log)
    before = log.stat()
    text = log.read_bytes()
    changed = text.replace(b'"completeness":{"score":3', b'"completeness":{"score":5', 1)
    assert changed != text
    edit(log, changed)
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not is_used(log)
    assert is_right(log)
    assert is_used(log)


@pytest.mark.slow
def test_another_log_of_the_same_length_is_another_log(log: Path, tmp_path: Path) -> None:
    """The index of a log is not taken for that of a log which is put in its place."""
    views(log)
    other = [event | {"run_id": "f" * 16} for event in EVENTS]
    before = log.stat()
    write_log(tmp_path / "other.jsonl", other).rename(log)
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert log.stat().st_size == before.st_size
    assert is_right(log)


@pytest.mark.slow
def test_a_log_that_was_copied_or_renamed_with_its_index_keeps_it(log: Path) -> None:
    """The bytes decide, where the file's status says that it might be another one."""
    views(log)
    log.write_bytes(text := log.read_bytes())
    assert is_used(log)
    moved = log.with_name("moved.jsonl")
    moved.write_bytes(text)
    beside(log).rename(beside(moved))
    assert is_used(moved)
    assert is_right(moved)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, slow(0.2), slow(0.97)])
def test_a_log_that_was_cut_off_is_read_anew(log: Path, share: float) -> None:
    """Fewer lines than the index has, or a line cut in its middle: what is there counts."""
    with_index(log)
    os.truncate(log, int(log.stat().st_size * share))
    assert not is_used(log)
    assert is_right(log)


ADDED: dict[str, bytes] = {
    "an answer": encode(response_event("q1", text="another answer")),
    "a judgment": encode(judgment_event(ANSWERS[8], 5)),
    "a retraction": encode(retraction_event(ANSWERS[2])),
    "a run": encode(run_event(samples=9, seed=7)),
    "a torn line": encode(judgment_event(ANSWERS[8], 5))[:-20],
    "a line and a torn one": encode(judgment_event(ANSWERS[8], 5)) + b'{"type":"judg',
    "a line without its end": encode(judgment_event(ANSWERS[8], 5))[:-1],
    "blank lines": b"\n \n",
    "a line after a blank one": b"\n" + encode(judgment_event(ANSWERS[8], 5)),
    "an unknown type": encode(run_event() | {"type": "note", "id": "n"}),
}


@pytest.mark.parametrize("name", [slow(name) if number else name for number, name in enumerate(ADDED)])
def test_lines_that_were_appended_count(log: Path, name: str) -> None:
    """Whatever was added is seen, though nothing of it is in the index."""
    with_index(log)
    with log.open("ab") as file:
        file.write(ADDED[name])
    assert is_used(log)
    assert is_right(log)


@pytest.mark.slow
def test_lines_follow_lines_that_are_not_in_the_index(log: Path) -> None:
    """Line after line, the index stays until an eighth of the log is not in it."""
    with_index(log)
    made = beside(log).stat().st_ino
    kept = []
    for number in range(4):
        append(log, response_event(f"new {number}"))
        assert is_right(log)
        kept.append(beside(log).stat().st_ino == made)
    assert kept[0]
    assert not kept[-1]


@pytest.mark.slow
def test_an_invalid_line_that_was_appended_is_named(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With an index as without, it stops the command; and with `skip_invalid` it is left out, and said so once."""
    with_index(log)
    with log.open("ab") as file:
        file.write(b'{"type":"response"}\n' + encode(judgment_event(ANSWERS[8], 5)))
    with pytest.raises(InputError, match=rf"run\.jsonl:{len(EVENTS) + 1}: "):
        views(log)
    capfd.readouterr()
    views(log, skip_invalid=True)
    assert capfd.readouterr().out.count(f"run.jsonl:{len(EVENTS) + 1}: skipped") == 1
    assert is_right(log, skip_invalid=True)


@pytest.mark.slow
def test_an_invalid_line_in_the_middle_leaves_no_index(log: Path) -> None:
    """What is left out is no part of an index, so nothing has to know by which option one was made."""
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:4], b"{}\n", *lines[4:]]))
    with pytest.raises(InputError, match=r"run\.jsonl:5: "):
        views(log)
    assert is_right(log, skip_invalid=True)
    assert [path.name for path in log.parent.iterdir()] == ["run.jsonl"]


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _cut_little(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def _flip_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4096] = bytes(byte ^ 0xFF for byte in data[middle : middle + 4096])
    path.write_bytes(data)


def _garbage(path: Path) -> None:
    path.write_bytes(b"\xffgarbage" * 1000)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _more(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"x" * 100)


def _sqlite(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("create table note (note)")


def _duckdb(path: Path) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table note as select 'a line of mine' as line")
        connection.execute(projections.views_sql([path.with_name(path.name.removesuffix(".index"))]))


def _older(path: Path) -> None:
    data = path.read_bytes()
    number = data.index(b"0.", data.rindex(b'{"lines"') - 120)
    path.write_bytes(data[:number] + b"9" + data[number + 1 :])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _as_written(path: Path) -> tuple[int, ...]:
    """Return what says of a file, or a pipe, whether it was written; to read it changes none of this."""
    found = path.stat()
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def _of_another(path: Path) -> None:
    other = write_log(path.with_name("other.jsonl"), [run_event(samples=1), response_event("q1", text="other")])
    views(other)
    beside(other).rename(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [_cut, _flip_middle, *map(slow, (_older, _of_another, _cut_little, _empty, _more, _dangling))],
)
def test_a_file_that_is_no_whole_index_of_the_log_is_replaced(log: Path, damage: Callable[[Path], None]) -> None:
    """Whatever is found under the index's name is looked at before DuckDB is, and a new index takes its place."""
    with_index(log)
    damage(beside(log))
    assert not is_used(log)
    assert is_right(log)
    assert is_used(log)


@pytest.mark.parametrize("other", [_garbage, _duckdb, slow(_sqlite), slow(_pipe)])
@pytest.mark.slow
def test_what_is_somebody_s_file_is_left_alone(log: Path, other: Callable[[Path], None]) -> None:
    """A file that is no index, also a DuckDB database, keeps every byte, the reader is told, every number is right."""
    with_index(log)
    other(beside(log))
    before = _as_written(beside(log))
    told: list[str] = []
    with collected([log], told.append, smallest=1) as files:
        assert files[0].lines is not None
    assert "is left as it is" in told[0]
    assert is_right(log)
    assert _as_written(beside(log)) == before


@pytest.mark.slow
def test_an_index_whose_name_is_too_long_is_told_so(tmp_path: Path) -> None:
    """The log is read without one that lasts: nothing is there that could be somebody's."""
    log = write_log(tmp_path / f"{'n' * 247}.jsonl", [run_event(), response_event()])
    told: list[str] = []
    with collected([log], told.append, smallest=1) as files:
        assert files[0].lines == 2
    assert [each.partition(".index: ")[2].partition(",")[0] for each in told] == ["File name too long"]


def _changed_by_duckdb(index: Path) -> None:
    """Leave beside an index what a DuckDB that was killed had written into it."""
    copy = index.with_name("copy.db")
    copy.write_bytes(index.read_bytes())
    script = (
        "import duckdb, os, sys; index = duckdb.connect(sys.argv[1]); "
        "index.execute(\"set wal_autocheckpoint = '1TB'\"); "
        "index.execute('delete from lines where rowid % 2 = 1'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, copy], check=True)
    copy.with_name("copy.db.wal").rename(f"{index}.wal")
    copy.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("left", [_changed_by_duckdb, lambda index: os.mkfifo(f"{index}.wal")])
@pytest.mark.parametrize("remade", [False, True])
def test_what_another_program_wrote_into_an_index_counts_in_no_number(
    log: Path, left: Callable[[Path], None], remade: bool
) -> None:
    """DuckDB would read the file of changes with the index, whose hash says nothing of it, and wait for a pipe."""
    with_index(log)
    left(beside(log))
    if remade:
        beside(log).unlink()
    told: list[str] = []
    with collected([log], told.append, smallest=1) as files:
        assert files[0].lines is not None
    assert "run.jsonl.index.wal holds what another program wrote" in told[0]
    assert is_right(log)
    Path(f"{beside(log)}.wal").unlink()
    assert is_right(log)


@pytest.mark.slow
def test_a_folder_in_the_index_s_place_is_left_alone(log: Path) -> None:
    """Nothing in it is touched, and every number is as it should be."""
    with_index(log)
    _folder(beside(log))
    assert is_right(log)
    assert [path.name for path in beside(log).iterdir()] == ["file"]
    assert {path.name for path in log.parent.iterdir()} == {"run.jsonl", "run.jsonl.index"}


@pytest.mark.slow
def test_a_link_in_the_index_s_place_is_not_followed(log: Path, tmp_path: Path) -> None:
    """What the link leads to keeps every byte, and so does the link, which somebody made."""
    (tmp_path / "precious").write_text("mine")
    beside(log).symlink_to("precious")
    assert is_right(log)
    assert (tmp_path / "precious").read_text() == "mine"
    assert beside(log).is_symlink()


@pytest.mark.slow
def test_an_index_is_read_to_the_end_though_a_newer_one_took_its_place(log: Path) -> None:
    """Two commands at once: what one found stays the same for it, while the other one puts a new file there."""
    expected = views(log, smallest=NEVER)
    views(log)
    with collected([log], print, smallest=1) as files:
        append(log, *(response_event(f"new {number}") for number in range(20)))
        views(log)
        with projections.connect(files) as connection:
            assert said(connection) == expected


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o640, slow(0o600), slow(0o444)])
def test_an_index_is_as_private_as_its_log(log: Path, mode: int) -> None:
    """Who may not read the log may not read what was computed from it."""
    log.chmod(mode)
    views(log)
    assert stat.S_IMODE(beside(log).stat().st_mode) == mode
    assert beside(log).stat().st_gid == log.stat().st_gid


@pytest.mark.slow
def test_whoever_may_no_longer_read_a_log_may_no_longer_read_its_index(log: Path) -> None:
    """The next command that reads the log takes it from the index too, which is not made anew for that."""
    log.chmod(0o644)
    first = views(log)
    log.chmod(0o600)
    made = beside(log).stat().st_ino
    assert views(log) == first
    assert (stat.S_IMODE(beside(log).stat().st_mode), beside(log).stat().st_ino) == (0o600, made)


@pytest.mark.parametrize(
    "name",
    [
        "it's [1]*?#%20.jsonl",
        *(slow(name) for name in ("x" * 240 + ".jsonl", "Ünï→.jsonl", "a\nb.jsonl", "md:x.jsonl", "a?b#c%20.jsonl")),
    ],
)
@pytest.mark.slow
def test_a_log_may_have_any_name(tmp_path: Path, name: str) -> None:
    """Nothing of a name is taken for a pattern, an address or the end of an SQL string."""
    log = write_log(tmp_path / name, EVENTS)
    assert is_right(log)
    append(log, judgment_event(ANSWERS[8], 5))
    assert is_right(log)


@pytest.mark.slow
def test_a_log_has_one_index_by_whatever_name_it_is_given(log: Path, tmp_path: Path) -> None:
    """A link leads to the log, and the index lies beside the log."""
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "latest.jsonl"
    link.symlink_to(log)
    assert is_right(link)
    assert is_used(log)
    assert [path.name for path in link.parent.iterdir()] == ["latest.jsonl"]
    with log.open("rb") as file:
        assert is_used(Path(f"/dev/fd/{file.fileno()}"))


@pytest.mark.slow
def test_logs_of_one_name_beside_which_nothing_can_be_made(tmp_path: Path) -> None:
    """Each has an index of its own for as long as the command runs, be it that a folder's name would be too long."""
    logs = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        logs.append(write_log(tmp_path / folder / f"{'x' * 240}.jsonl", [*EVENTS, response_event(folder)]))
    assert is_right(*logs)
    assert [len(list(path.parent.iterdir())) for path in logs] == [1, 1]


@pytest.mark.slow
def test_several_logs_are_merged_with_and_without_indexes(log: Path, tmp_path: Path) -> None:
    """Some have an index, one has a newer end, one is given twice: merged they say what they say without."""
    second = write_log(tmp_path / "second.jsonl", [run_event(samples=2), response_event("s1")])
    third = write_log(tmp_path / "third.jsonl", [response_event("q1", text="last")])
    views(log)
    views(third)
    append(third, judgment_event(response_event("q1", text="last"), 1))
    logs = (log, second, third, log)
    assert is_right(*logs)
    found = []
    for smallest in (NEVER, 1):
        with (
            collected(logs[:3], print, smallest=smallest) as files,
            projections.connect(files, everything=True) as connection,
        ):
            found.append(said(connection))
    assert found[0] == found[1]


@pytest.mark.slow
def test_of_logs_that_are_kept_apart_all_that_is_stored_is_shown(log: Path, tmp_path: Path) -> None:
    """All views say what they say without an index, also of a log that has new lines or is given twice."""
    second = write_log(tmp_path / "second.jsonl", [*EVENTS, judgment_event(ANSWERS[8], 5)])
    for path in (log, second):
        views(path)
    append(second, judgment_event(ANSWERS[0], 5))
    found, stored = [], []
    for smallest in (NEVER, 1):
        with (
            collected((log, second, log), print, smallest=smallest) as files,
            projections.connect(files, apart=True) as connection,
        ):
            found.append(said(connection, projections.VIEWS))
            databases = connection.sql("select database_name from duckdb_databases()").fetchall()
            stored.append(sorted(name for (name,) in databases if name.startswith("stored_")))
    assert found[0] == found[1]
    assert stored == [[], ["stored_1", "stored_3"]], "what is stored is not computed again"


@pytest.mark.slow
def test_what_killed_commands_left_is_removed_and_what_others_make_is_not(log: Path) -> None:
    """An abandoned folder beside a log is gone with the next index; one that is in use, or somebody else's, stays."""
    left = log.with_name("run.jsonl.index.kvtask-abandoned")
    others = [log.with_name("run.jsonl.index.2026"), log.with_name("run2.jsonl.index.kvtask-other")]
    for folder in (left, *others):
        folder.mkdir()
        (folder / "index").touch()
    from keval.processes import temporary

    in_use, remove = temporary.beside(index.path_of(log))
    views(log)
    assert not left.exists()
    assert in_use.exists()
    assert all(folder.exists() for folder in others)
    remove()


def test_a_log_that_is_edited_while_it_is_indexed_gets_no_index(log: Path) -> None:
    """What was checked and what the tables were made from may differ then, so neither is kept."""
    check = Check(log, print)
    text = log.read_bytes()

    def find_and_edit() -> object:
        where = check.all()
        _in_place(log, text.replace(b'"score":3', b'"score":5', 1))
        return where

    file = LogFile(log, "run.jsonl", find_lines=find_and_edit, is_checked=False)  # type: ignore[arg-type]  # it returns Lines
    with ExitStack() as kept, pytest.raises(ChangedError, match="changed while it was read"):
        index.make(file, log.with_name("spare"), check, kept)
    assert not beside(log).exists()


@pytest.mark.slow
def test_a_log_that_is_appended_to_while_it_is_indexed_gets_one(log: Path) -> None:
    """Appending changes no line that was read."""
    check = Check(log, print)

    def find_and_append() -> object:
        where = check.all()
        append(log, response_event("late"))
        return where

    file = LogFile(log, "run.jsonl", find_lines=find_and_append, is_checked=False)  # type: ignore[arg-type]  # it returns Lines
    with ExitStack() as kept:
        made = index.make(file, log.with_name("spare"), check, kept)
        assert made.lines == len(EVENTS)
    assert is_used(log)
    assert is_right(log)
