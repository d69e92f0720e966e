"""A status means the same whichever service sends it."""

from __future__ import annotations

import pytest

from keval.models.http_statuses import is_overloaded, is_refused, may_be_paid, passes


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


@pytest.mark.parametrize(
    ("status", "is_nothing_done", "is_paid"),
    [
        (307, True, False), (400, True, False), (408, False, True), (409, False, True), (429, True, False),
        (500, False, False), (502, False, True), (504, False, True), (524, False, True), (529, False, False),
    ],
)  # fmt: skip
def test_a_gateway_that_gave_up_says_nothing_of_what_is_behind_it(
    status: int, *, is_nothing_done: bool, is_paid: bool
) -> None:
    """What it passed on may have been done, and paid for; what the service itself refuses is neither."""
    assert (is_refused(status), may_be_paid(status)) == (is_nothing_done, is_paid)
