"""What a config declares of comparisons is what the newest run recorded, whatever else a log holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from keval import projections
from keval.stats.declared import Declared, declared
from tests.builders import run_event, write_log

ROWS: list[dict[str, object]] = [
    {"judge": "rubric", "metric": "completeness", "min": 1.0, "max": 5.0},
    {"judge": "rubric", "metric": "clarity", "min": 1.0, "max": 5.0},
    {"judge": "exact", "metric": "exact_match", "min": 0.0, "max": 1.0},
]


@pytest.mark.parametrize(
    ("primary", "metrics"),
    [
        ((), ["completeness", "clarity"]),
        (("exact_match",), ["exact_match"]),
        (("rubric/clarity", "exact_match"), ["clarity", "exact_match"]),
        (("other/clarity",), []),
    ],
)
def test_primary_are_the_declared_metrics_or_those_of_five_points(primary: tuple[str, ...], metrics: list[str]) -> None:
    """A metric is named alone or after its judge; without names all on the scale from 1 to 5 are primary."""
    assert [row["metric"] for row in Declared(primary).primary_of(ROWS)] == metrics


def test_without_a_scale_of_five_points_all_are_primary() -> None:
    """Then there is nothing to prefer one metric by."""
    assert Declared().primary_of(ROWS[2:]) == ROWS[2:]


@pytest.mark.parametrize(
    ("margin", "expected"),
    [(None, [None] * 3), (0.3, [0.3] * 3), ({"rubric/clarity": 0.5, "exact_match": 1}, [None, 0.5, 1.0])],
)
def test_a_margin_is_of_all_metrics_or_of_some(
    margin: float | Mapping[str, float] | None, expected: list[float | None]
) -> None:
    """A metric that the config does not name has none."""
    assert [Declared(margin=margin).margin_of(row) for row in ROWS] == expected


@pytest.mark.slow
def test_the_newest_run_declares(tmp_path: Path) -> None:
    """The last config counts; one without the section, and a run without a config, declare nothing."""
    first = run_event(config={"name": "test", "comparison": {"margin": 1, "primary": ["completeness"]}})
    last = run_event(config={"name": "test", "comparison": {"margin": 0.3}}, samples=3)

    def of(*events: dict[str, object]) -> Declared:
        with projections.connect([write_log(tmp_path / "log.jsonl", events)]) as connection:
            return declared(connection)

    assert of(first, last, run_event([])) == Declared((), 0.3)
    assert of(first) == Declared(("completeness",), 1)
    assert of(run_event()) == of() == Declared()
