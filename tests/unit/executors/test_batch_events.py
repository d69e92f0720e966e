from __future__ import annotations

from pathlib import Path

import pytest

from keval.events import failure_id
from keval.executors.batch_events import Asker, Batch, KnownBatches, known_batches
from keval.ids import JsonObject
from keval.logs.past import of_log
from tests.builders import (
    AGENT_ID,
    JUDGE_ID,
    failure_event,
    judge_failure_event,
    judgment_event,
    response_event,
    run_event,
    write_log,
)

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


def test_only_what_a_batch_brought_is_recorded_of_it(tmp_path: Path) -> None:
    """A rehearsal with a mock, and a retraction that makes earlier judgments count again, leave it open and paid."""
    rehearsal = run_event(id=OTHER_RUN, run_id=OTHER_RUN, mock=True)
    by_mock = {**JUDGED, "run_id": OTHER_RUN, "mock": True}
    failed_by_mock = judge_failure_event(
        RESPONSES[1], id=failure_id(FAILED["id"], OTHER_RUN), run_id=OTHER_RUN, mock=True
    )
    begun = told(a_batch(), "submitting", "in_progress")
    log = write_log(
        tmp_path / "log.jsonl", [run_event(), *RESPONSES, LEFT, *begun, rehearsal, by_mock, failed_by_mock, LEFT]
    )
    with of_log(log, lambda _: None) as past:
        assert [each.unrecorded for each in known_batches(past).open] == [set(REQUESTS.values())]


def test_only_what_is_wanted_and_not_recorded_waits_in_a_batch() -> None:
    """Neither what was collected, nor what nobody asks for any more, nor what another judge asks for."""
    batch = a_batch()
    batch.unrecorded = {FAILED["id"], LEFT["id"]}
    known = KnownBatches([batch])
    assert known.waiting({JUDGE_ID}, [JUDGED["id"], LEFT["id"], "ab" * 12]) == 1
    assert known.waiting({"ef" * 12}, [LEFT["id"]]) == 0


def test_what_is_marked_only_may_never_have_been_made() -> None:
    """It is held by its batch, and counts as paid for once the service has named that one."""
    marked, made = a_batch(), a_batch()
    made.batch_id = "msgbatch_1"
    marked.unrecorded, made.unrecorded = {FAILED["id"]}, {LEFT["id"]}
    known = KnownBatches([marked, made])
    assert known.held({JUDGE_ID}) == {FAILED["id"], LEFT["id"]}
    assert known.paid({JUDGE_ID}) == {LEFT["id"]}


@pytest.mark.parametrize(("waits", "left"), [(True, {LEFT["id"]}), (False, {FAILED["id"], LEFT["id"]})])
def test_a_failure_is_of_the_batch_that_its_command_waited_for(tmp_path: Path, *, waits: bool, left: set[str]) -> None:
    """What is asked by itself while a batch is open, and fails, leaves it open: it is paid, and may have an answer."""
    begun = told(a_batch(), "submitting", "in_progress")
    failed = judge_failure_event(RESPONSES[1], id=failure_id(FAILED["id"], OTHER_RUN), run_id=OTHER_RUN)
    taken_up = told(a_batch(), "taken_up", run_id=OTHER_RUN) if waits else []
    log = write_log(tmp_path / "log.jsonl", [run_event(), *RESPONSES, *begun, *taken_up, failed, JUDGED])
    with of_log(log, lambda _: None) as past:
        (batch,) = known_batches(past).open
    assert (batch.unrecorded, batch.requests) == (left, REQUESTS)


@pytest.mark.slow
def test_an_answer_that_failed_is_recorded_as_its_failure_says(tmp_path: Path) -> None:
    """Of the run that submitted it; one before the batch is of an earlier attempt."""
    asked = {f"c{number}": response["id"] for number, response in enumerate(RESPONSES)}
    batch = Batch("e1" * 12, Asker(AGENT_ID, is_agent=True), asked, "")
    before, after = (
        failure_event(response, id=failure_id(response["id"], OTHER_RUN), run_id=OTHER_RUN)
        for response in RESPONSES[:2]
    )
    log = write_log(
        tmp_path / "log.jsonl",
        [run_event(), before, *told(batch, "submitting", "in_progress", run_id=OTHER_RUN), after],
    )
    with of_log(log, lambda _: None) as past:
        (found,) = known_batches(past).open
    assert found.unrecorded == {RESPONSES[0]["id"], RESPONSES[2]["id"]}
