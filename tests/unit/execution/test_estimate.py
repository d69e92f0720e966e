from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.estimate import Item, Measured, estimate, ledger, measured
from keval.execution.preparation import Prepared, prepare
from keval.logs.history import Spent
from tests.builders import JUDGE_ID, judgment_event, response_event, write_log

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: claude, model: MODEL}
mcp_servers:
  docs: {type: stdio, command: python}
conditions:
  plain: {system_prompt: "Answer."}
  docs: {system_prompt: "Use them.", mcp_servers: [docs]}
judges:
  - {type: rubric, model: mine, replicates: 2}
  - {type: exact_match}
prices: {mine: {input: 1, output: 2}}
execution: {repetitions: 3, EXECUTION}
"""


def nobody_is_warned(message: str) -> None:
    raise AssertionError(message)


def prepared(folder: Path, model: str = "mine", execution: str = "seed: 0") -> Prepared:
    """Return a config of two samples, two conditions and three repetitions."""
    (folder / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n{"question": "r", "answer": "b"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("MODEL", model).replace("EXECUTION", execution))
    return prepare(load(folder / "eval.yaml", environ={}), None, warn=nobody_is_warned)


def rounded(item: Item) -> Item:
    return item if item.cost_usd is None else replace(item, cost_usd=round(item.cost_usd, 9))


def test_before_anything_was_paid_the_assumptions_count(tmp_path: Path) -> None:
    """2,000 and 500 tokens for an answer, more with servers; a judge without a model costs nothing for certain."""
    assert [rounded(item) for item in estimate(prepared(tmp_path), Measured())] == [
        Item("plain", 6, 0.018, measured=False),  # 6 * (2,000 * 1 + 500 * 2) millionths
        Item("docs", 6, 0.0816, measured=False),  # 6 * (12,000 * 1 + 800 * 2)
        Item("rubric", 24, 0.0936, measured=False),  # 24 * (2,500 * 1 + 700 * 2)
        Item("exact_match", 12, 0.0, measured=True),
    ]


def test_an_unknown_price_makes_an_unknown_cost(tmp_path: Path) -> None:
    """No number is made up for a model without a price; what the other items cost is known all the same."""
    plain, docs, rubric, _ = estimate(prepared(tmp_path, model="unknown"), Measured())
    assert (plain.cost_usd, docs.cost_usd) == (None, None)
    assert rubric.cost_usd is not None


def test_what_was_paid_takes_the_place_of_what_was_assumed(tmp_path: Path) -> None:
    """The mean of the known costs, of this condition and this judge."""
    asked = prepared(tmp_path)
    plain, docs = asked.config.conditions
    so_far = Measured({plain.condition_id: [0.1, 0.3], asked.config.judges[0].judge_id: [0.5]})
    found = {item.name: rounded(item) for item in estimate(asked, so_far)}
    assert found["plain"] == Item("plain", 6, 1.2, measured=True)
    assert found["rubric"] == Item("rubric", 24, 12.0, measured=True)
    assert not found["docs"].measured
    assert so_far.mean(docs.condition_id) is None


def test_only_real_and_known_costs_of_the_agent_are_measured(tmp_path: Path) -> None:
    """Answers of the mock, of another agent and of unknown cost tell nothing of what the next one costs."""
    answer = response_event("q1", cost_usd=0.25)
    log = write_log(
        tmp_path / "run.jsonl",
        [
            answer,
            response_event("q2", cost_usd=0.75),
            response_event("q3", cost_usd=9.0, mock=True),
            response_event("q4", cost_usd=9.0, agent_id="another-agent"),
            response_event("q5", cost_usd=None),
            judgment_event(answer, cost_usd=0.125),
        ],
    )
    found = measured(log, answer["agent_id"], nobody_is_warned)
    assert found.mean(answer["condition_id"]) == 0.5
    assert found.mean(JUDGE_ID) == 0.125
    assert measured(tmp_path / "none.jsonl", answer["agent_id"], nobody_is_warned) == Measured()


def test_a_budget_needs_prices(tmp_path: Path) -> None:
    """A limit on what nobody can count is refused before anything is asked."""
    with pytest.raises(UsageError, match="budget_usd is set, and what 'plain' costs is unknown"):
        ledger(prepared(tmp_path, model="unknown", execution="budget_usd: 5"), Spent(), nobody_is_warned)
    assert ledger(prepared(tmp_path, execution="budget_usd: 5"), Spent(), nobody_is_warned).dearest["plain"] > 0
