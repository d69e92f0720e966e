"""Properties of reading lines into a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from keval import projections
from keval.errors import InputError
from keval.events import encode
from keval.logs.collect import collected
from keval.projections import loading
from keval.projections.log_file import LogFile
from keval.projections.views import named_in
from tests.builders import judgment_event, response_event, run_event, write_log

QUERY = """
select r.log, r.position, r.run_id, r.sample_id, r.text, s.score, (select count(*) from runs) as runs
from responses as r left join scores as s on s.response_id = r.id order by r.position
"""


def _logs(folder: Path, number: int) -> list[Path]:
    """Write small logs: a run, two answers and a judgment each; every third log is empty."""
    paths = []
    for place in range(number):
        run_id = f"{place:016x}"
        answers = [response_event(f"q{place}-{each}", text=f"Because {place}-{each}.") for each in range(2)]
        events = [run_event(run_id=run_id, seed=place), *answers, judgment_event(answers[0])]
        paths.append(write_log(folder / f"{place}.jsonl", events if place % 3 else []))
    return paths


def _answers(logs: Sequence[LogFile | Path]) -> list[tuple[object, ...]]:
    with projections.connect(logs, tools=False, asked=named_in(QUERY)) as connection:
        return connection.sql(QUERY).fetchall()


def test_small_logs_read_together_are_those_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, positions, texts and runs are the same, whether one query reads many logs, a few, or one."""
    logs = _logs(tmp_path, 7)
    together = _answers(logs)
    assert len(together) == 8
    for most in (2, 1):
        monkeypatch.setattr(loading, "MOST_TOGETHER", most)
        assert _answers(logs) == together


def test_a_large_log_between_small_ones_is_read_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of logs is kept, whichever are read together."""
    logs = _logs(tmp_path, 6)
    expected = _answers(logs)
    monkeypatch.setattr(loading, "SMALL", logs[4].stat().st_size - 1)
    assert _answers(logs) == expected


@pytest.mark.parametrize("spoil", [lambda raw: raw.rstrip(b"\n"), lambda raw: b"\n" + raw.replace(b"\n", b"\n\n")])
def test_blank_lines_and_a_missing_last_newline_change_nothing(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """What stands between the lines of one log moves none of another one."""
    logs = _logs(tmp_path, 3)
    expected = _answers(logs)
    for log in logs:
        log.write_bytes(spoil(log.read_bytes()))
    assert _answers(logs) == expected


def test_what_is_appended_after_the_check_is_in_no_log(tmp_path: Path) -> None:
    """A line that came after a log was looked at is not read, nor is one that is half written."""
    logs = [LogFile(path, str(path)) for path in _logs(tmp_path, 3)]
    expected = _answers(logs)
    assert [len(log.where.offsets) for log in logs] == [0, 4, 4]
    for log in logs:
        with log.path.open("ab") as writer:
            writer.write(encode(response_event("late")) + b'{"type":"resp')
    assert _answers(logs) == expected


@pytest.mark.parametrize("left", [b"", b'{"type":"run"}\n'])
def test_a_log_that_lost_lines_meanwhile_is_an_error(tmp_path: Path, left: bytes) -> None:
    """Lines that were checked and are gone are told; no number is computed from the rest."""
    logs = [LogFile(path, str(path)) for path in _logs(tmp_path, 3)]
    assert all(log.where for log in logs)
    logs[1].path.write_bytes(left)
    with pytest.raises(InputError, match=r"1\.jsonl: changed while it was read"):
        _answers(logs)


@pytest.mark.slow
@pytest.mark.parametrize("is_checked", [False, True])
def test_a_long_line_that_is_cut_off_ends_no_reading(tmp_path: Path, *, is_checked: bool) -> None:
    """It is longer than all that was checked, whether a crash left it there or a writer is on its way."""
    (path,) = _logs(tmp_path, 2)[1:]
    expected = _answers([path])
    tail = encode(response_event("q9", text="x" * 2**24))[:-20]
    if is_checked:
        log = LogFile(path, str(path))
        assert len(log.where.offsets) == 4
        with path.open("ab") as file:
            file.write(tail)
        assert _answers([log]) == expected
        return
    with path.open("ab") as file:
        file.write(tail)
    said: list[str] = []
    with collected([path], said.append) as files:
        assert _answers(files) == expected
    assert said == [f"{path}:5: the last line is cut off and was left out"]


@pytest.mark.slow
def test_long_lines_that_are_skipped_end_no_reading(tmp_path: Path) -> None:
    """They stand at the end, a short one first, and are longer than all that was checked."""
    (path,) = _logs(tmp_path, 2)[1:]
    expected = _answers([path])
    with path.open("ab") as file:
        file.write(b"a\n" + b"b" * 2**25 + b"\n")
    said: list[str] = []
    with collected([path], said.append, skip_invalid=True) as files:
        assert _answers(files) == expected
    assert len(said) == 2
