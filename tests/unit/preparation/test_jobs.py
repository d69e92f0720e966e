from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.ids import sample_sha256
from keval.preparation.jobs import Backlog, jobs
from keval.preparation.unjudged import Missing
from tests.builders import response_event, sample, sample_change_event, write_log
from tests.jobs import exact_judge

ANSWER, OTHER = response_event("q1"), response_event("q2")
CORRECTED = {**sample("q1"), "answer": "Since."}
EVENTS = [ANSWER, OTHER, sample_change_event(CORRECTED, "answer")]


def places(log: Path) -> Iterator[int]:
    """Yield where each line of a log begins."""
    offset = 0
    for line in log.read_bytes().splitlines(keepends=True):
        yield offset
        offset += len(line)


def test_a_job_is_made_of_each_missing_judgment(tmp_path: Path) -> None:
    """With the same id as for a response that has just come; the log is read one response at a time, in order."""
    log = write_log(tmp_path / "run.jsonl", EVENTS)
    first, second, _ = places(log)
    judges = [exact_judge(2), exact_judge(ignore_case=False)]
    missing = [Missing(first, first, 0, 2, -1), Missing(first, first, 1, 1, -1), Missing(second, second, 0, 1, -1)]
    backlog = Backlog(log, missing, judges)
    assert dict(backlog.planned) == {"exact": 3}
    expected = [*jobs(ANSWER, judges, set())[1:], jobs(OTHER, judges, set())[0]]
    assert list(backlog) == expected


def test_an_answer_is_judged_by_the_newest_record_of_its_sample(tmp_path: Path) -> None:
    """The record comes from the line in which it was noted; all else stays."""
    log = write_log(tmp_path / "run.jsonl", EVENTS)
    first, _, change = places(log)
    (job,) = Backlog(log, [Missing(first, change, 0, 1, -1)], [exact_judge()])
    corrected = ANSWER | {"sample": CORRECTED, "sample_sha256": sample_sha256(CORRECTED)}
    assert job.response == job.unredacted == corrected
    assert job == jobs(corrected, [exact_judge()], set())[0]


def test_the_dataset_of_a_run_is_newer_than_its_log(tmp_path: Path) -> None:
    """A run judges what earlier runs left by the records that it has read itself."""
    log = write_log(tmp_path / "run.jsonl", EVENTS)
    first, second, change = places(log)
    newest = {**CORRECTED, "note": "newer"}
    missing = [Missing(first, change, 0, 1, -1), Missing(second, second, 0, 1, -1)]
    found = Backlog(log, missing, [exact_judge()], [ANSWER["question_id"]], [newest])
    assert [job.response["sample"] for job in found] == [newest, OTHER["sample"]]


def test_a_backlog_is_read_from_whatever_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of the user's may change the one in which keval runs before all is read."""
    first, *_ = places(write_log(tmp_path / "run.jsonl", EVENTS))
    monkeypatch.chdir(tmp_path)
    backlog = Backlog(Path("run.jsonl"), [Missing(first, first, 0, 1, -1)], [exact_judge()])
    monkeypatch.chdir("/")
    assert len(list(backlog)) == 1


def test_a_log_that_is_edited_while_it_is_read_is_told(tmp_path: Path) -> None:
    """Where a response began stands something else now: no other text is judged in its name."""
    log = write_log(tmp_path / "run.jsonl", EVENTS)
    first, _, change = places(log)
    with pytest.raises(InputError, match="was changed while the log was read"):
        list(Backlog(log, [Missing(change, change, 0, 1, -1)], [exact_judge()]))
    log.write_bytes(b"x" + log.read_bytes())
    with pytest.raises(InputError, match="was changed while the log was read"):
        list(Backlog(log, [Missing(first, first, 0, 1, -1)], [exact_judge()]))


def test_what_is_judged_is_no_job() -> None:
    """Of several replicates those are left that are not there."""
    judge = exact_judge(3)
    first, second, third = jobs(ANSWER, [judge], set())
    assert jobs(ANSWER, [judge], {second.judgment_id}) == [first, third]
