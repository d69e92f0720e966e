"""What was imported last counts, whatever was imported before it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval import projections
from keval.ids import JsonObject
from tests.unit.imports.test_changes import MAPPING, imported, rows

SCALES = (MAPPING, MAPPING.replace("max: 1", "max: 2"))


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[JsonObject], str]:
    """Return a condition, some answers under it with their scores, golden answers and texts, and a mapping."""
    condition = draw(st.sampled_from("ab"))
    made = rows(condition, draw(st.lists(st.integers(0, 1), min_size=1, max_size=4)), tries=draw(st.sampled_from("12")))
    for row in made:
        row["answer"] = draw(st.sampled_from([row["answer"], "other"]))
        row["text"] = draw(st.sampled_from(["2", "changed"]))
        row["match"] = draw(st.sampled_from([row["match"], None]))
    return condition, made, draw(st.sampled_from(SCALES))


def mean(folder: Path, condition: str) -> list[tuple[object, ...]]:
    """Return what the log says of a condition."""
    names = "mean, mean_lower, mean_upper, n_samples, planned, scored, not_measured, not_applicable, not_done"
    query = f"select {names} from condition_scores where current and condition = ?"  # noqa: S608 - names of columns
    with projections.connect([folder / "log.jsonl"]) as connection:
        return connection.execute(query, [condition]).fetchall()


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.lists(files(), min_size=1, max_size=3), st.lists(st.integers(0, 2), min_size=2, max_size=5))
def test_the_last_import_counts_as_if_it_were_the_only_one(
    known: Sequence[tuple[str, list[JsonObject], str]], order: Sequence[int]
) -> None:
    """Also where it is an earlier file once more; and importing it again adds nothing."""
    imports = [known[place % len(known)] for place in order]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        for _, answers, mapping in imports:
            imported(Path(one), answers, mapping)
        condition, answers, mapping = imports[-1]
        imported(Path(other), answers, mapping)
        assert mean(Path(one), condition) == mean(Path(other), condition)
        assert imported(Path(one), answers, mapping)[0] == 0
