"""Aggregates of logs that tests make up, and the specification's worked example of two conditions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from keval import projections, schema
from keval.ids import JsonObject
from keval.stats.aggregates import READ, aggregate
from keval.stats.asked import NOTHING, Asked
from tests.builders import RUN_ID, TIME, judgment_event, response_event, run_event, write_log

EXAMPLE: Mapping[str, Sequence[Sequence[Sequence[int]]]] = {
    "A": (
        ((4, 4), (5, 4), (4, 5)), ((2, 3), (3, 3), (2, 2)), ((5, 5), (5, 5), (4,)),
        ((1, 2), (3, 2), (2, 2)), ((4, 3), (4, 4)), ((3, 3), (2, 3), (4, 4)),
    ),
    "B": (
        ((5, 5), (5, 4), (5, 5)), ((3, 3), (4, 3), (3, 3)), ((5, 5), (5, 4), (5, 5)),
        ((2, 2), (2, 3), (3, 3)), ((4, 4), (5, 4), (4, 4)), ((3, 3), (3, 3), (4, 3)),
    ),
}  # fmt: skip
"""The worked example of the specification: per condition, sample and response the scores of its judgments."""


def bodies(
    folder: Path, events: Iterable[JsonObject], levels: Collection[str] = ("condition",), asked: Asked = NOTHING
) -> list[JsonObject]:
    """Return what is computed from a log of these events; every body makes a valid event."""
    needed = projections.ALL if asked.by or tuple(levels) != ("condition",) else READ
    log = write_log(folder / "log.jsonl", events)
    with projections.connect([log], texts=bool(asked.by), tools=False, asked=needed) as connection:
        found = list(aggregate(connection, levels=levels, asked=asked))
    envelope = {"v": 1, "id": "x", "time": TIME, "run_id": RUN_ID}
    assert [problem for body in found if (problem := schema.event_problem(envelope | body))] == []
    return found


def scored(condition: str, scores: Iterable[float]) -> list[JsonObject]:
    """Return a response with a judgment for each score, one per sample."""
    events = []
    for number, score in enumerate(scores):
        response = response_event(f"q{number}", condition)
        events += [response, judgment_event(response, score)]
    return events


def example() -> list[JsonObject]:
    """Return the events of the worked example."""
    events = [run_event(("A", "B"), samples=6, repetitions=3)]
    for condition, samples in EXAMPLE.items():
        for number, responses in enumerate(samples, 1):
            for repetition, judgments in enumerate(responses, 1):
                response = response_event(f"s{number}", condition, repetition)
                events.append(response)
                events += [judgment_event(response, score, replicate=n) for n, score in enumerate(judgments, 1)]
    return events
