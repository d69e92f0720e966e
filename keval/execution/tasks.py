"""Decides which tasks there are, in which order, and which of them remain.

Tasks of all conditions are interleaved: drift and rate limits in the course of a run hit every
condition alike. The order is drawn from the config's seed, so the same run has the same order.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from keval import ids
from keval.config.model import Condition, Config
from keval.ids import JsonObject, response_id, sample_sha256


@dataclass(frozen=True, slots=True)
class Task:
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
    return (str(sample["question"]),)


def question_id(sample: Mapping[str, object]) -> str:
    """Return the identity of what the agent is given of a sample."""
    return ids.question_id(str(sample["id"]), turns(sample))


@dataclass(frozen=True)
class TaskList:
    """Tasks in the order of the run: each is a number until it is taken, so that a million fit into 8 MB."""

    config: Config
    samples: Sequence[JsonObject]
    numbers: array[int]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Task]:
        conditions, samples = self.config.conditions, self.samples
        agent_id = self.config.agent.agent_id
        for number in self.numbers:
            rest, place = divmod(number, len(conditions))
            before, position = divmod(rest, len(samples))
            sample, condition, repetition = samples[position], conditions[place], before + 1
            question = question_id(sample)
            target = response_id(question, condition.condition_id, agent_id, repetition)
            yield Task(sample, sample_sha256(sample), question, condition, condition.condition_id, repetition, target)

    def by_condition(self) -> dict[str, int]:
        """Return how many tasks there are of each condition that has any, by its name."""
        counts = Counter(number % len(self.config.conditions) for number in self.numbers)
        names = [condition.name for condition in self.config.conditions]
        return {name: counts[place] for place, name in enumerate(names) if counts[place]}


@dataclass(frozen=True, slots=True)
class WorkList:
    """All tasks of a config, by whether they are to be done."""

    remaining: TaskList
    skipped: TaskList
    """Those that are done, or have failed and are not to be tried again."""
    failed: int
    """How many of `skipped` have failed."""


def work_list(
    config: Config, samples: Sequence[JsonObject], skipped: Container[str], failed: Container[str] = ()
) -> WorkList:
    """Return the tasks of a config; those whose response is in `skipped` are not to be done.

    All first repetitions come before the second ones, so that a run that is stopped has covered
    the dataset as evenly as it could.
    """
    remaining, left, number_failed = array("Q"), array("Q"), 0
    for number, target in _in_order(config, samples):
        is_left = target in skipped
        (left if is_left else remaining).append(number)
        number_failed += is_left and target in failed
    return WorkList(TaskList(config, samples, remaining), TaskList(config, samples, left), number_failed)


def _in_order(config: Config, samples: Sequence[JsonObject]) -> Iterator[tuple[int, str]]:
    """Yield the number of each task and the id of its response, in the order that the config's seed gives."""
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    agent_id = config.agent.agent_id
    questions = [question_id(sample) for sample in samples]
    conditions = [(place, condition.condition_id) for place, condition in enumerate(config.conditions)]
    positions = list(range(len(samples)))
    for before in range(config.execution.repetitions):
        order.shuffle(positions)
        for position in positions:
            order.shuffle(conditions)
            for place, condition_id in conditions:
                number = (before * len(samples) + position) * len(conditions) + place
                yield number, response_id(questions[position], condition_id, agent_id, before + 1)
