"""What a judge is: a question, its golden answer and an answer in, a verdict out, or a `JudgeError`.

A judge never sees the condition's name. A verdict holds only scores that were given: what could
not be judged is an error, never a number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from keval.errors import ItemError
from keval.usage import Usage

JudgeFailureKind = Literal["judge_error", "judge_invalid"]
"""The judge could not be reached or broke; or its reply could not be read or was out of scale."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named number with its scale."""

    name: str
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's score in a verdict."""

    score: float
    reasoning: str | None = None
    passed: bool | None = None
    """For judges that decide pass or fail; None for those that grade."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge may know of one response."""

    question: str
    golden_answer: str
    text: str
    sample: Mapping[str, Any]
    """The whole sample, for judges that read other fields of it."""
    turns: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge decided about one response, and what that cost."""

    scores: Mapping[str, Score]
    unverified_claims: tuple[str, ...] = ()
    outcome: Mapping[str, Any] | None = None
    """Anything else a judge found and wants kept beside the scores."""
    usage: Usage | None = None
    cost_usd: float | None = None


class JudgeError(ItemError):
    """The judge could not decide about one response; the response itself is untouched."""

    def __init__(  # noqa: PLR0913 - what the runner decides by, all by name
        self,
        kind: JudgeFailureKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(kind, message, retryable=retryable, retry_after_s=retry_after_s, overloaded=overloaded)
        self.usage = usage
        self.cost_usd = cost_usd


@dataclass(frozen=True, kw_only=True)
class Judge(ABC):
    """Base of all judges: a frozen dataclass whose fields are its options."""

    uses_models: ClassVar[bool] = False
    """Whether the judge talks to the Messages API and so needs a key, or the mock."""
    deterministic: ClassVar[bool] = True
    """Whether the same case always gets the same verdict."""
    sample_fields: ClassVar[tuple[str, ...] | None] = ("question", "answer")
    """The fields of the sample that the judge is given, None for the whole: a change of them is judged again."""

    @property
    def model_name(self) -> str | None:
        """The model as configured, or None for a judge that is a program."""
        return getattr(self, "model", None)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Environment variables that the judge must have, such as its key."""
        name = getattr(self, "api_key_env", None)
        return (name,) if name else ()

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that every verdict of this judge holds, with their scales."""

    def texts(self) -> Mapping[str, Any]:
        """Return the rubric and prompt texts, which are part of the judge's identity."""
        return {}

    @classmethod
    def from_texts(cls, options: Mapping[str, Any], texts: Mapping[str, Any]) -> Self:  # noqa: ARG003 - for subclasses
        """Rebuild a judge from a log's run event, which holds its options and its `texts()`.

        A judge whose texts come from files takes them from there, so that an old log can be judged
        again without the files.
        """
        return cls(**options)

    @abstractmethod
    async def judge(self, case: Case, env: Mapping[str, str]) -> Verdict:
        """Judge one response.

        `env` holds the service's address and key as environment variables. Raises JudgeError.
        """
