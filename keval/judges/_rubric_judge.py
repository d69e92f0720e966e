"""What judges by a rubric have in common, whether they ask one model or several.

Such a judge is blind: it sees what its rubric gives it, which is question, golden answer and answer
unless the rubric says otherwise, and never the condition. The answer stands between tags with a
random mark that occurs in none of the texts, so that nothing in it can end its place in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, Self

from keval.errors import InputError
from keval.ids import JsonObject
from keval.judges import (
    ASK_AGAIN,
    AsksModels,
    Case,
    Context,
    Judgment,
    Metric,
    Score,
    _claim_lists,
    _prompts,
    _rubric_texts,
    _rubrics,
)
from keval.models.messages_api import Model
from keval.plugins import option

PLACEHOLDERS = {"user": {"mark", "answer"}, "ask_again": {"problem"}}
"""What each template among the texts must hold."""

NO_TOOL_RESULT = "the agent has no result of a tool to hold the answer against"


@dataclass(frozen=True, kw_only=True)
class RubricJudge(AsksModels):
    """Base of the judges whose metrics and texts come from a rubric file."""

    rubric: Path | Mapping[str, str] | None = field(
        default=None,
        hash=False,
        # Its content is among the texts, which are part of the identity; where the file lies is not.
        metadata=option(
            "a YAML file with other metrics, or the name of one of keval's own rubrics, or criteria of your own as "
            "NAME: TEXT, each of which becomes a metric from 0 to 1; default: methodology",
            identity=False,
        ),
    )
    redact: tuple[str, ...] = field(
        default=(), metadata=option("words that the judge must not see in an answer, such as product names")
    )
    _recorded: tuple[Mapping[str, Any], tuple[Metric, ...]] | None = field(default=None, repr=False, hash=False)
    """Texts and metrics of a log's run event, which then stand in for the rubric file and this version's prompt."""

    def option_problems(self) -> list[str]:
        """Return what is wrong with the options."""
        problems = [*super().option_problems(), *_prompts.redact_problems(self.redact)]
        return problems + (_criteria_problems(self.rubric) if isinstance(self.rubric, Mapping) else [])

    @classmethod
    def from_texts(cls, options: Mapping[str, Any], texts: Mapping[str, Any], metrics: Sequence[Metric]) -> Self:
        """Rebuild a judge from a log's run event; the rubric file is not read.

        Raises InputError when the texts or the metrics are not those of such a judge.
        """
        _prompts.check_recorded(texts, PLACEHOLDERS, may_hold=_rubrics.TEXTS)
        _check_metrics(metrics)
        _check_lists(texts.get("lists", {}), metrics)
        return cls(**options, _recorded=(texts, tuple(metrics)))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The rubric's metrics."""
        return _rubrics.metrics(self._rubric) if self._recorded is None else self._recorded[1]

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The fields that the rubric gives the judge."""
        fields = {"question": "question", "golden_answer": "answer"}
        return tuple(name for text, name in fields.items() if text in self._given)

    @property
    def needs_golden_answer(self) -> bool:
        """Whether the rubric gives the judge the golden answer."""
        return "golden_answer" in self._given

    def texts(self) -> Mapping[str, Any]:
        """Return what the judge's model is told: system prompt and templates, and the lists that it has to make.

        Raises InputError when the rubric file is broken.
        """
        return self._texts

    @cached_property
    def _rubric(self) -> JsonObject:
        if isinstance(self.rubric, Mapping):
            return _of_criteria(_rubrics.load(_rubrics.CRITERIA), self.rubric)
        return _rubrics.load(_rubrics.find(self.rubric or _rubrics.METHODOLOGY))

    @cached_property
    def _texts(self) -> Mapping[str, Any]:
        if self._recorded is not None:
            return self._recorded[0]
        lists = _rubrics.lists(self._rubric)
        return {
            "rubric": self._rubric["name"],
            "system": _rubric_texts.system_prompt(self._rubric),
            "user": _prompts.template(_rubrics.gives(self._rubric)),
            "ask_again": ASK_AGAIN,
            **({"lists": lists} if lists else {}),
        }

    @cached_property
    def _given(self) -> tuple[str, ...]:
        """Which texts the judge's message holds."""
        held = Template(self._texts["user"]).get_identifiers()
        return tuple(name for name in _rubrics.TEXTS if name in held)

    def given_texts(self, case: Case) -> dict[str, str]:
        """Return what the judge sees of a case, by name; what the agent made is redacted."""
        texts = {
            "question": lambda: case.question,
            "golden_answer": lambda: case.golden_answer or "",
            "tool_results": lambda: _prompts.redacted(tool_results(case), self.redact),
            "answer": lambda: _prompts.redacted(case.text, self.redact),
        }
        return {name: texts[name]() for name in self._given}

    def prompt(self, case: Case, mark: str) -> str:
        """Return the user's message for one response; the same case and mark give the same bytes."""
        return Template(self._texts["user"]).substitute(mark=mark, **self.given_texts(case))

    def not_applicable(self, case: Case) -> Judgment | None:
        """Return a judgment without scores where the case lacks what the rubric needs; nobody is asked then."""
        if "tool_results" not in self._given or tool_results(case).strip():
            return None
        return Judgment({metric.name: Score(None, not_applicable=NO_TOOL_RESULT) for metric in self.metrics})

    async def judged_by(self, model: Model, case: Case, context: Context) -> Judgment:
        """Ask one model for its scores. Raises JudgeError."""
        metrics, lists, texts = self.metrics, self._texts.get("lists", {}), self.given_texts(case)
        claims = _rubric_texts.asks_for_claims(self._given, lists)
        mark = _prompts.fresh_mark(texts.values(), context.random)
        reply = await context.ask(
            system=self._texts["system"],
            user=Template(self._texts["user"]).substitute(mark=mark, **texts),
            schema=_rubric_texts.reply_schema(metrics, lists, claims=claims),
            ask_again=self._texts["ask_again"],
            model=model,
        )
        scores = {
            metric.name: _claim_lists.score(metric, reply[metric.name], lists.get(metric.name, {}).get("share"))
            for metric in metrics
        }
        found = tuple(reply[_rubrics.CLAIMS]) if claims else ()
        return Judgment(scores, found, outcome=_claim_lists.outcome(metrics, reply, lists, scores))


def tool_results(case: Case) -> str:
    """Return what the agent's tools returned; a tool's name is not in it, as it may tell the condition."""
    results = [turn["result"] for turn in case.turns if turn.get("type") == "tool_call" and not turn.get("error")]
    return "\n\n".join(result for result in results if result)


def _of_criteria(rubric: JsonObject, criteria: Mapping[str, str]) -> JsonObject:
    """Return a rubric with one metric per criterion, each like the rubric's own."""
    (metric,) = rubric["metrics"]
    return rubric | {
        "metrics": [
            metric | {"name": _metric_name(name), "title": name, "question": criterion}
            for name, criterion in criteria.items()
        ]
    }


def _metric_name(criterion: str) -> str:
    return re.sub(r"\W+", "_", criterion.strip().lower())


def _criteria_problems(criteria: Mapping[str, str]) -> list[str]:
    names = [_metric_name(name) for name in criteria]
    problems = [f"rubric: {name!r} cannot be a metric's name" for name in names if not _rubrics.is_name(name)]
    if not names or len(set(names)) < len(names):
        problems.append("rubric: expected at least one criterion, each with a name of its own")
    return problems + [
        f"rubric: the criterion {name!r} has no text" for name, text in criteria.items() if not text.strip()
    ]


def _check_metrics(metrics: Sequence[Metric]) -> None:
    """Raise InputError unless each metric is one that a rubric can have."""
    for metric in metrics:
        if metric.type != "continuous" and (metric.min != int(metric.min) or metric.max != int(metric.max)):
            raise InputError(f"the judge's metrics in the log: the scale of {metric.name!r} is not of whole numbers")


def _check_lists(lists: object, metrics: Sequence[Metric]) -> None:
    """Raise InputError unless the lists of a log's judge are those of its metrics."""
    names = {metric.name for metric in metrics}
    if not isinstance(lists, dict) or not set(lists) <= names:
        raise InputError("the judge's texts in the log: 'lists' must be those of its metrics")
    for name, of in lists.items():
        try:
            listed, share = of["lists"], of["share"]
            used = {each for part in (share or {}).values() for each in part}
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"the judge's texts in the log: the lists of {name!r} are not those of a metric"
            ) from error
        if not isinstance(listed, list) or not used <= set(listed):
            raise InputError(f"the judge's texts in the log: the score of {name!r} is the share of lists it has not")
