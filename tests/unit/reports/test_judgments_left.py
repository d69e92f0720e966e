"""What a judge has still to do is counted judgment by judgment, and a failure is no judgment that nobody began."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.projections.log_file import as_log_file
from keval.reports.builder import compose
from keval.reports.judgments_left import judgments_left
from keval.reports.overview import READ
from keval.reports.queries import ask
from keval.reports.summaries import summaries
from tests.builders import (
    judge_entry,
    judge_failure_event,
    judgment_event,
    response_event,
    retraction_event,
    run_event,
    write_log,
)

ANSWER = response_event()
JUDGED = [judgment_event(ANSWER, replicate=number) for number in (1, 2, 3)]
FAILED = [judge_failure_event(ANSWER, replicate=number) for number in (1, 2, 3)]


def run(replicates: int = 3) -> JsonObject:
    """Return a run of one answer and one judge."""
    return run_event(["baseline"], samples=1, judges=[{**judge_entry(), "replicates": replicates}])


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], (3, 0, 0)),
        (JUDGED[:1], (2, 0, 0)),
        ([JUDGED[0], FAILED[1]], (1, 1, 1)),
        ([FAILED[1], JUDGED[0]], (1, 1, 1)),
        ([JUDGED[0], FAILED[1], FAILED[1], FAILED[2]], (0, 2, 2)),
        ([JUDGED[0], FAILED[1], JUDGED[1]], (1, 0, 0)),
        ([FAILED[0]], (0, 3, 0)),
        ([JUDGED[0], FAILED[2], run(2)], (1, 0, 0)),
        ([JUDGED[0], FAILED[1], response_event(text="Otherwise."), judgment_event(response_event(text="Otherwise."))],
         (2, 0, 0)),
        ([JUDGED[0], FAILED[1], retraction_event(JUDGED[0])], (0, 3, 0)),
    ],
)  # fmt: skip
def test_each_replicate_is_made_failed_or_missing(
    tmp_path: Path, events: list[JsonObject], expected: tuple[int, int, int]
) -> None:
    """Those that failed of an answer that was judged all the same are told apart: no open failure tells of them."""
    log = write_log(tmp_path / "run.jsonl", [run(), ANSWER, *events])
    with projections.connect([log], tools=False, asked=READ) as connection:
        (found,) = judgments_left(partial(ask, connection))
    assert (found.missing, found.failed, found.failed_replicates) == expected


def test_a_replicate_that_failed_takes_nothing_from_the_answer(tmp_path: Path) -> None:
    """It is scored, passes, and is no failure; that a judgment is missing is said."""
    judged = [judgment_event(ANSWER, 5, replicate=number) for number in (1, 2)]
    for each in judged:
        each["scores"]["completeness"]["passed"] = True
    log = write_log(tmp_path / "run.jsonl", [run(), ANSWER, *judged, FAILED[2]])
    with projections.connect([log]) as connection:
        report = compose(connection)
        (summary,) = summaries(connection, [as_log_file(log)], {})
    ((score,),) = (table.scores for table in report.metrics)
    assert (score.scored, score.failed, report.failures) == (1, {}, ())
    assert summary.as_json()["pass"] is True
    assert "1 judgment is missing (rubric 1), of which 1 failed: keval judge LOG" in [
        warning.text for warning in report.warnings_first
    ]
