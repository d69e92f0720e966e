"""What a judge is: a case and a context in, a judgment out, or a `JudgeError`.

The case is what there is to judge, the context what to judge it with. A judge never sees the condition's name.
A judgment holds only scores that were given: what could not be judged is an error, never a number.
"""

from __future__ import annotations

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
from keval.models.model_options import ModelOptions
from keval.models.services import Service
from keval.plugins import option
from keval.questions import as_text

__all__ = [
    "ASK_AGAIN",
    "TOOL_CALLS_UNKNOWN",
    "AsksModels",
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

TOOL_CALLS_UNKNOWN = "the agent does not report its tool calls"
"""Why a metric of tool calls is not applicable."""

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
    reports_tool_calls: bool = True
    """Whether the turns name every tool call; if not, none among them does not mean that there was none."""

    @property
    def question(self) -> str:
        """What the agent was asked, all messages of it. Raises LookupError for a judge that is not given it."""
        return as_text(self._given("question"))

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
    unit: ClassVar[Literal["response", "pair"]] = "response"
    """What is judged: one response, or two responses to the same sample beside each other."""
    uses_tool_calls: ClassVar[bool] = False
    """Whether the judge looks at tool calls; of an agent that does not report them, it has nothing to judge."""

    @property
    def sample_fields(self) -> tuple[str, ...] | None:
        """Which fields of the sample the judge is given, None for all: an edited one makes its judgments outdated.

        What is the same whatever the options are may stand as a class variable; so may those below.
        """
        return ("question", "answer")

    @property
    def uses_workspace(self) -> bool:
        """Whether the judge looks at the folder in which the agent worked; without it, it is not asked."""
        return False

    @property
    def needs_golden_answer(self) -> bool:
        """Whether no metric applies to a sample without a golden answer; the judge is not asked then."""
        return True

    def lacks_golden_answer(self, sample: Mapping[str, Any]) -> bool:
        """Return whether the judge needs a golden answer that a sample does not have."""
        return self.needs_golden_answer and sample.get("answer") is None

    @property
    def model_name(self) -> str | None:
        """The model as configured, or None for a judge that is a program."""
        return getattr(self, "model", None)

    @property
    def model_settings(self) -> Model | None:
        """The model that the judge's context asks, or None for a judge that is a program or names each model itself."""
        return None

    @property
    def calls(self) -> tuple[str, ...]:
        """The model of each call that one judgment makes, as far as all goes well; an estimate counts them."""
        return () if self.model_name is None else (self.model_name,)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Environment variables that the judge must have, such as its key."""
        name = getattr(self, "api_key_env", None)
        return (name,) if name else ()

    @property
    def service(self) -> Service | None:
        """The service that its model is asked by, None for a judge that asks none."""
        return None

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that every judgment of this judge holds, with their scales."""

    def texts(self) -> Mapping[str, Any]:
        """Return the rubric and prompt texts, which are part of the judge's identity."""
        return {}

    def placed(self, folder: Path) -> Self:  # noqa: ARG002 - for subclasses
        """Return the judge with what its options name looked for in a folder: that of the file in which it stands.

        A judge from a log is looked for in the folder in which the command runs.
        """
        return self

    def missing(self) -> str | None:
        """Return what of its options keeps the judge from judging anything here, or None.

        Asked before anything is paid for. Raises EnvironmentLacksError for what is not on this machine, such as a
        program, and PluginError for what is there and broken.
        """
        return None

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

    def given(self, sample: Mapping[str, Any]) -> JsonObject:
        """Return what the judge is given of a sample; a field that the sample lacks is None."""
        fields = self.sample_fields
        return dict(sample) if fields is None else {name: sample.get(name) for name in fields}

    @abstractmethod
    async def judge(self, case: Case, context: Context) -> Judgment:
        """Judge one response. Raises JudgeError."""


@dataclass(frozen=True, kw_only=True)
class AsksModels(ModelOptions, Judge):
    """Base of the judges that ask one or more models through their context; these are the options of all of them."""

    uses_models: ClassVar[bool] = True
    deterministic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = self.option_problems()
        if problems:
            raise UsageError(*problems)

    def option_problems(self) -> list[str]:
        """Return what is wrong with the options, each as `name: why`; a judge with more options adds to it."""
        return self.model_problems()


@dataclass(frozen=True, kw_only=True)
class ModelJudge(AsksModels):
    """Base of the judges that ask one model."""

    model: str = field(metadata=option("the model that judges, such as claude-opus-5", example="claude-opus-5"))

    @property
    def model_settings(self) -> Model:
        """The model with its inference parameters."""
        return self.settings_of(self.model)
