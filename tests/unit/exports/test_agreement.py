from __future__ import annotations

from pathlib import Path

from keval import projections
from keval.exports._agreement import sections
from keval.exports._blocks import Table
from keval.reports.agreement import READ, Raters, agreements
from tests.builders import judge_entry, judgment_event, response_event, run_event, write_log

SCALES = {"completeness": (1, 5), "is_right": (0, 1)}


def rows_of(folder: Path, metric: str) -> dict[str, str]:
    """Return what is told of a judge that was asked twice about two answers to one sample, by the row's name."""
    least, most = SCALES[metric]
    answers = [response_event("q1", repetition=repetition) for repetition in (1, 2)]
    score = {metric: {"score": 1, "reasoning": "It says so.", "min": least, "max": most, "passed": None}}
    judged = [
        judgment_event(answer, replicate=replicate) | {"scores": score} for answer in answers for replicate in (1, 2)
    ]
    judge = judge_entry([{"name": metric, "min": least, "max": most}])
    log = write_log(folder / f"{metric}.jsonl", [run_event(samples=1, judges=[judge]), *answers, *judged])
    with projections.connect([log], tools=False, asked=READ) as connection:
        (section, *_) = sections(agreements(connection, Raters()), [], None)
    table = section.blocks[0]
    assert isinstance(table, Table)
    return {str(name): str(value) for name, value in table.rows}


def test_one_step_is_told_of_where_there_are_two(tmp_path: Path) -> None:
    """On a scale of 0 and 1 any two scores are at most one step apart, so nothing is said of it."""
    long, short = (rows_of(tmp_path, metric) for metric in ("completeness", "is_right"))
    assert long["at most one step apart"] == "100.0%"
    assert "at most one step apart" not in short
    assert short["exact agreement"] == "100.0%"


def test_pairs_are_counted_beside_the_samples_they_are_from(tmp_path: Path) -> None:
    """Two answers to one sample are two pairs from one sample, not two of one."""
    assert rows_of(tmp_path, "completeness")["pairs"] == "2 from 1 sample, scale 1 to 5"
