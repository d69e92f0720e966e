"""A model scores each answer against the golden answer by a rubric, with its reasons.

The judge is blind: it sees question, golden answer and answer, never the condition. The answer
stands between tags with a random mark that occurs in none of the texts, so that nothing in it can
end its place in the prompt.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, Self

from keval.errors import InputError
from keval.ids import JsonObject
from keval.judges import ASK_AGAIN, Case, Context, Judgment, Metric, ModelJudge, Score, _rubrics
from keval.plugins import option

USER = """\
Mark: $mark

<question-$mark>
$question
</question-$mark>

<golden_answer-$mark>
$golden_answer
</golden_answer-$mark>

<answer-$mark>
$answer
</answer-$mark>"""

PLACEHOLDERS = {"user": {"mark", "question", "golden_answer", "answer"}, "ask_again": {"problem"}}
"""What each template among the texts must hold."""

REDACTED = "[redacted]"
"""What stands for a redacted term in the answer, whatever the term was."""


@dataclass(frozen=True, kw_only=True)
class Rubric(ModelJudge):
    """An LLM judge; its metrics and texts come from a rubric file."""

    rubric: Path | None = field(
        default=None,
        # Its content is among the texts, which are part of the identity; where the file lies is not.
        metadata=option("a YAML file with other metrics; without it keval's own three", identity=False),
    )
    redact: tuple[str, ...] = field(
        default=(), metadata=option("words that the judge must not see in an answer, such as product names")
    )
    _recorded: tuple[Mapping[str, Any], tuple[Metric, ...]] | None = field(default=None, repr=False, hash=False)
    """Texts and metrics of a log's run event, which then stand in for the rubric file and this version's prompt."""

    def option_problems(self) -> list[str]:
        """Return what is wrong with the options."""
        problems = super().option_problems()
        if not all(term.strip() for term in self.redact):
            problems.append("redact: an empty term would redact everything")
        return problems

    @classmethod
    def from_texts(cls, options: Mapping[str, Any], texts: Mapping[str, Any], metrics: Sequence[Metric]) -> Self:
        """Rebuild a judge from a log's run event; the rubric file is not read.

        Raises InputError when the texts or the metrics are not those of such a judge.
        """
        _check_texts(texts)
        _check_metrics(metrics)
        return cls(**options, _recorded=(texts, tuple(metrics)))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The rubric's metrics."""
        return _rubrics.metrics(self._rubric) if self._recorded is None else self._recorded[1]

    def texts(self) -> Mapping[str, Any]:
        """Return what the judge's model is told: system prompt and templates.

        Raises InputError when the rubric file is broken.
        """
        return self._texts

    @cached_property
    def _rubric(self) -> JsonObject:
        return _rubrics.load(self.rubric or _rubrics.METHODOLOGY)

    @cached_property
    def _texts(self) -> Mapping[str, Any]:
        if self._recorded is not None:
            return self._recorded[0]
        return {
            "rubric": self._rubric["name"],
            "system": _rubrics.system_prompt(self._rubric),
            "user": USER,
            "ask_again": ASK_AGAIN,
        }

    def prompt(self, case: Case, mark: str) -> str:
        """Return the user's message for one response; the same case and mark give the same bytes."""
        return Template(self._texts["user"]).substitute(
            mark=mark,
            question=case.question,
            golden_answer=case.golden_answer or "",
            answer=redacted(case.text, self.redact),
        )

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Ask the model for its scores."""
        metrics = self.metrics
        reply = await context.ask(
            system=self._texts["system"],
            user=self.prompt(case, fresh_mark(case, context.random)),
            schema=_rubrics.reply_schema(metrics),
            ask_again=self._texts["ask_again"],
        )
        given = {metric.name: reply[metric.name] for metric in metrics}
        scores = {name: Score(int(each["score"]), each["reasoning"]) for name, each in given.items()}
        return Judgment(scores, tuple(reply[_rubrics.CLAIMS]))


def fresh_mark(case: Case, numbers: random.Random) -> str:
    """Return a random mark that occurs in none of the case's texts."""
    while True:
        mark = numbers.randbytes(8).hex()
        if not any(mark in text for text in (case.question, case.golden_answer or "", case.text)):
            return mark


def redacted(text: str, terms: Sequence[str]) -> str:
    """Return a text with every term in it, as whole words and in any case, replaced by one neutral mark."""
    if not terms:
        return text
    longest_first = sorted(terms, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(re.escape(word) for word in term.split()) for term in longest_first)
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", REDACTED, text, flags=re.IGNORECASE)


def _check_texts(texts: Mapping[str, Any]) -> None:
    """Raise InputError unless texts from a log can take the place of this judge's own."""
    for name in ("system", *PLACEHOLDERS):
        if not isinstance(texts.get(name), str):
            raise InputError(f"the judge's texts in the log: {name!r} is missing or not a text")
    for name, placeholders in PLACEHOLDERS.items():
        template = Template(texts[name])
        if not template.is_valid() or set(template.get_identifiers()) != placeholders:
            raise InputError(f"the judge's texts in the log: {name!r} must hold ${', $'.join(sorted(placeholders))}")


def _check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise InputError unless each metric is one that a rubric can have."""
    for metric in metrics:
        if metric.min != int(metric.min) or metric.max != int(metric.max):
            raise InputError(f"the judge's metrics in the log: the scale of {metric.name!r} is not of whole numbers")
