"""Decides what the judges still have to do: one job per response, judge and replicate."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from keval.config.model import JudgeConfig
from keval.errors import InputError
from keval.ids import JsonObject, given_sha256, judgment_id
from keval.logs.history import History
from keval.logs.samples import NewestRecords, event_at


@dataclass(frozen=True, slots=True)
class Job:
    """What one judge has to do once: one response, one replicate."""

    response: JsonObject
    """The response as the log has it, with the newest record of its sample."""
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
        for given in (given_sha256(response["sample"], judge.judge.sample_fields),)
        for replicate in range(1, judge.replicates + 1)
        if (target := judgment_id(response["id"], response["text"], given, judge.judge_id, replicate)) not in judged
    ]


class Backlog:
    """What the judges still have to do in a log: counted at once, read from the log one response at a time."""

    def __init__(
        self, records: NewestRecords, responses: Iterable[str], judges: Sequence[JudgeConfig], *, mock: bool
    ) -> None:
        self._records = records
        self._judges = judges
        self._judged = records.past.judgments_done(mock=mock)
        self.planned: Counter[str] = Counter()
        """How many judgments are missing, by the judge's name."""
        offsets = []
        for response in responses:
            missing = missing_by_judge(records.past, response, judges, mock=mock)
            self.planned.update(missing)
            if missing:
                offsets.append(records.past.responses[response])
        self._offsets = array("Q", sorted(offsets))

    def __iter__(self) -> Iterator[Job]:
        for offset in self._offsets:
            response = event_at(self._records.log, offset)
            if response.get("type") != "response":
                raise InputError(f"{self._records.log}: the line at byte {offset} was changed while the log was read")
            yield from jobs(self._records.put_into(response), self._judges, self._judged)


def missing_by_judge(past: History, response: str, judges: Sequence[JudgeConfig], *, mock: bool) -> dict[str, int]:
    """Return how many judgments of a response each judge has still to make, by name; none are left out."""
    counts = {
        judge.name: past.missing_judgments(response, judge.judge_id, judge.replicates, mock=mock) for judge in judges
    }
    return {name: number for name, number in counts.items() if number}
