"""The tables of statistics are complete: events, schemas, views and reports have what they say, and no number more."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from keval import projections, schema
from keval.reports.metric_tables import ConditionScore, Difference
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE, VIEWS, Statistic

ALL = [*AGGREGATE.values(), *PAIRED.values()]
COORDINATES = {"condition", "condition_id", "agent_id", "baseline", "ci_level", "ci_method", "reasons"}
SAID = {"conclusion", "qualification", "other_statistics", "until"}


def _name(statistic: Statistic) -> str:
    return f"{statistic.levels[0]}.{statistic.name}"


def test_sql_computes_what_the_table_says_it_does(tmp_path: Path) -> None:
    """A statistic without a function of its own is a column of the view of each of its levels."""
    log = tmp_path / "empty.jsonl"
    log.touch()
    with projections.connect([log]) as connection:
        columns = {
            level: {row[0] for row in connection.sql(f"DESCRIBE {view}").fetchall()} for level, view in VIEWS.items()
        }
    missing = [
        f"{VIEWS[level]}.{statistic.name}"
        for statistic in ALL
        if statistic.compute is None
        for level in statistic.levels
        if statistic.name not in columns[level]
    ]
    # Of one sample it is counted whether it has a value.
    assert missing == ["sample_scores.n_samples"]


@pytest.mark.parametrize(("event_type", "statistics"), [("aggregate", AGGREGATE), ("comparison", PAIRED)])
def test_an_event_has_each_statistic_and_no_other_number(event_type: str, statistics: Mapping[str, Statistic]) -> None:
    """What a schema asks for between the coordinates and the level of the interval is the table, in its order."""
    written = orjson.loads(schema.text(event_type))
    names = list(written["properties"])
    assert names[names.index("mock") + 1 : names.index("ci_level")] == list(statistics)
    kinds = {name: written["properties"][name]["$ref"].rpartition("/")[2] for name in statistics}
    assert kinds == {name: statistic.kind for name, statistic in statistics.items()}
    assert [name for name in statistics if name not in written["required"]] == [
        name for name, statistic in statistics.items() if not statistic.required
    ]


@pytest.mark.parametrize(("made", "statistics"), [(ConditionScore, AGGREGATE), (Difference, PAIRED)])
def test_a_report_has_no_number_that_the_table_does_not_define(
    made: type[ConditionScore | Difference], statistics: Mapping[str, Statistic]
) -> None:
    """Each field of a score or a difference says what it is of, what is concluded, or is a statistic."""
    assert {field.name for field in dataclasses.fields(made)} - COORDINATES - SAID <= set(statistics)


@pytest.mark.parametrize("statistic", ALL, ids=_name)
def test_what_can_be_null_says_why(statistic: Statistic) -> None:
    """A kind of number that may be null has a reason for each event, and one for the docs; the others have none."""
    event_type = "comparison" if "comparison" in statistic.levels else "aggregate"
    nullable = "null" in str(schema.document(event_type)["$defs"][statistic.kind]["type"])
    assert (statistic.why_null is not None, bool(statistic.null_when)) == (nullable, nullable)
    assert all((statistic.label, statistic.description, statistic.formula))


def test_a_statistic_is_null_where_it_is_not_defined() -> None:
    """The spread between samples is nothing that one sample has, whatever its row holds."""
    row = {"level": "sample", "sd_between_samples": 1.0, "sd_within_sample": 2.0}
    assert AGGREGATE["sd_between_samples"].value(row) is None
    assert AGGREGATE["sd_within_sample"].value(row) == 2.0
