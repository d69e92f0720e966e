"""Passes an answer that is the golden answer, up to case and white space.

No model is asked. With `after`, what is compared is the text after the last of the words that announce an answer, as
in `So the answer is (B)`; an answer without them is compared whole. Both texts are compared in Unicode normal form C,
so that an accent that is one character equals the same accent written as two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, Judgment, Metric, Score
from keval.judges._answer_position import after_problems, marks, passages
from keval.judges._normal_text import normal
from keval.plugins import option

METRIC = Metric("exact_match", 0, 1, type="binary")


@dataclass(frozen=True, kw_only=True)
class ExactMatch(Judge):
    """One metric, `exact_match`: 1 and passed when both texts are the same, else 0."""

    sample_fields: ClassVar[tuple[str, ...] | None] = ("answer",)

    ignore_case: bool = field(default=True, metadata=option("upper and lower case are the same"))
    strip: bool = field(
        default=True, metadata=option("white space at both ends does not count, and a run of it counts as one space")
    )
    ignore_punctuation: bool = field(
        default=False, metadata=option("punctuation does not count: `Paris.` is `paris`, `[[]` is empty")
    )
    ignore_articles: bool = field(default=False, metadata=option("the words a, an and the do not count"))
    after: tuple[str, ...] = field(
        default=(),
        metadata=option("texts after the last of which the answer stands, such as `the answer is`; default: all of it"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError with what is wrong with the options."""
        problems = after_problems(self.after)
        if problems:
            raise UsageError(*problems)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Compare answer and golden answer."""
        same = self._normal(self._said(case.text)) == self._normal(case.golden_answer or "")
        return Judgment({METRIC.name: Score(int(same), passed=same)})

    def _said(self, text: str) -> str:
        return next(passages(text, marks(self.after)), text) if self.after else text

    def _normal(self, text: str) -> str:
        return normal(
            text,
            ignore_case=self.ignore_case,
            strip=self.strip,
            ignore_punctuation=self.ignore_punctuation,
            ignore_articles=self.ignore_articles,
        )
