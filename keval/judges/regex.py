r"""Passes an answer in which a regular expression is found; what it captures may have to be the golden answer.

No model is asked. The pattern is one of the package `regex`, which takes those of Python's `re`, with their inline
flags: `(?i)` for any case, `(?s)` for `.` over lines, `\A…\Z` for the whole answer. A search that takes longer than 2
seconds is an error of the judge.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, Score
from keval.judges._normal_text import normal
from keval.judges._patterns import LIMIT_S, compiled, limited
from keval.plugins import option

if TYPE_CHECKING:
    import regex

METRIC = Metric("regex", 0, 1, type="binary")

GROUP = "answer"
"""The group that is compared, if the pattern has one of this name."""


@dataclass(frozen=True, kw_only=True)
class Regex(Judge):
    """One metric, `regex`: 1 and passed when the pattern is found, else 0."""

    pattern: str | None = field(
        default=None, metadata=option("the regular expression; this or `pattern_field`", example="(example)")
    )
    pattern_field: str | None = field(
        default=None, metadata=option("the sample's field with the regular expression; this or `pattern`")
    )
    compare: bool = field(
        default=False,
        metadata=option("the golden answer must be what the group `answer`, or else the first group, captures"),
    )
    take: Literal["first", "last"] = field(default="last", metadata=option("which match is compared"))

    def __post_init__(self) -> None:
        """Raise UsageError unless there is one pattern, which is one and captures what is to be compared."""
        if (self.pattern is None) == (self.pattern_field is None):
            raise UsageError("pattern: give either pattern or pattern_field")
        if self.pattern is not None:
            try:
                self._checked(self.pattern)
            except ValueError as error:
                raise UsageError(f"pattern: {error}") from error

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """The field with the pattern, and the golden answer, as far as they are read."""
        fields = (["answer"] if self.compare else []) + ([self.pattern_field] if self.pattern_field else [])
        return tuple(dict.fromkeys(fields))

    @property
    def needs_golden_answer(self) -> bool:
        """Whether something is compared with it."""
        return "answer" in self.sample_fields

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Look for the pattern, and compare what it captures."""
        pattern = self.pattern if self.pattern_field is None else case.sample[self.pattern_field]
        if pattern is None:
            return Judgment.outside(self.metrics, f"the sample has no {self.pattern_field!r}")
        try:
            wanted = self._checked(str(pattern))
        except ValueError as error:
            raise JudgeError("judge_error", f"the sample's {self.pattern_field!r}: {error}") from error
        match = await limited(lambda: self._found(wanted, case.text))
        if match is None:
            return _judgment(passed=False, reasoning="the pattern is not found", found=None)
        if not self.compare:
            return _judgment(passed=True, reasoning=None, found=match[0])
        captured = match[_group(match.re)] or ""
        same = _normal(captured) == _normal(case.golden_answer or "")
        return _judgment(passed=same, reasoning=f"captured {captured!r}", found=captured)

    def _found(self, wanted: regex.Pattern[str], text: str) -> regex.Match[str] | None:
        matches = wanted.finditer(text, concurrent=True, timeout=LIMIT_S)
        chosen = deque(matches, maxlen=1) if self.take == "last" else deque(islice(matches, 1))
        return chosen[0] if chosen else None

    def _checked(self, pattern: str) -> regex.Pattern[str]:
        """Return a pattern that can be looked for. Raises ValueError."""
        found = compiled(pattern)
        if self.compare and not found.groups:
            raise ValueError(f"{pattern!r} has no group to compare with the golden answer; put (…) around what it is")
        return found


def _judgment(*, passed: bool, reasoning: str | None, found: str | None) -> Judgment:
    return Judgment({METRIC.name: Score(int(passed), reasoning, passed=passed)}, outcome={"found": found})


def _group(pattern: regex.Pattern[str]) -> str | int:
    return GROUP if GROUP in pattern.groupindex else 1


def _normal(text: str) -> str:
    return normal(text, ignore_case=True, strip=True)
