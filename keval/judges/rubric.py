"""A model scores each answer against the golden answer by a rubric, with its reasons.

The judge is blind: it sees question, golden answer and answer, never the condition. The answer
stands between tags with a random mark that occurs in none of the texts, so that nothing in it can
end its place in the prompt. A reply that cannot be used is asked for once more, then the response
has no score from this judge.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, ClassVar, Literal, Self

from keval.errors import InputError, UsageError
from keval.ids import JsonObject
from keval.judges import Case, Judge, JudgeError, Metric, Score, Verdict, _rubrics
from keval.models import messages_api
from keval.plugins import option
from keval.secrets.excerpts import beginning_of

USER = """\
Mark: $nonce

<question-$nonce>
$question
</question-$nonce>

<golden_answer-$nonce>
$golden_answer
</golden_answer-$nonce>

<answer-$nonce>
$answer
</answer-$nonce>"""

ASK_AGAIN = """\
Your reply cannot be used: $problem.
Give the whole JSON object again, and nothing else."""

PLACEHOLDERS = {"user": {"nonce", "question", "golden_answer", "answer"}, "ask_again": {"problem"}}
"""What each template among the texts must hold."""

REDACTED = "[redacted]"
"""What stands for a redacted term in the answer, whatever the term was."""

REPLIES = 2
"""How often a reply is asked for: once, and once more when it cannot be used."""

EXCERPT = 200
"""Characters of a reply that an error message quotes."""


@dataclass(frozen=True, kw_only=True)
class Rubric(Judge):
    """An LLM judge; its metrics and texts come from a rubric file."""

    uses_models: ClassVar[bool] = True
    deterministic: ClassVar[bool] = False

    model: str = field(metadata=option("the model that judges, such as claude-opus-5"))
    rubric: Path | None = field(
        default=None,
        # Its content is among the texts, which are part of the identity; where the file lies is not.
        metadata=option("a YAML file with other metrics; without it keval's own three", identity=False),
    )
    redact: tuple[str, ...] = field(
        default=(), metadata=option("words that the judge must not see in an answer, such as product names")
    )
    max_tokens: int = field(default=4096, metadata=option("tokens that one reply may have, thinking included"))
    temperature: float | None = field(
        default=None, metadata=option("sent only when set: current models refuse it, older ones take it")
    )
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = field(
        default=None, metadata=option("how much the model thinks; sent only when set")
    )
    api_key_env: str = field(
        default="ANTHROPIC_API_KEY", metadata=option("the environment variable that holds the key", identity=False)
    )
    timeout_s: float = field(default=120, metadata=option("seconds that one reply may take", identity=False))
    _recorded: Mapping[str, Any] | None = field(default=None, repr=False, hash=False)
    """The texts of a log's run event, which then stand in for the rubric file and this version's prompt."""

    def __post_init__(self) -> None:
        problems = []
        if self.max_tokens < 1:
            problems.append(f"max_tokens: {self.max_tokens} is less than 1")
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            problems.append(f"timeout_s: {self.timeout_s} is not a time above 0")
        if not all(term.strip() for term in self.redact):
            problems.append("redact: an empty term would redact everything")
        if problems:
            raise UsageError(*problems)

    @classmethod
    def from_texts(cls, options: Mapping[str, Any], texts: Mapping[str, Any]) -> Self:
        """Rebuild a judge from a log's run event; the rubric file is not read.

        Raises InputError when the texts are not those of such a judge.
        """
        _check_texts(texts)
        return cls(**options, _recorded=texts)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The rubric's metrics."""
        return tuple(Metric(metric["name"], metric["min"], metric["max"]) for metric in self._texts["metrics"])

    def texts(self) -> Mapping[str, Any]:
        """Return what the judge's model is told: system prompt, templates, and the metrics' scales.

        Raises InputError when the rubric file is broken.
        """
        return self._texts

    @cached_property
    def _texts(self) -> Mapping[str, Any]:
        if self._recorded is not None:
            return self._recorded
        rubric = _rubrics.load(self.rubric or _rubrics.METHODOLOGY)
        return {
            "rubric": rubric["name"],
            "metrics": [{key: metric[key] for key in ("name", "min", "max")} for metric in rubric["metrics"]],
            "system": _rubrics.system_prompt(rubric),
            "user": USER,
            "ask_again": ASK_AGAIN,
        }

    def prompt(self, case: Case, nonce: str) -> str:
        """Return the user's message for one response; the same case and nonce give the same bytes."""
        return Template(self._texts["user"]).substitute(
            nonce=nonce,
            question=case.question,
            golden_answer=case.golden_answer,
            answer=redacted(case.text, self.redact),
        )

    async def judge(self, case: Case, env: Mapping[str, str]) -> Verdict:
        """Ask the model for a verdict, once more if its reply cannot be used."""
        messages = [{"role": "user", "content": self.prompt(case, fresh_nonce(case))}]
        replies: list[messages_api.Reply] = []
        problem = ""
        while len(replies) < REPLIES:
            reply = await self._ask(env, messages, replies)
            replies.append(reply)
            try:
                scores, claims = read_verdict(reply, self.metrics)
            except UnusableReplyError as error:
                problem = str(error)
                messages += self._ask_again(reply, problem)
            else:
                usage, cost_usd = messages_api.total(replies)
                return Verdict(scores, claims, usage=usage, cost_usd=cost_usd)
        usage, cost_usd = messages_api.total(replies)
        said = repr(beginning_of(replies[-1].text, EXCERPT))
        raise JudgeError(
            "judge_invalid", f"no usable reply in {REPLIES}: {problem}; it said {said}", usage=usage, cost_usd=cost_usd
        )

    async def _ask(
        self, env: Mapping[str, str], messages: Sequence[Mapping[str, str]], before: Sequence[messages_api.Reply]
    ) -> messages_api.Reply:
        """Ask once; an error carries the tokens and cost of the replies before it."""
        model = messages_api.Model(
            name=self.model,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            effort=self.effort,
            api_key_env=self.api_key_env,
            timeout_s=self.timeout_s,
        )
        schema = _rubrics.reply_schema({metric.name: (int(metric.min), int(metric.max)) for metric in self.metrics})
        try:
            return await model.ask(env, system=self._texts["system"], messages=messages, schema=schema)
        except messages_api.ModelError as error:
            usage, cost_usd = messages_api.total(before) if before else (None, None)
            raise JudgeError(
                "judge_error",
                error.message,
                retryable=error.retryable,
                retry_after_s=error.retry_after_s,
                overloaded=error.overloaded,
                usage=usage,
                cost_usd=cost_usd,
            ) from error

    def _ask_again(self, reply: messages_api.Reply, problem: str) -> list[dict[str, str]]:
        # The service refuses a turn without text. Thinking is left out: it cannot be sent back when cut off.
        said = reply.text if reply.text.strip() else "(no text)"
        return [
            {"role": "assistant", "content": said},
            {"role": "user", "content": Template(self._texts["ask_again"]).substitute(problem=problem)},
        ]


def _random_mark() -> str:
    return secrets.token_hex(8)


def fresh_nonce(case: Case, draw: Callable[[], str] = _random_mark) -> str:
    """Return a random mark that occurs in none of the case's texts."""
    while True:
        nonce = draw()
        if not any(nonce in text for text in (case.question, case.golden_answer, case.text)):
            return nonce


def redacted(text: str, terms: Sequence[str]) -> str:
    """Return a text with every term in it, as whole words and in any case, replaced by one neutral mark."""
    if not terms:
        return text
    longest_first = sorted(terms, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(re.escape(word) for word in term.split()) for term in longest_first)
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", REDACTED, text, flags=re.IGNORECASE)


class UnusableReplyError(Exception):
    """A reply is no verdict; the message says what is wrong, in words that can be sent back to the model."""


def read_verdict(reply: messages_api.Reply, metrics: Sequence[Metric]) -> tuple[dict[str, Score], tuple[str, ...]]:
    """Return the scores and unverified claims of a reply.

    Raises UnusableReplyError unless the reply is whole and is one JSON object with exactly the
    metrics, each with reasons and a whole score within its scale, and the claims.
    """
    _check_whole(reply)
    verdict = _object("it", _parse(reply.text), [*(metric.name for metric in metrics), _rubrics.CLAIMS])
    scores = {metric.name: _score(metric, verdict[metric.name]) for metric in metrics}
    claims = verdict[_rubrics.CLAIMS]
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        raise UnusableReplyError(f"{_rubrics.CLAIMS} is not a list of texts")
    return scores, tuple(claims)


def _check_whole(reply: messages_api.Reply) -> None:
    if reply.stop_reason == "max_tokens":
        raise UnusableReplyError("it was cut off at max_tokens; keep the reasoning short")
    if reply.stop_reason == "refusal":
        raise UnusableReplyError("it was a refusal; the texts are only to be scored")
    if reply.stop_reason not in ("end_turn", "stop_sequence"):
        raise UnusableReplyError(f"it ended early ({reply.stop_reason})")


def _parse(text: str) -> object:
    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key occurs twice")
        return found

    try:
        parsed: object = json.loads(text, object_pairs_hook=without_repeats)
    except (ValueError, RecursionError) as error:  # too long a number is a ValueError, too deep a list a RecursionError
        raise UnusableReplyError(f"it is not one JSON object ({error})") from error
    return parsed


def _score(metric: Metric, written: object) -> Score:
    found = _object(metric.name, written, ["reasoning", "score"])
    score, reasoning = found["score"], found["reasoning"]
    if not isinstance(score, int) or isinstance(score, bool) or not metric.min <= score <= metric.max:
        raise UnusableReplyError(
            f"{metric.name}: the score {_quoted(score)} is not a whole number from {metric.min:g} to {metric.max:g}"
        )
    if not isinstance(reasoning, str):
        raise UnusableReplyError(f"{metric.name}: the reasoning is not a text")
    return Score(score, reasoning)


def _object(what: str, written: object, keys: Sequence[str]) -> JsonObject:
    """Return `written` as an object with exactly these keys."""
    if not isinstance(written, dict):
        raise UnusableReplyError(f"{what} is not an object")
    missing = [key for key in keys if key not in written]
    unknown = [key for key in written if key not in keys]
    if missing or unknown:
        problems = [*(f"{key} is missing" for key in missing), *(f"{_quoted(key)} is not asked for" for key in unknown)]
        raise UnusableReplyError(f"{what}: {', '.join(problems[:5])}")
    return written


def _quoted(value: object) -> str:
    return repr(value)[:50]


def _check_texts(texts: Mapping[str, Any]) -> None:
    """Raise InputError unless texts from a log can take the place of this judge's own."""
    for name in ("system", *PLACEHOLDERS):
        if not isinstance(texts.get(name), str):
            raise InputError(f"the judge's texts in the log: {name!r} is missing or not a text")
    for name, placeholders in PLACEHOLDERS.items():
        template = Template(texts[name])
        if not template.is_valid() or set(template.get_identifiers()) != placeholders:
            raise InputError(f"the judge's texts in the log: {name!r} must hold ${', $'.join(sorted(placeholders))}")
    metrics = texts.get("metrics")
    if not isinstance(metrics, list) or not metrics or not all(_is_metric(metric) for metric in metrics):
        raise InputError("the judge's texts in the log: 'metrics' is not a list of name, min and max")


def _is_metric(metric: object) -> bool:
    return (
        isinstance(metric, dict)
        and isinstance(metric.get("name"), str)
        and isinstance(metric.get("min"), int)
        and isinstance(metric.get("max"), int)
        and metric["min"] < metric["max"]
    )
