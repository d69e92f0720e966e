from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.errors import UsageError
from keval.execution.budget import ledger
from keval.ids import JsonObject
from keval.logs.costs import MeasuredCosts, Spent
from keval.logs.past import of_log
from keval.preparation.estimate import Estimate, estimate
from keval.preparation.prepared import Prepared, prepare
from tests.builders import judgment_event, response_event, write_log

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


def paid(*events: JsonObject) -> MeasuredCosts:
    """Return the costs of events."""
    costs = MeasuredCosts()
    for each in events:
        costs.add(each)
    return costs


def found(prepared_config: Prepared, so_far: MeasuredCosts) -> dict[str, tuple[int, float | None, bool]]:
    """Return number, cost and whether it was measured, by name."""
    return {
        item.name: (item.number, None if item.cost_usd is None else round(item.cost_usd, 9), item.measured)
        for item in estimate(prepared_config, so_far, prepared_config.config.judges)
    }


def test_before_anything_was_paid_the_assumptions_count(tmp_path: Path) -> None:
    """2,000 and 500 tokens for an answer, more with servers; a judge without a model costs nothing for certain."""
    assert found(prepared(tmp_path), paid()) == {
        "plain": (6, 0.018, False),  # 6 * (2,000 * 1 + 500 * 2) millionths
        "docs": (6, 0.0816, False),  # 6 * (12,000 * 1 + 800 * 2)
        "rubric": (24, 0.0936, False),  # 24 * (2,500 * 1 + 700 * 2)
        "exact_match": (12, 0.0, True),
    }


def test_an_unknown_price_makes_an_unknown_cost(tmp_path: Path) -> None:
    """No number is made up for a model without a price; what the other items cost is known all the same."""
    costs = found(prepared(tmp_path, model="unknown"), paid())
    assert (costs["plain"][1], costs["docs"][1]) == (None, None)
    assert costs["rubric"][1] is not None


@pytest.mark.parametrize(
    ("agent", "cost"),
    [
        ("{type: echo}", 0.0),
        ("{type: python, function: 'm.py:f'}", None),
        ("{type: command, command: [cat], answer_path: $.answer, cost_path: $.cost}", None),
    ],
)
def test_an_agent_of_which_nobody_knows_the_price_is_not_free(tmp_path: Path, agent: str, cost: float | None) -> None:
    """What a function asks is its own affair: nothing was measured, and a budget is no mistake all the same."""
    (tmp_path / "m.py").write_text("def f(question): return question\n")
    prepared(tmp_path)
    config = tmp_path / "eval.yaml"
    config.write_text(
        config.read_text().replace("{type: claude, model: mine}", agent).replace("seed: 0", "budget_usd: 5")
    )
    asked = prepare(load(config, environ={}), None, warn=nobody_is_warned)
    items = estimate(asked, paid(), asked.config.judges)
    assert [(item.cost_usd, item.free) for item in items[:2]] == [(cost, cost is not None)] * 2
    assert items[-1].free
    said: list[str] = []
    ledger(items, asked.config.execution, Spent(), said.append)
    assert len(said) == (cost is None)


def test_what_was_paid_takes_the_place_of_what_was_assumed(tmp_path: Path) -> None:
    """The mean of the known costs, of this agent's answers under this condition and of this judge."""
    asked = prepared(tmp_path)
    plain, _ = asked.config.conditions
    of_agent = {"agent_id": asked.config.agent.agent_id, "condition_id": plain.condition_id}
    answers = [response_event(f"q{number}", cost_usd=cost) | of_agent for number, cost in enumerate((0.1, 0.3))]
    judgment = judgment_event(answers[0], cost_usd=0.5) | {"judge_id": asked.config.judges[0].judge_id}
    costs = found(asked, paid(*answers, judgment))
    assert costs["plain"] == (6, 1.2, True)
    assert costs["rubric"] == (24, 12.0, True)
    assert not costs["docs"][2]


def test_no_judge_of_pairs_is_asked_about_the_baseline(tmp_path: Path) -> None:
    """Its answers are pairs with themselves: they are no calls, and no free ones in the mean of what calls cost."""
    prepared(tmp_path)
    config = tmp_path / "eval.yaml"
    config.write_text(config.read_text().replace("exact_match", "pairwise, model: mine"))
    asked = prepare(load(config, environ={}), None, warn=nobody_is_warned)
    pairwise = asked.config.judges[1].judge_id
    assert found(asked, paid())["pairwise"][0] == 6
    baseline, other = response_event("q1"), response_event("q2")
    tie = judgment_event(baseline, cost_usd=0.0) | {"judge_id": pairwise, "other_response_id": baseline["id"]}
    judgment = judgment_event(other, cost_usd=0.5) | {"judge_id": pairwise, "other_response_id": baseline["id"]}
    events = [baseline, other, tie, judgment]
    assert found(asked, paid(*events))["pairwise"] == (6, 3.0, True)
    with of_log(write_log(tmp_path / "log.jsonl", events), nobody_is_warned) as past:
        assert found(asked, past.costs())["pairwise"] == (6, 3.0, True)


def test_a_ledger_sets_aside_the_most_that_one_has_cost(tmp_path: Path) -> None:
    """Not the mean, and not the assumption; a condition and a judge of one name have accounts of their own."""
    asked = prepared(tmp_path, execution="budget_usd: 5")
    plain, docs = asked.config.conditions
    twin = replace(asked.config.judges[0], name=plain.name)
    of_agent = {"agent_id": asked.config.agent.agent_id, "condition_id": plain.condition_id}
    answers = [response_event(f"q{number}", cost_usd=cost) | of_agent for number, cost in enumerate((0.1, 0.3))]
    items = estimate(asked, paid(*answers), [twin])
    made = ledger(items, asked.config.execution, Spent(), nobody_is_warned)
    assert made.max_cost_usd[plain.condition_id] == 0.3
    assert made.max_cost_usd[docs.condition_id] == pytest.approx(0.0136)
    assert made.max_cost_usd[twin.judge_id] == pytest.approx(0.0039)


def test_a_budget_needs_prices(tmp_path: Path) -> None:
    """A limit on what nobody can count is refused before anything is asked."""
    asked = prepared(tmp_path, model="unknown", execution="budget_usd: 5")
    with pytest.raises(UsageError, match="budget_usd is set, and what 'plain' costs is unknown"):
        ledger(estimate(asked, paid(), asked.config.judges), asked.config.execution, Spent(), nobody_is_warned)


@pytest.mark.parametrize("limit", ["budget_usd", "daily_budget_usd"])
def test_a_budget_that_cannot_hold_an_agent_says_so(tmp_path: Path, limit: str) -> None:
    """What an agent of one's own asks for is its own affair; without a budget it does not matter."""
    items = [Estimate("plain", "c1", 3, None, 0.0, measured=False), Estimate("free", "c2", 3, 0.0, 0.0, measured=False)]
    said: list[str] = []
    for execution in (f"{limit}: 5", "max_concurrent: 2"):
        ledger(items, prepared(tmp_path, execution=execution).config.execution, Spent(), said.append)
    (told,) = said
    assert told.startswith(f"{limit}: what an answer costs is known only once the agent says it (plain); ")


def test_what_today_cost_and_nobody_knows_is_said_under_a_daily_budget(tmp_path: Path) -> None:
    """It counts as nothing, and the user is told so; without a daily budget it does not matter."""
    said: list[str] = []
    for execution in ("daily_budget_usd: 5", "budget_usd: 5"):
        asked = prepared(tmp_path, execution=execution)
        made = ledger(estimate(asked, paid(), asked.config.judges), asked.config.execution, Spent(1.5, 2), said.append)
        assert made.earlier_usd == 1.5
    assert said == ["daily_budget_usd: what 2 of today's attempts cost is unknown; they count as nothing"]
