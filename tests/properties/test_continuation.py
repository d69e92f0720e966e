"""Properties of stored tables: with some new lines they say what the same lines say when all are read."""

from __future__ import annotations

import tempfile
from array import array
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from keval import projections
from keval.config.formulas import ComputedMetric, Part
from keval.events import encode
from keval.ids import JsonObject
from keval.judges import Metric
from keval.projections.log_file import Lines, LogFile, Stored
from keval.projections.sql_file import load
from keval.projections.views import SUMMARIES
from tests.builders import JUDGE_ID, write_log
from tests.properties.test_projections import events, logs

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ASKED = (
    *projections.VIEWS,
    "response_facts",
    "judgment_facts",
    "failure_facts",
    "score_facts",
    "computed_metrics",
    "computed_scores",
    "events",
    "conditions",
    "standing",
    "current_lines",
    "tool_use",
    "tasks",
    "sample_means",
    *SUMMARIES,
)
GOLDEN = ("The last one of them counts.", "The first one of them counts.")


def split(folder: Path, log: list[JsonObject], stored: int) -> LogFile:
    """Return a log of which the first lines are stored."""
    whole = write_log(folder / "log.jsonl", log)
    lengths = [len(encode(each)) for each in log]
    offsets = array("q", [0, *accumulate(lengths)])
    first = write_log(folder / "first.jsonl", log[:stored])
    projections.store(LogFile(first, "log.jsonl"), folder / "log.index")
    known = Stored(folder / "log.index", stored, offsets[stored])
    where = Lines(offsets[stored:-1], max(lengths, default=0))
    rest = write_log(folder / "rest.jsonl", log[stored:])
    return LogFile(whole, "log.jsonl", len(log), known, rest if stored < len(log) else None, lambda: where)


def said(connection: DuckDBPyConnection) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of all views, in an order of their own."""
    return {view: told(connection, f"from {view}") for view in ASKED}


def told(connection: DuckDBPyConnection, query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query as texts, in an order of their own."""
    return sorted(connection.execute(f"from ({query}) select columns(*)::varchar").fetchall(), key=repr)


def compare(folder: Path, log: list[JsonObject], stored: int) -> bool:
    """Check that a log says the same whether some of it is stored or not; return whether it was continued."""
    file = split(folder, log, stored)
    with projections.connect([LogFile(file.path, file.name)]) as whole:
        expected = said(whole)
    with projections.connect([file]) as connection:
        found = said(connection)
        here = load("transcripts", "here", fits="sample_id <> 'a'")
        assert told(connection, here) == told(connection, "from facts where sample_id <> 'a'")
        continued = connection.sql("select count(*) from duckdb_schemas() where schema_name = 'part'").fetchall()
    for view in ASKED:
        assert found[view] == expected[view], view
    return continued == [(1,)]


PART = Part("rubric", JUDGE_ID, Metric("completeness", 1, 5), 1.5)
FORMULAS = [
    ComputedMetric("value", "combined", (PART, PART), 1.0, 0.5, 1000).described(),
    ComputedMetric("overall", "weighted", (PART,)).described(),
]


def with_more(line: JsonObject) -> JsonObject:
    """Return a line with what the views read beside.

    Of a response that is what a tool returned, of a run what it computes, and whether its judges are of pairs.
    """
    match line["type"]:
        case "run" if line["conditions"]:
            judges = [judge | ({"unit": "pair"} if line["seed"] % 2 else {}) for judge in line["judges"]]
            return line | {"metrics": FORMULAS[line["seed"] % 3 :], "judges": judges}
        case "response" if line["text"] == "two":
            call: JsonObject = {"type": "tool_call", "id": "c", "name": "Read", "server": None, "input": {}}
            turns = [*line["turns"], call | {"result": GOLDEN[0], "error": False, "duration_ms": 1}]
            return line | {"turns": turns, "sample": line["sample"] | {"answer": GOLDEN[0]}}
        case "sample_change":
            return line | {"sample": line["sample"] | {"answer": GOLDEN["answer" in line["changed"]]}}
    return line


@pytest.mark.slow
@settings(max_examples=8)
@given(logs(), st.lists(events, max_size=3), st.floats(0, 1))
def test_stored_lines_and_new_ones_say_what_all_lines_say(
    log: list[JsonObject], more: list[list[JsonObject]], share: float
) -> None:
    """Wherever a log is cut in two, after whole events or anywhere, storing its first part changes no row."""
    lines = [with_more(line) for line in (*log, *(line for each in more for line in each))]
    stored = len(log) if more and share > 0.5 else round(share * len(lines))
    with tempfile.TemporaryDirectory() as folder:
        event(f"continued: {compare(Path(folder), lines, stored)}")
