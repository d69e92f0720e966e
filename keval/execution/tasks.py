"""Decides which tasks there are, in which order, and which of them remain.

Tasks of all conditions are interleaved: drift and rate limits in the course of a run hit every
condition alike. The order is drawn from the config's seed, so the same run has the same order.
"""

from __future__ import annotations

import random
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


def remaining(config: Config, samples: Sequence[JsonObject], done: Container[str]) -> Iterator[Task]:
    """Yield the tasks whose response is not in `done`, one at a time, in the seeded order.

    All first repetitions come before the second ones, so that a run that is stopped has covered
    the dataset as evenly as it could.
    """
    order = random.Random(config.execution.seed)  # noqa: S311 - an order, not a secret
    agent_id = config.agent.agent_id
    questions = [question_id(sample) for sample in samples]
    conditions = [(condition, condition.condition_id) for condition in config.conditions]
    positions = list(range(len(samples)))
    for repetition in range(1, config.execution.repetitions + 1):
        order.shuffle(positions)
        for position in positions:
            order.shuffle(conditions)
            sample, question = samples[position], questions[position]
            for condition, condition_id in conditions:
                target = response_id(question, condition_id, agent_id, repetition)
                if target not in done:
                    sha256 = sample_sha256(sample)
                    yield Task(sample, sha256, question, condition, condition_id, repetition, target)
