"""Scores an answer by the words that it shares with the golden answer: the F1 of SQuAD (Rajpurkar et al. 2016).

No model is asked. A word that stands there twice counts twice; case, punctuation and the words a, an and the do not
count. Punctuation of ASCII leaves nothing in its place, as in the script of SQuAD: `BIL-100` is one word, and shares
nothing with `BIL-200`. Where the sample has several golden answers, the one that fits best decides.
"""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import dataclass, field

from keval.judges import Case, Context, Judge, Judgment, Metric, Score
from keval.judges._normal_text import normal
from keval.judges._sample_texts import sample_texts
from keval.plugins import option

_DELETED = dict.fromkeys(map(ord, string.punctuation))

METRIC = Metric("token_f1", 0, 1, description="Harmonic mean of the precision and the recall of words.")


@dataclass(frozen=True, kw_only=True)
class TokenF1(Judge):
    """One metric, `token_f1`: from 0, no word is shared, to 1, all are."""

    expected_field: str = field(
        default="answer", metadata=option("the sample's field with the expected text, or with a list of them")
    )

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The field with the expected texts."""
        return (self.expected_field,)

    @property
    def needs_golden_answer(self) -> bool:
        """Whether the golden answer is what is expected."""
        return self.sample_fields == ("answer",)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Count the words that the answer shares with each expected text."""
        expected = sample_texts(case.sample[self.expected_field], self.expected_field)
        if not expected:
            return Judgment.outside(self.metrics, "the sample names no expected text")
        words = _words(case.text)
        return Judgment({METRIC.name: Score(max(_f1(words, _words(text)) for text in expected))})


def _words(text: str) -> Counter[str]:
    alike = normal(
        text.translate(_DELETED), ignore_case=True, strip=True, ignore_punctuation=True, ignore_articles=True
    )
    return Counter(alike.split())


def _f1(answer: Counter[str], expected: Counter[str]) -> float:
    """Return twice the shared words by the words of both, which is the harmonic mean of precision and recall."""
    if not answer or not expected:
        return float(answer == expected)
    return 2 * (answer & expected).total() / (answer.total() + expected.total())
