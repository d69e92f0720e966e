"""Passes an answer whose number is the golden answer's, exactly, however the two are written.

No model is asked. Numbers are read as fractions, so that `72.0`, `72`, `1,234`, `1e3`, `1/2`, `.5`, `−5`, `$72` and
`72%` are what they say. The answer stands after the last `####`, `boxed{` or `the answer is`; without any of them it
is the last number that is neither in brackets, as in `42 (see step 3)`, nor the number of a step or of a list's item. A
range, a date or a time is not a number. An answer without a number scores 0, and `outcome` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import ClassVar, Literal

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, Judgment, Metric, Score
from keval.judges._answer_position import (
    after_problems,
    announcement,
    is_negated,
    marks,
    passages,
    sentence,
    unannounced,
)
from keval.judges._long_texts import found_in
from keval.judges._numbers import Number, numbers, plain, shown
from keval.plugins import option

METRIC = Metric("number", 0, 1, type="binary")

ANNOUNCED = announcement(r"[-+$€£¥]{0,4}\.?\d")

_MINUS_APART = re.compile(r"\A[ ]*-[ ]+(?=[\d.$])")
"""A minus before what is announced; at the beginning of a line it may be a list's."""

_REASON = re.compile(r"\b(?:because|since|as|where|which|given)\b", re.IGNORECASE)
"""Words after which an equation is why the answer is right, and not the answer."""

_EQUATION = re.compile(r"(?:(?<!\s)(?=\s++=)|(?<==))[^\S\n]*+\n\s*+")
"""Where an equation goes on in the next line; each run of spaces is read once, from its beginning."""

_ASIDE = re.compile(
    r"(?<!\\)\([^()\n]{0,200}\)|\b(?:step|part|question|problem|equation|figure|example)\s+#?\d+"
    r"|\bto\s+\d+\s+(?:decimals?|significant|places)\b",
    re.IGNORECASE,
)
_IS_WRONG = re.compile(
    r"[ )\]}*$]*\b(?:is|was)(?:\s+(?:wrong|incorrect|false)|(?:\s+not|n['’]t)\s+(?:right|correct|it|the\s+answer))\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class NumberJudge(Judge):
    """One metric, `number`: 1 and passed when both numbers are equal, else 0."""

    sample_fields: ClassVar[tuple[str, ...] | None] = ("answer",)

    after: tuple[str, ...] | None = field(
        default=None,
        metadata=option(
            "texts after the last of which the answer stands, such as `Final:`; default: `####`, `\\boxed{`, "
            "`the answer is` and the like; an empty list: nothing announces it"
        ),
    )
    take: Literal["stated", "first", "last"] = field(
        default="stated",
        metadata=option(
            "which number it is: `stated`: after such a text the first or, in an equation, the one after the last `=`, "
            "and else the last one"
        ),
    )
    marker_required: bool = field(
        default=False,
        metadata=option("a number counts only after such a text, in the answer and not in the golden one"),
    )
    tolerance: float = field(default=0.0, metadata=option("how far apart the two may be"))
    percent_is_hundredths: bool = field(default=False, metadata=option("72% is 0.72 and not 72"))

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = []
        if not 0 <= self.tolerance < float("inf"):
            problems.append(f"tolerance: {self.tolerance} is not a number from 0 up")
        problems += after_problems(self.after)
        if problems:
            raise UsageError(*problems)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Compare the number of the answer with that of the golden answer."""
        golden = self._number(case.golden_answer or "", marker_required=False)
        if golden is None or golden.value is None:
            return Judgment.outside(self.metrics, "the golden answer has no number")
        found = await found_in(case.text, partial(self._number, marker_required=self.marker_required))
        value, expected = self._value(found), self._value(golden)
        assert expected is not None  # noqa: S101 - it is read above
        same = value is not None and abs(value - expected) <= Fraction(str(self.tolerance))
        outcome = {
            "found": None if value is None else shown(value),
            "expected": shown(expected),
            "no_answer": value is None,
        }
        return Judgment({METRIC.name: Score(int(same), _said(found, value, expected), passed=same)}, outcome=outcome)

    def _value(self, number: Number | None) -> Fraction | None:
        if number is None or number.value is None:
            return None
        return number.value / 100 if number.is_percentage and self.percent_is_hundredths else number.value

    def _number(self, text: str, *, marker_required: bool) -> Number | None:
        text = plain(text)
        for passage in passages(text, self._announced) if self.after != () else ():
            picked = _picked(_MINUS_APART.sub("-", passage), self.take, announced=True)
            if picked is not None:
                return picked
        if marker_required:
            return None
        return _picked(unannounced(text, self._announced), self.take, announced=False)

    @property
    def _announced(self) -> re.Pattern[str]:
        return ANNOUNCED if self.after is None else marks([plain(text) for text in self.after])


def _picked(text: str, take: str, *, announced: bool) -> Number | None:
    """Return the number of a passage that is its answer, None without one; a negated number does not count."""
    if announced:
        text = _EQUATION.sub(" ", text)
    found = _accepted(text, ranges=take == "stated")
    if take == "stated" and not announced:
        return _last(_accepted(_without_asides(text), ranges=True)) or _last(found)
    if take == "last":
        return _last(found)
    first = next(found, None)
    if take == "first" or first is None:
        return first
    rest = _without_asides(_REASON.split(sentence(text, first.end))[0])
    return _last(_accepted(rest.rpartition("=")[2])) or first if "=" in rest else first


def _without_asides(text: str) -> str:
    """Return a text without what stands in brackets, numbers of steps, and the numbers of a list that counts 1, 2."""
    text = _ASIDE.sub(" ; ", text)
    counts = _ITEM.findall(text)[:2] == ["1", "2"]
    return _ITEM.sub("", text) if counts else text


def _accepted(text: str, *, ranges: bool = False) -> Iterator[Number]:
    return (
        number
        for number in numbers(text, ranges=ranges)
        if not (is_negated(text, number.start) or _IS_WRONG.match(text, number.end))
    )


def _last(found: Iterable[Number]) -> Number | None:
    last = None
    for last in found:  # noqa: B007 - the last one is wanted
        pass
    return last


def _said(found: Number | None, value: Fraction | None, expected: Fraction) -> str:
    if found is None:
        return f"no number found; expected {shown(expected)}"
    if value is None:
        return f"{found.text!r} is not one number; expected {shown(expected)}"
    return f"found {shown(value)}, expected {shown(expected)}"
