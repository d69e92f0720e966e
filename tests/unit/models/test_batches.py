from __future__ import annotations

from typing import Any

import pytest

from keval.models.batches import batch_reply
from keval.models.messages_api import ModelError


@pytest.mark.parametrize(
    ("result", "is_free"),
    [
        ({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}}, True),
        ({"type": "expired"}, True),
        ({"type": "canceled"}, True),
        ({}, False),
        ({"type": "succeeded"}, False),
    ],
)
def test_what_a_batch_did_not_answer_is_free_where_the_service_says_so(
    result: dict[str, Any], *, is_free: bool
) -> None:
    """A result that is missing, or cannot be read, may have been paid for."""
    with pytest.raises(ModelError) as caught:
        batch_reply(result)
    assert caught.value.is_free == is_free
