"""What was taken back is told with its reason, as long as it is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keval import projections
from keval.projections.log_file import as_log_file
from keval.reports.model import Retraction
from keval.reports.retractions import retractions
from tests.builders import response_event, retraction_event, write_log

if TYPE_CHECKING:
    from pathlib import Path


def test_retractions_of_one_reason_are_counted_and_what_was_asked_again_is_not_told(tmp_path: Path) -> None:
    """Of an id that has a later event, nothing is taken back any more."""
    first, second, third = (response_event(f"q{number}") for number in range(3))
    taken = [
        retraction_event(event, reason=reason, author=author)
        for event, reason, author in ((first, "wrong key", "ana"), (second, "wrong key", "ana"), (third, "typo", None))
    ]
    log = as_log_file(write_log(tmp_path / "run.jsonl", [first, second, third, *taken, third]))
    with projections.connect([log], texts=False) as connection:
        assert retractions(connection, [log]) == (Retraction("response", 2, "wrong key", "ana"),)
