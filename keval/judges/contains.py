"""Passes an answer that contains the golden answer, or texts that the config or the sample names.

No model is asked. Texts are compared as whole words in Unicode normal form C, so that `no` is not found in `know`. In
scripts that put no spaces between words, such as Chinese, a text is found wherever it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, Judgment, Metric, Score
from keval.judges._normal_text import WORD, normal
from keval.judges._sample_texts import sample_texts
from keval.plugins import option

METRIC = Metric("contains", 0, 1, type="binary")


@dataclass(frozen=True, kw_only=True)
class Contains(Judge):
    """One metric, `contains`: 1 and passed when the answer contains what is expected, else 0."""

    expected: tuple[str, ...] = field(
        default=(), metadata=option("texts that every answer is expected to contain, in place of the sample's")
    )
    expected_field: str = field(
        default="answer", metadata=option("the sample's field with the expected text, or with a list of them")
    )
    match: Literal["all", "any"] = field(default="all", metadata=option("how many of several texts there must be"))
    ignore_case: bool = field(default=True, metadata=option("upper and lower case are the same"))
    whole_words: bool = field(default=True, metadata=option("`art` is not in `party`"))

    def __post_init__(self) -> None:
        """Raise UsageError for an expected text that is in every answer."""
        if not all(text.strip() for text in self.expected):
            raise UsageError("expected: an empty text is in every answer")

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The field with the expected texts, unless the options have them."""
        return () if self.expected else (self.expected_field,)

    @property
    def needs_golden_answer(self) -> bool:
        """Whether the golden answer is what is expected."""
        return self.sample_fields == ("answer",)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Look for each expected text in the answer."""
        expected = self.expected or sample_texts(case.sample[self.expected_field], self.expected_field)
        if not expected:
            return Judgment.outside(self.metrics, "the sample names no expected text")
        answer = self._normal(case.text)
        missing = [text for text in expected if not self._is_in(text, answer)]
        passed = not missing if self.match == "all" else len(missing) < len(expected)
        reasoning = None if passed else f"not in the answer: {', '.join(map(repr, missing))}"
        return Judgment({METRIC.name: Score(int(passed), reasoning, passed=passed)}, outcome={"missing": missing})

    def _normal(self, text: str) -> str:
        return normal(text, ignore_case=self.ignore_case, strip=True)

    def _is_in(self, text: str, answer: str) -> bool:
        wanted = self._normal(text)
        if not self.whole_words:
            return wanted in answer
        return re.search(rf"(?<!{WORD}){re.escape(wanted)}(?!{WORD})", answer) is not None
