"""A log says the same whether its tables are in memory, as those of a small log are, or in a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from keval import projections
from keval.events import encode
from keval.ids import JsonObject
from keval.projections.log_file import LogFile
from tests.builders import judgment_event, response_event, retraction_event, run_event
from tests.properties.test_continuation import ASKED, with_more
from tests.properties.test_projections import logs

PADDING = projections.MOST_IN_MEMORY + 1
"""Bytes of spaces that make any log a large one."""


def said(folder: Path, lines: list[JsonObject], padding: int) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of all views of a log of which the first line ends in spaces."""
    folder.mkdir()
    first, *others = map(encode, lines)
    path = folder / "log.jsonl"
    path.write_bytes(first.rstrip(b"\n") + b" " * padding + b"\n" + b"".join(others))
    told = "columns(lambda name: name <> 'line_offset')::varchar"  # where lines begin differs
    with projections.connect([LogFile(path, "log.jsonl")]) as connection:
        return {view: sorted(connection.execute(f"from {view} select {told}").fetchall(), key=repr) for view in ASKED}


def check(lines: list[JsonObject]) -> None:
    """Check that a log says the same with spaces as without."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (said(Path(folder) / str(padding), lines, padding) for padding in (0, PADDING))
    for view in ASKED:
        assert large[view] == small[view], view


def test_what_was_taken_back_is_left_out_of_a_large_log() -> None:
    """Also by what is made while the tables are not on disk yet."""
    kept, gone = response_event("q1"), response_event("q2", "gone")
    said = {"labeler": "me", "verdict": "valid_failure", "note": None}
    labels = [
        {name: answer[name] for name in ("v", "time", "run_id")}
        | {"type": "label", "id": 16 * name, "response_id": answer["id"], **said}
        for name, answer in (("a", kept), ("b", kept), ("c", gone))
    ]
    check([run_event(), kept, judgment_event(kept), gone, *labels, retraction_event(gone), retraction_event(labels[0])])


@pytest.mark.slow
@settings(max_examples=5)
@given(logs())
def test_a_large_log_says_what_a_small_one_says(log: list[JsonObject]) -> None:
    """Whatever happened in it."""
    if log:
        check([with_more(line) for line in log])
