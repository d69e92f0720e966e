"""Which part of the work one command does, where the user chooses samples and conditions.

What is planned stays planned: a report counts what was not chosen as not done.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from keval import nearest
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.preparation.tasks import TaskList
from keval.projections.patterns import fitting
from keval.projections.sql_file import literals, load

DIGITS = 15
"""Hex digits of a sample's hash that decide on its part: they fit into a number of SQL."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of the samples, for as many machines.

    A sample's part is a hash of its id alone, so every machine finds the same parts without asking another, and all
    answers to one question are in one part: judges of pairs need both.
    """

    number: int = 1
    """From 1."""
    of: int = 1

    def __bool__(self) -> bool:
        return self.of > 1

    @classmethod
    def read(cls, written: str) -> Shard:
        """Read `2/8`. Raises UsageError for anything else."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", written)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of:
            raise UsageError(f"--shard {written!r} is no part such as 2/8: the second of eight")
        return cls(number, of)

    def has(self, sample_id: str) -> bool:
        """Return whether a sample is in this part; `chosen_responses.sql` says the same."""
        return int(hashlib.sha256(sample_id.encode()).hexdigest()[:DIGITS], 16) % self.of == self.number - 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """Samples and conditions, by names or patterns with `*`, `?` and `[…]`; none given means all; and a part."""

    samples: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    shard: Shard = Shard()

    def __bool__(self) -> bool:
        return bool(self.samples or self.conditions or self.shard)

    def of_tasks(self, tasks: TaskList, beyond: Sequence[str] = ()) -> TaskList:
        """Return the chosen ones of tasks. Raises UsageError for a name that no sample or condition has.

        `beyond` are the samples that --limit leaves out.
        """
        names = [condition.name for condition in tasks.config.conditions]
        ids = [str(sample["id"]) for sample in tasks.samples]
        for pattern in self.samples:
            if not _fit_any(pattern, ids) and _fit_any(pattern, beyond):
                raise UsageError(f"sample {pattern!r} is beyond --limit, which takes the first ones; leave that out")
        places = _fitting("condition", self.conditions, names)
        positions = {place for place in _fitting("sample", self.samples, ids) if self.shard.has(ids[place])}
        numbered = zip(tasks.numbers, tasks.cells(), strict=True)
        numbers = (number for number, cell in numbered if cell.condition in places and cell.sample in positions)
        return replace(tasks, numbers=array("Q", numbers))

    def check_known(self, samples: Sequence[str], conditions: Sequence[str]) -> None:
        """Raise UsageError for a name that no sample or condition of a log's answers has."""
        _check("the log", "condition", self.conditions, conditions)
        _check("the log", "sample", self.samples, samples)

    def of_responses(self, query: str) -> str:
        """Return the query for the chosen ones of the responses that a query names by their positions."""
        if not self:
            return query
        return load(
            "preparation",
            "chosen_responses",
            responses=query,
            samples=literals(self.samples),
            sample_patterns=fitting(self.samples),
            conditions=literals(self.conditions),
            condition_patterns=fitting(self.conditions),
            shard=str(self.shard.number - 1),
            shards=str(self.shard.of),
        )

    def has(self, response: JsonObject) -> bool:
        """Return whether a response is chosen."""
        sample_id = str(response["sample"]["id"])
        is_named = _fits(self.samples, sample_id) and _fits(self.conditions, response["condition"])
        return is_named and self.shard.has(sample_id)


def _fitting(what: str, patterns: Sequence[str], names: Sequence[str]) -> set[int]:
    """Return the places of the names that fit. Raises UsageError for a pattern that none fits."""
    _check("the config", what, patterns, names)
    return {place for place, name in enumerate(names) if _fits(patterns, name)}


def _check(where: str, what: str, patterns: Sequence[str], names: Sequence[str]) -> None:
    """Raise UsageError for a pattern that no name fits."""
    for pattern in patterns:
        if not _fit_any(pattern, names):
            raise UsageError(f"{where} has no {what} {pattern!r}{nearest.hint(pattern, names)}")


def _fit_any(pattern: str, names: Iterable[str]) -> bool:
    return any(_fits([pattern], name) for name in names)


def _fits(patterns: Iterable[str], name: str) -> bool:
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
