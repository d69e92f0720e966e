from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from keval.ids import JsonObject
from keval.models.batches import UNREADABLE, BatchService, _by_its_clock, batch_reply
from keval.models.messages_api import ModelError
from keval.models.services import Service


async def results(*rows: bytes) -> dict[str, JsonObject]:
    """Return the results that a service gives in these rows."""

    class Saying(BatchService):
        async def _called(self, *_: object, **__: object) -> bytes:
            return b"\n".join(rows)

    return await Saying(Service(), {}).results("batch-1")


GOOD = b'{"custom_id": "a", "result": {"type": "expired"}}'


@pytest.mark.parametrize(
    "row",
    [
        b'{"custom_id": "b", "result": {"type": "succeeded", "message": "\\ud83d"}}',
        b'{"custom_id": "b", "result": {"type": "succeeded", "message": "\xff"}}',
        b'{"custom_id": "b", "result": {"type": "succeeded", "message": NaN}}',
    ],
)
async def test_a_result_that_cannot_be_read_is_one_of_its_request_only(row: bytes) -> None:
    """Wherever it stands: all other results are there."""
    expected = {"a": {"type": "expired"}, "b": UNREADABLE}
    assert await results(row, GOOD, b"") == await results(GOOD, row) == expected


async def test_of_two_results_of_one_request_the_one_that_succeeded_counts() -> None:
    """Whatever their order: it was paid for."""
    succeeded = b'{"custom_id": "a", "result": {"type": "succeeded", "message": {}}}'
    assert await results(GOOD, succeeded) == await results(succeeded, GOOD)
    assert (await results(GOOD, succeeded))["a"]["type"] == "succeeded"


@pytest.mark.parametrize(
    ("told", "minutes"),
    [("-20", 20), ("+20", -20), (None, 0), ("yesterday", 0)],
)
def test_a_moment_is_looked_for_by_the_services_own_clock(told: str | None, minutes: int) -> None:
    """It may go wrong by more than a batch takes; one that tells no time is taken to have ours."""
    now = datetime.now(UTC)
    says = told if told is None or told == "yesterday" else format_datetime(now + timedelta(minutes=int(told)))
    found = _by_its_clock(now, says)
    assert abs(found - now - timedelta(minutes=-minutes)) < timedelta(seconds=5)


async def test_what_is_no_json_ends_the_results_only_where_they_are_cut_off() -> None:
    """The last row comes in full when it is asked for again; any other one is left out."""
    assert await results(b'{"custom_id": "b", "res', GOOD) == {"a": {"type": "expired"}}
    with pytest.raises(ModelError, match="cut off") as caught:
        await results(GOOD, b'{"custom_id": "b", "res')
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("result", "is_free"),
    [
        ({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}}, True),
        ({"type": "expired"}, True),
        ({"type": "canceled"}, True),
        ({}, False),
        ({"type": "succeeded"}, False),
        (UNREADABLE, False),
    ],
)
def test_what_a_batch_did_not_answer_is_free_where_the_service_says_so(
    result: dict[str, Any], *, is_free: bool
) -> None:
    """A result that is missing, or cannot be read, may have been paid for."""
    with pytest.raises(ModelError) as caught:
        batch_reply(result)
    assert caught.value.is_free == is_free
