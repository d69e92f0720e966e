from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keval.config.reader import judge_from_description, load_judge
from keval.errors import UsageError
from keval.executors.judge_once import judge_once
from keval.judges import Context, JudgeError
from keval.judges.jury import Jury
from keval.models import prices
from tests.cases import case
from tests.scripted_service import OVERLOADED, Service, message, serving

MODELS = ("claude-opus-5", "claude-sonnet-5", "claude-opus-4-8")
CASE = case("A kiwi is a fruit.", "A fruit.", "What is a kiwi?")


def jury(rubric: str, **options: Any) -> Jury:  # noqa: ANN401 - any option
    """Return a jury of three."""
    return Jury(models=MODELS, rubric=Path(rubric), **options)


def context(judge: Jury, service: Service) -> Context:
    """Return the context of one judgment."""
    return Context(seed="j1", model=judge.model_settings, env=service.env)


def solution(score: float) -> tuple[int, dict[str, Any]]:
    """Return one model's reply."""
    return message(json.dumps({"solution": {"reasoning": "r", "score": score}, "unverified_claims": ["c"]}))


async def test_a_jurys_score_is_the_mean_and_each_models_score_is_kept_with_their_spread() -> None:
    """Three models, one prompt each; what they cost is added up."""
    judge = jury("maths")
    with serving(solution(0.5), solution(0.5), solution(0.8)) as service:
        judgment = await judge_once(judge, CASE, context(judge, service))
    assert judgment.scores["solution"].score == pytest.approx(0.6)
    assert judgment.unverified_claims == ("c",)
    outcome = judgment.outcome or {}
    assert sorted(each["scores"]["solution"] for each in outcome["models"].values()) == [0.5, 0.5, 0.8]
    assert outcome["spread"]["solution"] == {
        "sd": pytest.approx(0.173205), "range": pytest.approx(0.3), "n": 3,
    }  # fmt: skip
    assert {asked["model"] for asked in service.asked} == set(MODELS)
    assert len({json.dumps(asked["system"]) for asked in service.asked}) == 1
    assert judgment.usage is not None
    assert judgment.usage.input_tokens == 3000


async def test_each_models_reply_costs_what_the_config_says_of_that_model() -> None:
    """1,000 tokens of input each: one model has a price of the config, $1 for that, the others the shipped one."""
    judge = jury("maths")
    own = prices.load({MODELS[1]: {"input": 1_000, "output": 0}})
    with serving(*[solution(0.5)] * 6) as service:
        judgment = await judge_once(judge, CASE, replace(context(judge, service), prices=own))
        usual = await judge_once(judge, CASE, context(judge, service))
    assert judgment.cost_usd is not None
    assert usual.cost_usd is not None
    assert 0.9 < judgment.cost_usd - usual.cost_usd < 1


async def test_a_model_that_fails_fails_the_judgment_and_what_the_others_cost_is_known() -> None:
    """A mean over those that happened to reply would compare answers judged by different juries."""
    judge = jury("maths")
    with serving(solution(0.5), OVERLOADED, solution(0.8)) as service, pytest.raises(JudgeError) as caught:
        await judge_once(judge, CASE, context(judge, service))
    assert caught.value.retryable
    assert caught.value.usage is not None
    assert caught.value.usage.input_tokens == 2000


async def test_a_metric_applies_if_it_applies_to_one_model() -> None:
    """The mean is over the models that found something to check, and the outcome says which."""

    def reply(*right: str) -> tuple[int, dict[str, Any]]:
        lists = {"factual_claims": list(right), "non_factual_claims": [], "uncertain_claims": []}
        return message(json.dumps({"factuality": {**lists, "reasoning": "r", "score": 1}}))

    judge = jury("factuality")
    with serving(reply("It is a fruit."), reply(), reply()) as service:
        judgment = await judge.judge(CASE, context(judge, service))
    assert judgment.scores["factuality"].score == 1
    assert (judgment.outcome or {})["spread"] == {"factuality": None}
    with serving(reply(), reply(), reply()) as service:
        judgment = await judge.judge(CASE, context(judge, service))
    assert "nothing to check" in (judgment.scores["factuality"].not_applicable or "")


async def test_without_tool_results_no_model_is_asked() -> None:
    """What the rubric needs, it needs for all."""
    judge = jury("groundedness")
    with serving() as service:
        judgment = await judge.judge(CASE, context(judge, service))
    assert judgment.scores["groundedness"].score is None
    assert service.asked == []


@pytest.mark.parametrize("models", [(), ("claude-opus-5",), ("claude-opus-5", "claude-opus-5")])
def test_a_jury_is_at_least_two_different_models(models: tuple[str, ...]) -> None:
    """One model asked twice is what replicates are for."""
    with pytest.raises(UsageError, match=r"^models: "):
        Jury(models=models)


def test_a_jury_can_be_built_again_from_a_log(tmp_path: Path) -> None:
    """Its models are options; the name that joins them is for readers."""
    path = tmp_path / "judge.yaml"
    path.write_text("type: jury\nmodels: [claude-opus-5, claude-sonnet-5]\nrubric: quality\n", encoding="utf-8")
    loaded = load_judge(path)
    described = json.loads(json.dumps(loaded.described()))
    assert described["model"] == "claude-opus-5, claude-sonnet-5"
    rebuilt = judge_from_description(described)
    assert rebuilt.judge_id == loaded.judge_id
    assert rebuilt.judge.calls == ("claude-opus-5", "claude-sonnet-5")
