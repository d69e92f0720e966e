"""Decides which tasks there are, in which order, and which of them remain.

Tasks of all conditions are interleaved: drift and rate limits in the course of a run hit every
condition alike. The order is drawn from the config's seed, so the same run has the same order.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from keval import ids
from keval.config.model import Condition, Config
from keval.documents.json_objects import JsonObjects
from keval.ids import JsonObject, response_id, sample_sha256
from keval.questions import messages


class Task(NamedTuple):
    """What `generate` has to do once: one sample under one condition, one repetition."""

    sample: JsonObject
    sample_sha256: str
    question_id: str
    condition: Condition
    condition_id: str
    repetition: int
    response_id: str


def turns(sample: Mapping[str, object]) -> tuple[str, ...]:
    """Return all that the agent is given of a sample: the user's messages in order."""
    return messages(sample["question"])


def question_id(sample: Mapping[str, object]) -> str:
    """Return the identity of what the agent is given of a sample."""
    return ids.question_id(str(sample["id"]), turns(sample))


class Cell(NamedTuple):
    """Where a task stands among all: at which condition and sample, and after how many repetitions of it."""

    condition: int
    sample: int
    before: int


NUMBER_IN_SQL = (
    "((e.repetition - 1) * (select count(*) from config_samples) + s.place)"
    " * (select count(*) from own_conditions) + c.place"
)
"""The SQL for `TaskGrid.number`: of an event `e`, of a sample `s` and a condition `c` of the config."""


class TaskGrid(NamedTuple):
    """The tasks of so many conditions and samples, each with a number; `NUMBER_IN_SQL` counts like this, too."""

    conditions: int
    samples: int

    def number(self, condition: int, sample: int, before: int) -> int:
        """Return the number of the task of a cell."""
        return (before * self.samples + sample) * self.conditions + condition

    def cell(self, number: int) -> Cell:
        """Return where the task of a number stands."""
        rest, condition = divmod(number, self.conditions)
        before, sample = divmod(rest, self.samples)
        return Cell(condition, sample, before)


def grid_of(config: Config, samples: Sequence[JsonObject]) -> TaskGrid:
    """Return the grid of a config's tasks."""
    return TaskGrid(len(config.conditions), len(samples))


@dataclass(frozen=True)
class TaskList:
    """Tasks in the order of the run: each is a number until it is taken, so that a million fit into 8 MB."""

    config: Config
    samples: Sequence[JsonObject]
    numbers: array[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Task]:
        agent_id = self.config.agent.agent_id
        last = -1
        for cell in self.cells():
            if cell.sample != last:  # the tasks of one sample follow each other
                sample, last = self.samples[cell.sample], cell.sample
                question, sha256 = question_id(sample), sample_sha256(sample)
            condition, repetition = self.config.conditions[cell.condition], cell.before + 1
            target = response_id(question, condition.condition_id, agent_id, repetition)
            yield Task(sample, sha256, question, condition, condition.condition_id, repetition, target)

    def cells(self) -> Iterator[Cell]:
        """Yield where each task stands."""
        return map(grid_of(self.config, self.samples).cell, self.numbers)

    def by_condition(self) -> dict[str, int]:
        """Return how many tasks there are of each condition that has any, by its name."""
        counts = Counter(cell.condition for cell in self.cells())
        names = [condition.name for condition in self.config.conditions]
        return {name: counts[place] for place, name in enumerate(names) if counts[place]}


def work_list(config: Config, samples: Sequence[JsonObject], skipped: str = "") -> TaskList:
    """Return the tasks of a config that are to be done; `skipped` has a 1 at the number of each that is not, else a 0.

    All first repetitions come before the second ones, so that a run that is stopped has covered
    the dataset as evenly as it could.
    """
    if skipped and "0" not in skipped:
        return TaskList(config, samples, array("Q"))
    in_order = _in_order(config, grid_of(config, samples))
    remaining = (number for number in in_order if not skipped or skipped[number] == "0")
    return TaskList(config, samples, array("Q", remaining))


def by_sample(config: Config, samples: Sequence[JsonObject], skipped: str) -> TaskList:
    """Return the tasks of a config that are to be done, all those of a sample together; `skipped` as in `work_list`.

    Samples stand in their own order, the tasks of each in one that the config's seed draws.
    """
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    grid, repetitions = grid_of(config, samples), config.execution.repetitions
    numbers = array("Q")
    for sample in range(grid.samples):
        of_sample = [
            grid.number(condition, sample, before)
            for before in range(repetitions)
            for condition in range(grid.conditions)
        ]
        order.shuffle(of_sample)
        numbers.extend(number for number in of_sample if not skipped or skipped[number] == "0")
    return TaskList(config, samples, numbers)


def drawn_order(samples: Sequence[JsonObject], seed: int) -> JsonObjects:
    """Return samples in an order that a seed draws: any first ones of them are a random part of all."""
    places = list(range(len(samples)))
    random.Random(seed).shuffle(places)  # noqa: S311 - an order, not a secret
    return JsonObjects(samples[place] for place in places)


def _in_order(config: Config, grid: TaskGrid) -> Iterator[int]:
    """Yield the number of each task, in the order that the config's seed gives."""
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    conditions, samples = list(range(grid.conditions)), list(range(grid.samples))
    for before in range(config.execution.repetitions):
        order.shuffle(samples)
        for sample in samples:
            order.shuffle(conditions)
            for condition in conditions:
                yield grid.number(condition, sample, before)
