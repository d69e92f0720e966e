"""Several models score each answer by one rubric: their mean, and how far they are apart.

Each model is asked by itself, with the same prompt, and its scores are kept in the outcome. The judgment of a jury
needs a reply of all of them: a mean over those that happened to reply would compare answers that were judged by
different juries. A model that finds a metric not applicable has replied; the mean is that of the others.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from keval.ids import JsonObject
from keval.judges import Case, Context, Judgment, Metric, Score
from keval.judges._rubric_judge import RubricJudge
from keval.plugins import option

LEAST = 2
"""A jury has at least so many models."""


@dataclass(frozen=True, kw_only=True)
class Jury(RubricJudge):
    """An LLM judge that asks several models; a metric's score is the mean of theirs."""

    models: tuple[str, ...] = field(
        metadata=option("the models that judge, at least two", example=["claude-opus-5", "claude-sonnet-5"])
    )

    def option_problems(self) -> list[str]:
        """Return what is wrong with the options."""
        problems = super().option_problems()
        if len(self.models) < LEAST or len(set(self.models)) < len(self.models):
            problems.append("models: a jury is at least two different models")
        return problems

    @property
    def model_name(self) -> str:
        """The models, as one name."""
        return ", ".join(self.models)

    @property
    def calls(self) -> tuple[str, ...]:
        """One call of each model."""
        return tuple(self.models)

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Ask all models at once and return the means of their scores. Raises JudgeError when one has none."""
        lacking = self.not_applicable(case)
        if lacking is not None:
            return lacking
        asked = (self.judged_by(self.settings_of(model), case, context) for model in self.models)
        # All are waited for, so that what each has cost is known when one of them fails.
        replied = await asyncio.gather(*asked, return_exceptions=True)
        judgments = {}
        for model, judgment in zip(self.models, replied, strict=True):
            if isinstance(judgment, BaseException):
                raise judgment
            judgments[model] = judgment
        claims = dict.fromkeys(claim for each in judgments.values() for claim in each.unverified_claims)
        scores = {metric.name: _mean(metric, judgments) for metric in self.metrics}
        return Judgment(scores, tuple(claims), outcome=_outcome(self.metrics, judgments))


def _mean(metric: Metric, judgments: Mapping[str, Judgment]) -> Score:
    """Return the mean of a metric's scores; a model to which it does not apply has none."""
    scores = {model: judgment.scores[metric.name] for model, judgment in judgments.items()}
    given = [score.score for score in scores.values() if score.score is not None]
    reasoning = "\n".join(f"{model}: {_told(score)}" for model, score in scores.items())
    if not given:
        return Score(None, reasoning, not_applicable=next(iter(scores.values())).not_applicable)
    return Score(statistics.fmean(given), reasoning)


def _told(score: Score) -> str:
    number = "not applicable" if score.score is None else f"{score.score:g}"
    return f"{number}. {score.reasoning or ''}".strip()


def _outcome(metrics: tuple[Metric, ...], judgments: Mapping[str, Judgment]) -> JsonObject:
    """Return each model's scores and lists, and per metric how far the models are apart."""
    models: JsonObject = {}
    for model, judgment in judgments.items():
        scores = {name: score.score for name, score in judgment.scores.items()}
        models[model] = {"scores": scores, **(judgment.outcome or {})}
    return {"models": models, "spread": {metric.name: _spread(metric, judgments) for metric in metrics}}


def _spread(metric: Metric, judgments: Mapping[str, Judgment]) -> JsonObject | None:
    """Return standard deviation (n - 1) and range of the models' scores; None where fewer than two have one."""
    given = [score for judgment in judgments.values() if (score := judgment.scores[metric.name].score) is not None]
    if len(given) < LEAST:
        return None
    return {"sd": statistics.stdev(given), "range": max(given) - min(given), "n": len(given)}
