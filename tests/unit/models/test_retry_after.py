from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from keval.models.retry_after import retry_after_s


@pytest.mark.parametrize(
    ("written", "expected"),
    [("7", 7), ("0.5", 0.5), ("0", 0), ("-3", 0), ("soon", None), ("", None), ("nan", None), ("inf", None)],
)
def test_retry_after_is_read_as_seconds(written: str, expected: float | None) -> None:
    """What cannot be read is unknown, and nobody waits for ever."""
    assert retry_after_s({"retry-after": written}) == expected


def test_retry_after_is_read_as_a_date() -> None:
    """A date that is past asks for no wait."""
    in_a_minute = retry_after_s({"retry-after": formatdate(time.time() + 60, usegmt=True)})
    assert in_a_minute is not None
    assert 50 < in_a_minute <= 60
    assert retry_after_s({"retry-after": formatdate(time.time() - 60, usegmt=True)}) == 0
    assert retry_after_s({}) is None


def test_a_date_of_no_calendar_is_unknown() -> None:
    """What a service writes into a header ends no attempt with another error than the service's own."""
    assert retry_after_s({"retry-after": "Fri, 01 Jan 99999 00:00:00 GMT"}) is None
