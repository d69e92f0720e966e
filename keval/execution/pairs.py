"""Finds the responses of each pair: one of a condition, and the baseline's to the same question and repetition.

The baseline's own response is a pair with itself, which is a tie by definition: so every response has its judgment, and
the difference of a condition to the baseline is how far its answers are preferred beyond one half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from keval.config.model import JudgeConfig
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.logs.past import Past
from keval.projections.sql_file import load

NO_CONDITION = ""
"""The baseline where no run says which conditions there are: no response has it."""

Pair = tuple[JsonObject, JsonObject]
"""A response, and the baseline's."""


def condition_ids(run: JsonObject | None) -> dict[str, str]:
    """Return the ids of the conditions that a `run` event names, in its order, but the baseline that it names first."""
    conditions = (run or {}).get("conditions") or {}
    baseline = ((run or {}).get("config") or {}).get("baseline")
    in_order = sorted(conditions, key=lambda name: name != baseline)
    return {name: conditions[name]["condition_id"] for name in in_order}


def conditions_of(past: Past) -> dict[str, str]:
    """Return the ids of the conditions of a log by name, the baseline first."""
    return dict(past.rows(load("execution", "log_conditions")))


def baseline_id(judge: JudgeConfig, conditions: Mapping[str, str]) -> str | None:
    """Return the id of the condition with whose answers a judge compares; None for a judge of single responses.

    That is the condition of the judge's option `baseline`, else the first. Raises UsageError for one that is not there.
    """
    if judge.judge.unit != "pair":
        return None
    if judge.baseline is None or not conditions:
        return next(iter(conditions.values()), NO_CONDITION)
    unknown = judge.unknown_baseline(conditions)
    if unknown is not None:
        raise UsageError(unknown)
    return conditions[judge.baseline]


@dataclass
class Waiting:
    """Responses of a pipe that wait for the other one of their pair; few do where conditions are asked by turns."""

    conditions: int
    """How many responses a question and repetition has: when all have come, the baseline's is let go."""
    _baselines: dict[tuple[str, str, int], JsonObject] = field(default_factory=dict)
    _others: dict[tuple[str, str, int], list[JsonObject]] = field(default_factory=dict)
    _come: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def add(self, response: JsonObject, baseline: str) -> Iterator[Pair]:
        """Yield the pairs that a response completes; `baseline` is the id of the baseline's condition."""
        key = response["question_id"], response["agent_id"], response["repetition"]
        self._come[key] = self._come.get(key, 0) + 1
        if response["condition_id"] == baseline:
            self._baselines[key] = response
            yield response, response
            yield from ((waiting, response) for waiting in self._others.pop(key, ()))
        elif key in self._baselines:
            yield response, self._baselines[key]
        else:
            self._others.setdefault(key, []).append(response)
        if self._come[key] >= self.conditions:
            self._baselines.pop(key, None)
            del self._come[key]
