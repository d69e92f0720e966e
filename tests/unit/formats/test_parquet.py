"""Properties of Parquet datasets: what is divided by run is the same table."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from keval import projections
from keval.formats import parquet
from keval.formats.parquet import VIEWS, Parquet
from keval.ids import JsonObject
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.exporting import exported

RUNS = ("1000000000000001", "0000000000000012", "fedcba9876543210")
DIVIDED = "from read_parquet(?, hive_partitioning = true, hive_types = {'run_id': VARCHAR})"


def _events(each: int = 2) -> list[JsonObject]:
    """Return a log of three runs, one of which has no judgments; two ids of runs are all digits."""
    events: list[JsonObject] = []
    for place, run_id in enumerate(RUNS):
        answers = [response_event(f"q{place}-{number}", run_id=run_id) for number in range(each)]
        judged = answers if place else []
        events += [run_event(run_id=run_id, seed=place), *answers, *(judgment_event(a, run_id=run_id) for a in judged)]
    return events


def test_views_of_runs_are_folders_by_run_and_the_others_files(tmp_path: Path) -> None:
    """A view has either a folder or a file; one without rows has a file, so that a query over it finds its columns."""
    written = [
        path.relative_to(tmp_path / "out")
        for path in exported(Parquet(partition_by="run"), _events(), tmp_path / "out")
    ]
    folders: dict[str, set[str]] = {path.parts[0]: set() for path in written if len(path.parts) > 1}
    for path in written:
        if len(path.parts) > 1:
            folders[path.parts[0]].add(path.parts[1])
    runs = {f"run_id={run_id}" for run_id in RUNS}
    assert folders == {
        "runs": runs,
        "responses": runs,
        "judgments": runs - {f"run_id={RUNS[0]}"},
        "scores": runs - {f"run_id={RUNS[0]}"},
    }
    assert {path.stem for path in written if len(path.parts) == 1} == set(VIEWS) - set(folders)


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, 2000])
def test_a_dataset_by_run_is_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Every row of every view comes back with its types, however few of them are in memory at once."""
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", at_once)
    exported(Parquet(partition_by="run"), _events(5), tmp_path / "out")
    events = write_log(tmp_path / "same.jsonl", _events(5))
    with projections.connect([events]) as connection:
        for view in ("responses", "judgments", "scores", "runs"):
            files = str(tmp_path / "out" / view / "*" / "*.parquet")
            read = connection.read_parquet(files, hive_partitioning=False)
            divided = connection.from_query(DIVIDED, params=[files])
            said = connection.view(view)
            assert _table(read) == _table(said) == _table(divided)


def _table(relation: duckdb.DuckDBPyRelation) -> tuple[dict[str, str], list[str]]:
    """Return the columns with their types, and the rows, of which `log` is another path."""
    columns = sorted(set(relation.columns) - {"log"})
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    rows = relation.select(*map(duckdb.ColumnExpression, columns)).fetchall()
    return {column: types[column] for column in columns}, sorted(map(str, rows))


def test_a_file_of_a_run_is_read_by_itself(tmp_path: Path) -> None:
    """The id of the run is in the file, as text."""
    exported(Parquet(partition_by="run"), _events(), tmp_path / "out")
    (file,) = (tmp_path / "out" / "responses" / f"run_id={RUNS[0]}").iterdir()
    with duckdb.connect() as connection:
        query = "select distinct run_id from read_parquet(?, hive_partitioning = false)"
        assert connection.execute(query, [str(file)]).fetchall() == [(RUNS[0],)]
