"""Properties of the file `evaluation.json`."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval.errors import UsageError
from keval.formats.evaluation_json import EvaluationJson
from keval.ids import JsonObject
from tests.builders import failure_event, judge_entry, judgment_event, response_event, run_event
from tests.exporting import exported

METRICS = [{"name": name, "min": 1, "max": 5} for name in ("hit_rate", "quality")]
SCORES = {"q1": {"hit_rate": 3.0, "quality": 2.0}, "q2": {"hit_rate": 5.0, "quality": 4.0}}


def log(*conditions: str) -> list[JsonObject]:
    """Return a log of two samples that are answered and judged, and one that failed for the agent's reason."""
    answers = [response_event(sample, name) for name in conditions for sample in SCORES]
    failed = [failure_event(response_event("q3", name)) for name in conditions]
    judged = [judgment_event(each, SCORES[each["sample"]["id"]]) for each in answers]
    return [run_event(conditions, samples=3, judges=[judge_entry(METRICS)]), *answers, *failed, *judged]


def written(folder: Path, *conditions: str, **options: str) -> list[JsonObject]:
    """Return the content of each file."""
    return [orjson.loads(path.read_bytes()) for path in exported(EvaluationJson(**options), log(*conditions), folder)]


@pytest.mark.slow
def test_each_question_has_a_row_and_the_summary_is_their_mean(tmp_path: Path) -> None:
    """The best combined score is first, a failure of the agent counts as the minimum, what is not there is null."""
    options = {"combined_score": "quality", "search_mode": "titles"}
    [found, other] = written(tmp_path / "out", "A", "B", **options)
    assert [(row["hit_rate"], row["mrr"], row["combined_score"]) for row in found["results"]] == [
        (5.0, None, 4.0), (3.0, None, 2.0), (1.0, None, 1.0),
    ]  # fmt: skip
    summary = found["summary"]
    assert (found["num_questions"], summary["avg_hit_rate"], summary["avg_mrr"]) == (3, 3.0, None)
    assert (summary["best_combined_score"], summary["avg_combined_score"]) == (4.0, pytest.approx(7 / 3))
    assert summary["total_tokens"] == sum(row["num_tokens"] or 0 for row in found["results"])
    assert found["metadata"]["search_mode"] == "titles"
    assert (found["metadata"]["condition"], other["metadata"]["condition"]) == ("A", "B")


def test_tokens_that_nobody_counted_are_in_no_mean(tmp_path: Path) -> None:
    """Agents that do not count tokens say 0; a question without any counted has none."""
    events, (first, second, third) = log("A"), [(100, 10), (0, 0), (0, 0)]
    answers = [each for each in events if each["type"] == "response"]
    again = response_event("q1", "A", 2)
    for answer, (read, wrote) in zip((answers[0], again, answers[1]), (first, second, third), strict=True):
        answer["usage"] = {"input_tokens": read, "output_tokens": wrote}
    (file,) = exported(EvaluationJson(), [*events, again], tmp_path / "out")
    found = orjson.loads(file.read_bytes())
    assert sorted((row["num_tokens"] or 0) for row in found["results"]) == [0, 0, 110]
    assert found["summary"]["avg_num_tokens"] == 110


@pytest.mark.slow
def test_what_the_judge_of_sources_measures_is_found_by_its_name(tmp_path: Path) -> None:
    """Nobody has to say that `retrieved_hit_rate` is a hit rate, and it goes before a metric of the plain name."""
    scores = {"hit_rate": 1.0, "retrieved_hit_rate": 5.0, "retrieved_mrr": 2.0}
    judge = judge_entry([{"name": name, "min": 1, "max": 5} for name in scores])
    answer = response_event("q1", "A")
    events = [run_event(["A"], samples=1, judges=[judge]), answer, judgment_event(answer, scores)]
    (found,) = exported(EvaluationJson(), events, tmp_path / "out")
    (row,) = orjson.loads(found.read_bytes())["results"]
    assert (row["hit_rate"], row["mrr"]) == (5.0, 2.0)


@pytest.mark.slow
def test_conditions_never_share_a_file(tmp_path: Path) -> None:
    """Two names that are one as a part of a path have two files."""
    files = exported(EvaluationJson(mrr="quality"), log("a/b", "a:b"), tmp_path / "out")
    assert len(set(files)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"mrr": "qualty"}, {"judge_score": "q"}])
def test_a_metric_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, options: dict[str, str]) -> None:
    """Nothing is filled in for a name that was mistyped."""
    with pytest.raises(UsageError, match="quality"):
        written(tmp_path / "out", "A", **options)
