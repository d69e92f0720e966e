"""A status means the same whichever service sends it."""

from __future__ import annotations

import pytest

from keval.models.http_statuses import is_overloaded, passes


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, (False, False)), (200, (False, False)), (400, (False, False)), (401, (False, False)),
        (404, (False, False)), (408, (True, False)), (409, (True, False)), (429, (True, True)), (499, (False, False)),
        (500, (True, False)), (503, (True, True)), (529, (True, True)),
    ],
)  # fmt: skip
def test_what_may_pass_is_asked_again_and_less_where_it_is_too_much(
    status: int | None, expected: tuple[bool, bool]
) -> None:
    """What asks for fewer requests at once is also asked again."""
    assert (passes(status), is_overloaded(status)) == expected
