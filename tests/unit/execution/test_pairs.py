from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.config.model import JudgeConfig
from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.config_session import run_all
from keval.execution.pairs import NO_CONDITION, Waiting, baseline_id, condition_ids
from keval.execution.session import Request
from keval.judges.pairwise import Pairwise
from keval.mock import Mock
from tests.builders import condition_id, response_event, run_event
from tests.jobs import exact_judge
from tests.pairs import PAIRS, PREFERENCES, WRONG, preferences, write_pairs

CONDITIONS = ("baseline", "with_docs", "with_graph")
RESPONSES = [
    response_event(name, condition, repetition)
    for name in ("q1", "q2")
    for condition in CONDITIONS
    for repetition in (1, 2)
]


def pair_judge(baseline: str | None = None) -> JudgeConfig:
    """Return a judge of pairs."""
    return JudgeConfig("versus", "pairwise", Pairwise(model="m", baseline=baseline), 1, {"model": "m"})


def test_the_baseline_is_the_first_condition_or_the_one_that_the_judge_names() -> None:
    """A judge of single responses has none; without a run none is known."""
    conditions = condition_ids(run_event(CONDITIONS))
    assert baseline_id(pair_judge(), conditions) == condition_id("baseline")
    assert baseline_id(pair_judge("with_docs"), conditions) == condition_id("with_docs")
    assert baseline_id(exact_judge(), conditions) is None
    assert baseline_id(pair_judge("with_docs"), condition_ids(None)) == NO_CONDITION
    with pytest.raises(UsageError, match="the baseline 'typo' is not a condition"):
        baseline_id(pair_judge("typo"), conditions)


@given(st.permutations(RESPONSES))
def test_each_response_is_paired_with_the_baselines_once_in_whatever_order_they_come(
    responses: list[dict[str, object]],
) -> None:
    """Also the baseline's with itself; when all have come nothing is kept."""
    waiting, baseline = Waiting(len(CONDITIONS)), condition_id("baseline")
    found = [pair for response in responses for pair in waiting.add(response, baseline)]
    assert sorted(str(this["id"]) for this, _ in found) == sorted(str(each["id"]) for each in RESPONSES)
    for this, other in found:
        assert other["condition_id"] == baseline
        assert [this[key] for key in ("question_id", "repetition")] == [
            other[key] for key in ("question_id", "repetition")
        ]
    assert waiting == Waiting(len(CONDITIONS))


@pytest.mark.slow
def test_a_run_judges_pairs_of_old_and_new_answers_once(tmp_path: Path) -> None:
    """A condition that is added later is compared with old answers of the baseline; the same run again does nothing."""
    log, config = tmp_path / "log.jsonl", tmp_path / "eval.yaml"
    write_pairs(tmp_path)
    config.write_text(PAIRS.replace(WRONG, ""))
    with Mock() as mock:
        assert run_all(load(config), log, Request(mock_url=mock.base_url, quiet=True), print) == 0
        config.write_text(PAIRS)
        assert run_all(load(config), log, Request(mock_url=mock.base_url, quiet=True), print) == 0
        assert preferences(log) == PREFERENCES
        before, asked = log.read_bytes(), mock.requests.total
        assert run_all(load(config), log, Request(mock_url=mock.base_url, quiet=True), print) == 0
    assert (log.read_bytes(), mock.requests.total) == (before, asked)
