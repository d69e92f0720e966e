"""Decides what the judges still have to do: one job per response, judge and replicate."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keval.config.model import JudgeConfig
from keval.ids import JsonObject, judgment_id
from keval.logs.stream import read


@dataclass(frozen=True, slots=True)
class Job:
    """What one judge has to do once: one response, one replicate."""

    response: JsonObject
    """The response as the log has it."""
    unredacted: JsonObject
    """The response as the agent gave it, where that is known: what is judged."""
    judge: JudgeConfig
    judge_id: str
    replicate: int
    judgment_id: str


def jobs(
    response: JsonObject, judges: Sequence[JudgeConfig], judged: Container[str], unredacted: JsonObject | None = None
) -> list[Job]:
    """Return what the judges still have to do for one response, which is judged as the agent gave it, if known."""
    return [
        Job(response, unredacted or response, judge, judge.judge_id, replicate, target)
        for judge in judges
        for replicate in range(1, judge.replicates + 1)
        if (target := judgment_id(response["id"], response["text"], judge.judge_id, replicate)) not in judged
    ]


def pending(
    path: Path, responses: Mapping[str, int], judges: Sequence[JudgeConfig], judged: Container[str]
) -> Iterator[Job]:
    """Yield what the judges still have to do in a log, one job at a time.

    `responses` says which line of the log holds a response's last event: that one counts.
    """
    for line in read(path, lambda _: None, skip_invalid=True):
        if line.event["type"] == "response" and responses.get(line.event["id"]) == line.number:
            yield from jobs(line.event, judges, judged)
