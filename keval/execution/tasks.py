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
        last = -1
        for number in self.numbers:
            rest, place = divmod(number, len(conditions))
            before, position = divmod(rest, len(samples))
            if position != last:  # the tasks of one sample follow each other
                sample, last = samples[position], position
                question, sha256 = question_id(sample), sample_sha256(sample)
            condition, repetition = conditions[place], before + 1
            target = response_id(question, condition.condition_id, agent_id, repetition)
            yield Task(sample, sha256, question, condition, condition.condition_id, repetition, target)

    def positions(self) -> Iterator[int]:
        """Yield of each task where its sample stands among the samples."""
        conditions, samples = len(self.config.conditions), len(self.samples)
        return (number // conditions % samples for number in self.numbers)

    def by_condition(self) -> dict[str, int]:
        """Return how many tasks there are of each condition that has any, by its name."""
        counts = Counter(number % len(self.config.conditions) for number in self.numbers)
        names = [condition.name for condition in self.config.conditions]
        return {name: counts[place] for place, name in enumerate(names) if counts[place]}


def work_list(config: Config, samples: Sequence[JsonObject], skipped: str = "") -> TaskList:
    """Return the tasks of a config that are to be done; `skipped` has a 1 at the number of each that is not, else a 0.

    All first repetitions come before the second ones, so that a run that is stopped has covered
    the dataset as evenly as it could.
    """
    if skipped and "0" not in skipped:
        return TaskList(config, samples, array("Q"))
    remaining = (number for number in _in_order(config, len(samples)) if not skipped or skipped[number] == "0")
    return TaskList(config, samples, array("Q", remaining))


def by_sample(config: Config, samples: Sequence[JsonObject], skipped: str) -> TaskList:
    """Return the tasks of a config that are to be done, all those of a sample together; `skipped` as in `work_list`.

    Samples stand in their own order, the tasks of each in one that the config's seed draws.
    """
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    places, repetitions = len(config.conditions), config.execution.repetitions
    numbers = array("Q")
    for position in range(len(samples)):
        of_sample = [
            (before * len(samples) + position) * places + place
            for before in range(repetitions)
            for place in range(places)
        ]
        order.shuffle(of_sample)
        numbers.extend(number for number in of_sample if not skipped or skipped[number] == "0")
    return TaskList(config, samples, numbers)


def drawn_order(samples: Sequence[JsonObject], seed: int) -> JsonObjects:
    """Return samples in an order that a seed draws: any first ones of them are a random part of all."""
    places = list(range(len(samples)))
    random.Random(seed).shuffle(places)  # noqa: S311 - an order, not a secret
    return JsonObjects(samples[place] for place in places)


def _in_order(config: Config, samples: int) -> Iterator[int]:
    """Yield the number of each task, in the order that the config's seed gives."""
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    conditions, positions = list(range(len(config.conditions))), list(range(samples))
    for before in range(config.execution.repetitions):
        order.shuffle(positions)
        for position in positions:
            order.shuffle(conditions)
            for place in conditions:
                yield (before * samples + position) * len(conditions) + place
