"""A model scores each answer against the golden answer by a rubric, with its reasons.

The rubric is data: keval's own three metrics, another of its rubrics, a file of yours, or criteria in the config.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from keval.ids import JsonObject
from keval.judges import Case, Context, Judgment, ModelJudge, _rubrics
from keval.judges._rubric_judge import RubricJudge


@dataclass(frozen=True, kw_only=True)
class Rubric(RubricJudge, ModelJudge):
    """An LLM judge; its metrics and texts come from a rubric file."""

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Ask the model for its scores; without what the rubric needs no metric applies, and nobody is asked."""
        return self.not_applicable(case) or await self.judged_by(self.model_settings, case, context)


def checked(path: Path) -> JsonObject:
    """Return the rubric in a file. Raises InputError with everything that is wrong with it."""
    return _rubrics.load(path)


def shipped() -> dict[str, str]:
    """Return what keval's own rubrics are for, by name."""
    return {name: str(_rubrics.load(path)["summary"]) for name, path in _rubrics.shipped().items()}
