"""House scores are the seed's numbers where all of their parts are known, and nothing where one is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from keval.compare.compared_logs import compare
from keval.exports.text import Text
from keval.ids import JsonObject
from keval.projections.log_file import as_log_file
from keval.reports.model import HouseScores
from tests.builders import METRICS, judge_entry, judgment_event, response_event, run_event, write_log


def events(scores: Sequence[Sequence[float]], *, failed: int = 0, duration_ms: int | None = 1000) -> list[JsonObject]:
    """Return a run with samples of several judged answers; the last `failed` answers had a tool call that failed."""
    made: list[JsonObject] = [
        run_event(["docs"], samples=len(scores), repetitions=len(scores[0]), judges=[judge_entry(METRICS[:1])])
    ]
    answers = [
        (number, repetition, score) for number, of in enumerate(scores) for repetition, score in enumerate(of, 1)
    ]
    for place, (number, repetition, score) in enumerate(answers):
        call = {"type": "tool_call", "id": "1", "name": "search", "server": "docs", "input": {}, "result": "x",
                "error": place >= len(answers) - failed, "duration_ms": 5}  # fmt: skip
        response = response_event(f"q{number}", "docs", repetition, turns=[call], duration_ms=duration_ms)
        made += [response, judgment_event(response, {"completeness": score})]
    return made


def house(folder: Path, strategy: str, pass_from: Mapping[str, float], *logs: list[JsonObject]) -> HouseScores:
    """Return the house scores of logs of these events."""
    files = [as_log_file(write_log(folder / f"{n}.jsonl", found)) for n, found in enumerate(logs, 1)]
    report = compare(files, strategy=strategy, pass_from=pass_from)
    assert report.house_scores is not None
    assert "nothing is concluded from it" in Text(width=10_000).render(report).decode()
    return report.house_scores


@pytest.mark.slow
def test_quality_latency_and_reliability_are_weighed_as_in_the_seed(tmp_path: Path) -> None:
    """Half quality, three tenths 1 / (1 + seconds), two tenths no failed tool call; equal logs have equal scores."""
    log = events([[5], [4], [5], [4], [2]], failed=1)
    found = house(tmp_path, "weighted", {}, log, log)
    assert [each.value for each in found.scores] == [pytest.approx(0.5 * 0.75 + 0.3 * 0.5 + 0.2 * 0.8)] * 2
    assert [each.condition.split(" in ")[0] for each in found.scores] == ["docs", "docs"]
    assert found.scores[0].about == "rubric/completeness"


@pytest.mark.slow
def test_a_house_score_does_not_depend_on_the_order_of_lines(tmp_path: Path) -> None:
    """To the last bit: logs of the same lines have the same numbers."""
    log = events([[5, 4]] * 40)
    for place, event in enumerate(each for each in log if each["type"] == "response"):
        event["duration_ms"] = 137 * place % 7919 + 1
    found = house(tmp_path, "weighted", {}, log, [log[0], *reversed(log[1:])])
    assert found.scores[0].parts == found.scores[1].parts


@pytest.mark.slow
def test_what_is_not_known_leaves_no_house_score(tmp_path: Path) -> None:
    """The seed takes ten seconds for a duration that nobody measured; here the score is not known."""
    found = house(tmp_path, "weighted", {}, events([[5], [4]]), events([[5], [4]], duration_ms=None))
    assert [each.value is None for each in found.scores] == [False, True]
    assert (found.scores[1].parts["latency"], found.scores[1].parts["quality"]) == (None, 0.875)


@pytest.mark.slow
def test_trials_are_weighed_by_what_passes_once_and_always(tmp_path: Path) -> None:
    """pass@2 and pass^2 of three samples, and how far they are apart; without a passing score it is not known."""
    log = events([[5, 5], [5, 1], [1, 1]])
    found = house(tmp_path, "trials", {"completeness": 4}, log, log)
    at, every = 2 / 3, 1 / 3
    assert found.scores[0].value == pytest.approx(0.4 * at + 0.4 * every + 0.2 * (1 - (at - every)))
    assert found.scores[0].about == "2 trials"
    assert house(tmp_path, "trials", {}, log, log).scores[0].value is None
