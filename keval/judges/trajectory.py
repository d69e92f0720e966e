"""Checks the way to an answer: which tools the agent called, how often, in which order, with which arguments.

No model is asked. An answer passes if every expectation is met; the score is the share that is, and the reasoning names
the others. A tool is named as the agent called it, or without its server: `search` is `mcp__docs__search`, too. Where
the agent does not report its tool calls, the metric is not applicable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from keval.counted import counted
from keval.errors import UsageError
from keval.judges import TOOL_CALLS_UNKNOWN, Case, Context, Judge, Judgment, Metric, Score
from keval.judges._patterns import compiled, is_in, limited
from keval.plugins import option
from keval.tool_names import is_tool

METRIC = Metric("trajectory", 0, 1, type="continuous")

Calls = Sequence[Mapping[str, Any]]
"""The agent's tool calls, in order."""

Expectation = tuple[str, bool]
"""What is expected, in words, and whether it is met."""


@dataclass(frozen=True, kw_only=True)
class Trajectory(Judge):
    """One metric, `trajectory`: the share of the expectations that are met; passed when all are."""

    sample_fields: ClassVar[tuple[str, ...] | None] = ()
    needs_golden_answer: ClassVar[bool] = False
    uses_tool_calls: ClassVar[bool] = True

    at_least: Mapping[str, int] = field(
        default_factory=dict, hash=False, metadata=option("how often each tool is called at least, by its name")
    )
    at_most: Mapping[str, int] = field(
        default_factory=dict, hash=False, metadata=option("how often each tool is called at most; `*` is all tools")
    )
    order: tuple[str, ...] = field(
        default=(), metadata=option("tools that are called in this order, with others before, between and after them")
    )
    arguments: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict,
        hash=False,
        metadata=option("for each tool, regular expressions by argument; one call of it has them all"),
    )
    no_errors: bool = field(default=True, metadata=option("no tool call fails"))

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = []
        for name, patterns in self.arguments.items():
            for argument, pattern in patterns.items():
                try:
                    compiled(pattern)
                except ValueError as error:
                    problems.append(f"arguments: {name}.{argument}: {error}")
        problems += [
            f"at_least: {name}: at least {least} and at most {self.at_most[name]} calls contradict each other"
            for name, least in self.at_least.items()
            if least > self.at_most.get(name, least)
        ]
        problems += [
            f"{option}: {name}: {count} is no number of calls"
            for option, counts in (("at_least", self.at_least), ("at_most", self.at_most))
            for name, count in counts.items()
            if count < 0
        ]
        if problems:
            raise UsageError(*problems)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    async def judge(self, case: Case, context: Context) -> Judgment:  # noqa: ARG002 - no model is asked
        """Compare the tool calls with what is expected."""
        if not case.reports_tool_calls:
            return Judgment({METRIC.name: Score(None, not_applicable=TOOL_CALLS_UNKNOWN)})
        calls = [turn for turn in case.turns if turn.get("type") == "tool_call"]
        expectations = await limited(lambda: list(self._expectations(calls)))
        if not expectations:
            return Judgment({METRIC.name: Score(None, not_applicable="nothing is expected")})
        unmet = [said for said, is_met in expectations if not is_met]
        reasoning = f"not met: {'; '.join(unmet)}" if unmet else None
        score = Score(1 - len(unmet) / len(expectations), reasoning, passed=not unmet)
        return Judgment({METRIC.name: score}, outcome={"expectations": dict(expectations)})

    def _expectations(self, calls: Calls) -> Iterator[Expectation]:
        for name, least in self.at_least.items():
            called = sum(_is(call, name) for call in calls)
            yield f"{name} at least {counted(least, 'time')} (called {called})", called >= least
        for name, most in self.at_most.items():
            called = sum(_is(call, name) for call in calls)
            yield f"{name} at most {counted(most, 'time')} (called {called})", called <= most
        if self.order:
            yield f"the order {', '.join(self.order)}", _are_in_order(calls, self.order)
        for name, patterns in self.arguments.items():
            shown = ", ".join(f"{argument} ~ {pattern}" for argument, pattern in patterns.items())
            yield f"{name} with {shown}", any(_is(call, name) and _fits(call, patterns) for call in calls)
        if self.no_errors:
            failed = ", ".join(sorted({str(call["name"]) or "without a name" for call in calls if call.get("error")}))
            yield f"no failed call{failed and f' ({failed})'}", not failed


def _is(call: Mapping[str, Any], name: str) -> bool:
    """Return whether a call is of a tool; `*` is any."""
    return name == "*" or is_tool(call, name)


def _are_in_order(calls: Calls, names: Sequence[str]) -> bool:
    rest = iter(calls)
    return all(any(_is(call, name) for call in rest) for name in names)


def _fits(call: Mapping[str, Any], patterns: Mapping[str, str]) -> bool:
    given = call.get("input") or {}
    return all(name in given and is_in(pattern, _text(given[name])) for name, pattern in patterns.items())


def _text(value: object) -> str:
    import orjson

    return value if isinstance(value, str) else orjson.dumps(value).decode()
