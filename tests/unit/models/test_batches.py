from __future__ import annotations

from typing import Any

import pytest

from keval.ids import JsonObject
from keval.models.batches import UNREADABLE, BatchService, batch_reply
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
