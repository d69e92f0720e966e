"""Makes the judges' jobs: one per response, judge and replicate; a judge of pairs also has the baseline's response."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from keval.config.model import JudgeConfig
from keval.ids import JsonObject, given_sha256, judgment_id, sample_sha256
from keval.logs.line_at import event_at, record_at
from keval.preparation.unjudged import Missing


class Job(NamedTuple):
    """What one judge has to do once: one response, one replicate."""

    response: JsonObject
    """The response as the log has it, with the newest record of its sample."""
    unredacted: JsonObject
    """The response as the agent gave it, where that is known: what is judged."""
    judge: JudgeConfig
    judge_id: str
    replicate: int
    judgment_id: str
    other: JsonObject | None = None
    """The response beside which a judge of pairs judges, as the log has it."""


def jobs(
    response: JsonObject,
    judges: Sequence[JudgeConfig],
    judged: Container[str],
    unredacted: JsonObject | None = None,
    other: JsonObject | None = None,
) -> list[Job]:
    """Return what the judges still have to do for one response, which is judged as the agent gave it, if known.

    Judges of single responses without `other`, judges of pairs with it.
    """
    return [
        job
        for judge in judges
        if judge.sampling.has(response["sample"]["id"], response["repetition"])
        if (judge.judge.unit == "pair") == (other is not None)
        for replicate in range(1, judge.replicates + 1)
        if (job := _job(response, unredacted or response, judge, replicate, other)).judgment_id not in judged
    ]


def _job(
    response: JsonObject, unredacted: JsonObject, judge: JudgeConfig, replicate: int, other: JsonObject | None
) -> Job:
    given = given_sha256(response["sample"], judge.sample_fields)
    beside = None if other is None else other["id"]
    target = judgment_id(response["id"], response["text"], given, judge.judge_id, replicate, other=beside)
    return Job(response, unredacted, judge, judge.judge_id, replicate, target, other)


class Backlog:
    """What the judges still have to do in a log: counted at once, read from the log one response at a time."""

    def __init__(
        self,
        log: Path,
        missing: Iterable[Missing],
        judges: Sequence[JudgeConfig],
        questions: Sequence[str] = (),
        samples: Sequence[JsonObject] = (),
    ) -> None:
        """Take note of what is missing; `samples` are newer than those of the log, `questions` the ids of theirs."""
        self._log = log.absolute()  # a function of the user's may change the folder before all is read
        self.judges = judges
        self._lines, self._records = array("Q"), array("Q")
        self._places, self._replicates = array("L"), array("L")
        self._others = array("q")
        self.asked: Counter[int] = Counter()
        """About how many of those that are missing somebody may be asked, by the judge's place.

        Nobody is about a response beside itself, and about those of `samples` of which the judge is not asked.
        """
        unasked: Sequence[Container[str]] = ()
        for line, record, place, replicate, other, question in missing:
            self._lines.append(line)
            self._records.append(record)
            self._places.append(place)
            self._replicates.append(replicate)
            self._others.append(other)
            unasked = unasked or _unasked(judges, questions, samples)  # once, and only if something is missing
            if line != other and question not in unasked[place]:
                self.asked[place] += 1
        self.planned: Counter[str] = Counter()
        """How many judgments are missing, by the judge's name."""
        for place, number in sorted(Counter(self._places).items()):
            self.planned[judges[place].name] += number
        self._samples = samples
        self._places_of = dict(zip(questions, range(len(samples)), strict=True)) if self.planned else {}

    def __iter__(self) -> Iterator[Job]:
        read, response = -1, {}
        for line, record, place, replicate, beside in zip(
            self._lines, self._records, self._places, self._replicates, self._others, strict=True
        ):
            if line != read:
                read, response = line, self._response(line, record)
            other = None if beside < 0 else event_at(self._log, beside, "response")
            yield _job(response, response, self.judges[place], replicate, other)

    def _response(self, line: int, record: int) -> JsonObject:
        """Return a response as it is judged: with the newest record of its sample that asks the same."""
        response = event_at(self._log, line, "response")
        place = self._places_of.get(response["question_id"])
        if place is None and record == line:
            return response
        newest = record_at(self._log, record) if place is None else self._samples[place]
        return response | {"sample": newest, "sample_sha256": sample_sha256(newest)}


def _unasked(
    judges: Sequence[JudgeConfig], questions: Sequence[str], samples: Sequence[JsonObject]
) -> Sequence[Container[str]]:
    """Return for each judge the questions, of those whose samples are given, about whose answers it is not asked."""
    unasked: list[set[str]] = [set() for _ in judges]
    for question, sample in zip(questions, samples, strict=True):
        for judge, of_judge in zip(judges, unasked, strict=True):
            if not judge.asks_about(sample):
                of_judge.add(question)
    return unasked
