from __future__ import annotations

import re
from pathlib import Path

import pytest

from keval import projections
from keval.errors import UsageError
from keval.projections import rows
from keval.reports.verdicts import READ, verdicts
from tests.builders import METRICS, judge_entry, judgment_event, response_event, run_event, write_log

ANSWER = response_event()
TWO = [
    judge_entry([{**METRICS[0]}]),
    {**judge_entry([{**METRICS[0], "min": 0, "max": 1}]), "name": "strict", "judge_id": "b" * 16},
]


def two_judges(tmp_path: Path, **given: float) -> list[bool | None]:
    """Return the verdicts of two judges that call metrics with different scales by one name."""
    lenient, strict = judgment_event(ANSWER, 4), judgment_event(ANSWER, 1)
    strict |= {"id": "c" * 16, "judge_id": TWO[1]["judge_id"], "judge": {**strict["judge"], "name": "strict"}}
    strict["scores"]["completeness"] |= {"min": 0, "max": 1, "score": 0.5}
    log = write_log(tmp_path / "run.jsonl", [run_event(judges=TWO), ANSWER, lenient, strict])
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        return [row["passed"] for row in rows(connection, verdicts(connection, given))]


@pytest.mark.slow
def test_a_threshold_is_of_one_scale(tmp_path: Path) -> None:
    """`JUDGE/METRIC`, the name that messages print, hits that judge alone; its id does so, too, and is more exact."""
    assert two_judges(tmp_path, **{"rubric/completeness": 4}) == [True, None]
    assert two_judges(tmp_path, **{"strict/completeness": 0.6}) == [None, False]
    assert two_judges(tmp_path, **{f"{'b' * 16}/completeness": 0.5, "strict/completeness": 0.6}) == [None, True]


@pytest.mark.parametrize(
    ("name", "score", "said"),
    [
        ("completeness", 1, "name one: rubric/completeness (1 to 5), strict/completeness (0 to 1)"),
        ("rubric/completness", 4, "did you mean 'rubric/completeness'?"),
        ("zzz", 4, "no such metric; there are: completeness, rubric/completeness, strict/completeness"),
        ("strict/completeness", 4, "the scale of strict/completeness is 0 to 1"),
    ],
)
def test_a_threshold_that_means_nothing_is_refused(tmp_path: Path, name: str, score: float, said: str) -> None:
    """A name that no metric has, or several with different scales, and a score off the scale are usage errors."""
    with pytest.raises(UsageError, match=re.escape(said)):
        two_judges(tmp_path, **{name: score})
