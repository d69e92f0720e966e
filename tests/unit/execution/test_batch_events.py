from __future__ import annotations

from pathlib import Path

import pytest

from keval.events import failure_id
from keval.execution.batch_events import Asker, Batch, known_batches
from keval.ids import JsonObject
from keval.logs.past import of_log
from tests.builders import JUDGE_ID, judge_failure_event, judgment_event, response_event, run_event, write_log

RESPONSES = [response_event(repetition=repetition) for repetition in (1, 2, 3)]
JUDGED, FAILED, LEFT = (judgment_event(response) for response in RESPONSES)
REQUESTS = {"c1": JUDGED["id"], "c2": FAILED["id"], "c3": LEFT["id"]}
OTHER_RUN = "fedcba9876543210"


def told(
    batch: Batch, *statuses: str, run_id: str = "0123456789abcdef", batch_id: str = "msgbatch_1"
) -> list[JsonObject]:
    events = []
    for status in statuses:
        batch.batch_id = None if status == "submitting" else batch_id
        events.append(batch.event(run_id, status))
    return events


def a_batch(event_id: str = "e1" * 12) -> Batch:
    return Batch(event_id, Asker(JUDGE_ID), REQUESTS, "")


@pytest.mark.slow
def test_a_log_says_what_of_its_batches_is_not_recorded(tmp_path: Path) -> None:
    """Judged and failed is recorded; ended and refused batches are done, and those of a mock are gone with it."""
    failed = judge_failure_event(RESPONSES[1], id=failure_id(FAILED["id"], "0123456789abcdef"))
    log = write_log(
        tmp_path / "log.jsonl",
        [
            run_event(),
            *RESPONSES,
            *told(a_batch(), "submitting", "in_progress"),
            *told(a_batch("e2" * 12), "submitting", "in_progress", "ended", batch_id="msgbatch_2"),
            *told(a_batch("e3" * 12), "submitting", "refused"),
            *told(a_batch("e4" * 12), "submitting"),
            run_event(id=OTHER_RUN, run_id=OTHER_RUN, mock=True),
            *told(a_batch("e5" * 12), "submitting", "in_progress", run_id=OTHER_RUN, batch_id="msgbatch_mock"),
            JUDGED,
            failed,
        ],
    )
    with of_log(log, lambda _: None) as past:
        known = known_batches(past)
    assert [(each.event_id[:2], each.batch_id) for each in known.open] == [("e1", "msgbatch_1"), ("e4", None)]
    assert all(each.unrecorded == {LEFT["id"]} and each.requests == REQUESTS for each in known.open)
    assert {"msgbatch_1", "msgbatch_2"} <= known.batch_ids
    assert "msgbatch_mock" not in known.batch_ids
    assert known.askers == {Asker(JUDGE_ID)}
