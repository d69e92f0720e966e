"""What judges share whose scores come from the user's own code: its input and its output.

The input is one JSON object. The output is another: `pass`, and optionally `score`, `reasoning` and `outcome`. Any
other output is an error of the judge and never a score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.judges import Case, Judge, JudgeError, Judgment, Metric, Score
from keval.plugins import option

METRIC = "score"

OUTPUT_BYTES = 10 * 1024 * 1024
"""The longest output that is read."""

LONGEST_BITS = 1024
"""Bits up to which an integer is shown; Python refuses to write some that are much longer."""

SAID: Mapping[str, Any] = {
    "type": "object",
    "anyOf": [{"required": ["pass"]}, {"required": ["score"]}],
    "additionalProperties": False,
    "properties": {
        "pass": {"type": "boolean"},
        "score": {"type": "number"},
        "reasoning": {"type": ["string", "null"]},
        "outcome": {"type": ["object", "null"]},
    },
}
"""The JSON Schema of what the code says."""


@dataclass(frozen=True, kw_only=True)
class OwnCodeJudge(Judge):
    """Base of the judges that are the user's own code; these are the options of all of them."""

    needs_golden_answer: ClassVar[bool] = False

    metadata: tuple[str, ...] | None = field(
        default=None,
        metadata=option("the sample's fields that it is given beside question and answer; default: all of them"),
    )
    min: float = field(default=0.0, metadata=option("the lowest score, which is that of an answer that does not pass"))
    max: float = field(default=1.0, metadata=option("the highest score"))
    pass_from: float | None = field(
        default=None, metadata=option("the lowest score that passes where no `pass` is said", identity=False)
    )
    workspace: bool = field(
        default=False,
        metadata=option("whether it is given the path of the folder in which the agent worked", identity="if set"),
    )
    timeout_s: float = field(default=60.0, metadata=option("seconds that one judgment may take", identity=False))

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = []
        if not self.min < self.max:
            problems.append(f"max: {self.max:g} is not more than min, {self.min:g}")
        if self.pass_from is not None and not self.min <= self.pass_from <= self.max:
            problems.append(f"pass_from: {self.pass_from:g} is outside the scale, {self.min:g} to {self.max:g}")
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            problems.append(f"timeout_s: {self.timeout_s} is not a time above 0")
        if problems:
            raise UsageError(*problems)

    @property
    def uses_workspace(self) -> bool:
        """Whether the code is given the folder in which the agent worked."""
        return self.workspace

    @property
    def sample_fields(self) -> tuple[str, ...] | None:
        """Question, golden answer, and the metadata; all fields unless some are named."""
        return None if self.metadata is None else tuple(dict.fromkeys(("question", "answer", *self.metadata)))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (Metric(METRIC, self.min, self.max, type="continuous", pass_from=self.pass_from),)

    def read(self, said: object) -> Judgment:
        """Return the judgment that the code has said. Raises JudgeError."""
        from keval import schema as schemas

        problem = schemas.problem_by(SAID, said)
        if problem is not None or not isinstance(said, Mapping):
            raise JudgeError("judge_error", f"the output does not fit the protocol: {problem}")
        passed = said.get("pass")
        score = said.get("score", self.max if passed else self.min)
        return self.scored(score, passed=passed, reasoning=said.get("reasoning"), outcome=said.get("outcome"))

    def scored(
        self,
        score: float,
        *,
        passed: bool | None,
        reasoning: str | None = None,
        outcome: Mapping[str, Any] | None = None,
    ) -> Judgment:
        """Return a judgment with a score of the scale. Raises JudgeError for any other."""
        if not self.min <= score <= self.max:
            shown = (
                "of too many digits" if isinstance(score, int) and score.bit_length() > LONGEST_BITS else repr(score)
            )
            raise JudgeError("judge_error", f"its score, {shown}, is outside {self.min:g} to {self.max:g}")
        return Judgment({METRIC: Score(score, reasoning, passed=passed)}, outcome=outcome)


def given(case: Case) -> JsonObject:
    """Return what the code is given."""
    return {
        "question": case.question,
        "answer": case.sample.get("answer"),
        "response": case.text,
        "turns": [dict(turn) for turn in case.turns],
        "sources": list(case.sources),
        "metadata": {name: value for name, value in case.sample.items() if name not in {"question", "answer"}},
        "workspace": None if case.workspace is None else str(case.workspace),
    }
