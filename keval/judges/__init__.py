"""What a judge is: a case and a context in, a judgment out, or a `JudgeError`.

The case is what there is to judge, the context what to judge it with. A judge never sees the condition's name.
A judgment holds only scores that were given: what could not be judged is an error, never a number.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.judges._context import ASK_AGAIN, Context
from keval.judges._judgment import (
    JudgeError,
    Judgment,
    Metric,
    MetricType,
    Score,
    check_scores,
)
from keval.models.messages_api import Model
from keval.plugins import option

__all__ = [
    "ASK_AGAIN",
    "Case",
    "Context",
    "Judge",
    "JudgeError",
    "Judgment",
    "Metric",
    "MetricType",
    "ModelJudge",
    "OtherResponse",
    "Score",
    "check_scores",
]

Turns = tuple[Mapping[str, Any], ...]
"""The agent's steps, as response events hold them."""


@dataclass(frozen=True, slots=True)
class OtherResponse:
    """The second response of a pair: another answer to the same sample."""

    text: str
    turns: Turns = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge is given of one response, or of a pair of them."""

    sample: Mapping[str, Any]
    """Of the sample only what the judge is given; see `Judge.sample_fields`."""
    text: str
    """The answer."""
    turns: Turns = ()
    sources: tuple[str, ...] = ()
    workspace: Path | None = None
    """The folder in which the agent worked, for judges that ask for it; None where it was not kept."""
    other: OtherResponse | None = None
    """The second response, for judges of pairs."""

    @property
    def question(self) -> str:
        """What the agent was asked. Raises LookupError for a judge that is not given it."""
        return str(self._given("question"))

    @property
    def golden_answer(self) -> str | None:
        """The right answer, None if the sample has none. Raises LookupError for a judge that is not given it."""
        answer = self._given("answer")
        return None if answer is None else str(answer)

    def _given(self, name: str) -> object:
        # A judge that reads what it is not given would have the same id whatever stands there.
        if name not in self.sample:
            raise LookupError(f"the judge is not given the sample's {name!r}: its sample_fields do not name it")
        return self.sample[name]


@dataclass(frozen=True, kw_only=True)
class Judge(ABC):
    """Base of all judges: a frozen dataclass whose fields are its options."""

    uses_models: ClassVar[bool] = False
    """Whether the judge talks to the Messages API and so needs a key, or the mock."""
    deterministic: ClassVar[bool] = True
    """Whether the same case always gets the same judgment."""
    sample_fields: ClassVar[tuple[str, ...] | None] = ("question", "answer")
    """Which fields of the sample the judge is given, None for all: an edited one makes its judgments outdated."""
    needs_golden_answer: ClassVar[bool] = True
    """Whether no metric applies to a sample without a golden answer; the judge is not asked then."""
    uses_workspace: ClassVar[bool] = False
    """Whether the judge wants the folder in which the agent worked."""
    unit: ClassVar[Literal["response", "pair"]] = "response"
    """What is judged: one response, or two responses to the same sample beside each other."""

    @property
    def model_name(self) -> str | None:
        """The model as configured, or None for a judge that is a program."""
        return getattr(self, "model", None)

    @property
    def model_settings(self) -> Model | None:
        """The model that the judge's context asks, or None for a judge that is a program."""
        return None

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Environment variables that the judge must have, such as its key."""
        name = getattr(self, "api_key_env", None)
        return (name,) if name else ()

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that every judgment of this judge holds, with their scales."""

    def texts(self) -> Mapping[str, Any]:
        """Return the rubric and prompt texts, which are part of the judge's identity."""
        return {}

    @classmethod
    def from_texts(
        cls,
        options: Mapping[str, Any],
        texts: Mapping[str, Any],  # noqa: ARG003 - for subclasses
        metrics: Sequence[Metric],  # noqa: ARG003 - for subclasses
    ) -> Self:
        """Rebuild a judge from a log's run event, which holds its options, its `texts()` and its metrics.

        A judge whose texts come from files takes them from there, so that an old log can be judged
        again without the files.
        """
        return cls(**options)

    @classmethod
    def given(cls, sample: Mapping[str, Any]) -> JsonObject:
        """Return what the judge is given of a sample; a field that the sample lacks is None."""
        return dict(sample) if cls.sample_fields is None else {name: sample.get(name) for name in cls.sample_fields}

    @abstractmethod
    async def judge(self, case: Case, context: Context) -> Judgment:
        """Judge one response. Raises JudgeError."""


@dataclass(frozen=True, kw_only=True)
class ModelJudge(Judge):
    """Base of the judges that ask a model through their context; these are the options of all of them."""

    uses_models: ClassVar[bool] = True
    deterministic: ClassVar[bool] = False

    model: str = field(metadata=option("the model that judges, such as claude-opus-5"))
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

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = self.option_problems()
        if problems:
            raise UsageError(*problems)

    def option_problems(self) -> list[str]:
        """Return what is wrong with the options, each as `name: why`; a judge with more options adds to it."""
        problems = []
        if self.max_tokens < 1:
            problems.append(f"max_tokens: {self.max_tokens} is less than 1")
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            problems.append(f"timeout_s: {self.timeout_s} is not a time above 0")
        return problems

    @property
    def model_settings(self) -> Model:
        """The model with its inference parameters."""
        return Model(
            name=self.model,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            effort=self.effort,
            api_key_env=self.api_key_env,
            timeout_s=self.timeout_s,
        )
