from __future__ import annotations

from pathlib import Path

import pytest

from keval.config.model import JudgeConfig
from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.config_session import run_all
from keval.ids import JsonObject
from keval.judges.pairwise import Pairwise
from keval.logs.past import of_log
from keval.mock import Mock
from keval.preparation.pairs import NO_CONDITION, baseline_id, condition_ids, configs_of, pairing
from keval.preparation.request import Request
from tests.builders import condition_id, response_event, run_event, write_log
from tests.jobs import exact_judge
from tests.pairs import PAIRS, PREFERENCES, WRONG, preferences, write_pairs

CONDITIONS = ("baseline", "with_docs", "with_graph")


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


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([run_event(("a", "b"))], ["a", "b"]),
        ([run_event(("a", "b")), run_event(("b", "a"))], ["b", "a"]),
        ([run_event(("a", "b"), config={"name": "test", "baseline": "b"})], ["b", "a"]),
        (
            [run_event((name,), command="import") for name in ("docs", "baseline", "graph")],
            ["baseline", "docs", "graph"],
        ),
        ([run_event(("docs",), command="import"), run_event(("a", "b"))], ["a", "b"]),
        ([run_event(())], []),
    ],
)
def test_the_baseline_of_a_log_is_the_first_of_its_conditions(
    tmp_path: Path, runs: list[JsonObject], expected: list[str]
) -> None:
    """It is what the config names, else its first condition; of several imports it is what is called baseline."""
    with of_log(write_log(tmp_path / "log.jsonl", [*runs, response_event()]), print) as past:
        *_, found = [{}, *configs_of(past)]
    assert list(found.items()) == [(name, condition_id(name)) for name in expected]
    if not any(run["command"] == "import" for run in runs):
        assert list(condition_ids(runs[-1])) == expected


def test_each_config_of_a_log_has_its_own_baseline(tmp_path: Path) -> None:
    """A condition of one is never compared with the other's; a baseline that is named is looked for in each."""
    runs = [run_event(("a", "b"), config_name="first"), run_event(("c", "a"), config_name="second")]
    with of_log(write_log(tmp_path / "log.jsonl", runs), print) as past:
        configs = configs_of(past)
    a, b, c = map(condition_id, "abc")
    assert pairing(pair_judge(), configs) == {(a, a), (b, a), (c, c), (a, c)}
    assert pairing(pair_judge("b"), configs) == {(a, b), (b, b)}
    assert pairing(exact_judge(), configs) == set()
    with pytest.raises(UsageError, match="the baseline 'typo' is not a condition"):
        pairing(pair_judge("typo"), configs)


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


@pytest.mark.slow
def test_another_order_of_conditions_is_another_baseline(tmp_path: Path) -> None:
    """Its pairs are judged and counted alone; back in the old order nothing is judged again."""
    log, config = tmp_path / "log.jsonl", tmp_path / "eval.yaml"
    write_pairs(tmp_path)
    with Mock() as mock:
        request = Request(mock_url=mock.base_url, quiet=True)
        assert run_all(load(config), log, request, print) == 0
        config.write_text(PAIRS.replace(WRONG, "").replace("conditions:\n", f"conditions:\n{WRONG}"))
        assert run_all(load(config), log, request, print) == 0
        assert preferences(log) == {"wrong": (0.5, 2), "plain": (1.0, 2), "right": (1.0, 2)}
        asked = mock.requests.total
        config.write_text(PAIRS)
        assert run_all(load(config), log, request, print) == 0
        assert (preferences(log), mock.requests.total) == (PREFERENCES, asked)
