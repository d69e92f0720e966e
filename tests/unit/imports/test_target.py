"""What is written of a file that is imported into a log."""

from __future__ import annotations

import pytest

from keval.events import written
from keval.ids import JsonObject
from keval.imports.rows import NO_SCORE
from keval.imports.target import ImportTarget
from tests.builders import judgment_event, response_event, run_event


def lacking(target: ImportTarget, event: JsonObject) -> int:
    """Return how many lines a log lacks of an event."""
    return len(target.lacking(*written(event)))


@pytest.mark.parametrize(("why", "lines"), [(NO_SCORE, 0), ("scored together", 1)])
def test_a_score_that_a_row_cannot_have_is_written(why: str, lines: int) -> None:
    """One that it only lacks is not: the answer is not judged yet, and counts as missing."""
    response = response_event()
    given = {"score": None, "reasoning": None, "min": 1, "max": 5, "passed": None, "not_applicable": why}
    judgment = judgment_event(response) | {"scores": {"completeness": given}}
    with ImportTarget(is_empty=False) as target:
        assert lacking(target, response) == 1
        assert lacking(target, judgment) == lines


def test_a_run_is_written_again_where_another_import_took_its_place() -> None:
    """Of the same evaluation and conditions; one of other conditions stands beside it."""
    first, second, beside = (
        each | {"command": "import"} for each in (run_event(), run_event(samples=3), run_event(("c",)))
    )
    with ImportTarget(is_empty=False) as target:
        for each in (first, beside):
            target.take(each)
        assert (lacking(target, first), target.there_already) == (0, 1)
        target.take(second)
        assert (lacking(target, first), lacking(target, second), target.there_already) == (1, 0, 2)


def test_a_file_that_shares_some_conditions_with_a_larger_one_is_named() -> None:
    """It takes no other's place, so answers of both count; a new version of the same conditions does."""
    with ImportTarget(is_empty=False) as target:
        target.take(run_event(("a", "b"), samples=6) | {"command": "import"})
        assert list(target.warnings("test", (), {"a": None, "b": None}, 3)) == []
        assert list(target.warnings("test", (), {"c": None}, 3)) == []
        assert list(target.warnings("other", (), {"b": None}, 3)) == []
        assert list(target.warnings("test", (), {"b": None, "c": None}, 6)) == []
        (told,) = target.warnings("test", (), {"b": None, "c": None}, 3)
    assert told.startswith("answers of an earlier import of test count beside those of this file under b, as its other")


def test_runs_of_other_commands_are_no_imports() -> None:
    """`keval retract` and `keval judge` leave runs without conditions, and a log takes further files after them."""
    retracting = run_event(()) | {"conditions": None, "command": "retract"}
    with ImportTarget(is_empty=False) as target:
        target.take(retracting)
        assert lacking(target, run_event() | {"command": "import"}) == 1
