"""Which samples of a run are finished, in its order, and what the stopping rule says of them.

Only the longest prefix of finished samples counts: slow answers are not average answers, so in the order of arrival the
rule would err. A sample is finished when all its tasks under the conditions that are still asked have ended, and the
judges of the family have said all they will say of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from keval.config.model import Config, JudgeConfig
from keval.failure_kinds import AGENT_FAILED
from keval.ids import JsonObject
from keval.stats.paired_series import Measured, Series, measured
from keval.stats.recorded_rule import Member, RecordedRule
from keval.stats.stopping_rule import Look

Scores = Mapping[str, float | None] | None
"""What a judgment says of each metric, None where it does not apply; None for a judge that failed."""


class TaskPlace(NamedTuple):
    """Where a task stands in a run."""

    position: int
    """Of its sample in the run's order, from 0."""
    sample_id: str
    condition_id: str
    repetition: int


@dataclass(slots=True)
class Cell:
    """One task, as far as it is known."""

    sample_id: str
    repetition: int
    failed: str | None = None
    """The kind of failure that it ended in."""
    is_answered: bool = False
    said: dict[tuple[str, int], Scores] = field(default_factory=dict)
    """By judge and replicate."""
    outside: set[str] = field(default_factory=set)
    """The judges that say of it that they are not for its sample."""

    def is_final(self, judges: Mapping[str, JudgeConfig]) -> bool:
        """Return whether nothing more will come of it."""
        if self.failed is not None or not self.is_answered:
            return self.failed is not None
        return all(
            (judge_id, replicate) in self.said
            for judge_id, judge in judges.items()
            if judge.sampling.has(self.sample_id, self.repetition)
            for replicate in range(1, judge.replicates + 1)
        )


class Decided(NamedTuple):
    """A comparison that was just decided."""

    member: Member
    look: Look


class FinishedSamples:
    """The finished prefix of a run, and which conditions need not be asked any more."""

    def __init__(
        self, rule: RecordedRule, config: Config, samples: Iterable[JsonObject], *, goes_on: bool = False
    ) -> None:
        """Begin with none of these samples finished; with `goes_on` nothing stops before the dataset's end."""
        self.rule = rule
        self.goes_on = goes_on
        self.n = 0
        """Finished samples."""
        self.asked: dict[str, int] = {}
        """By the id of each condition that is decided: after how many samples it was."""
        self._series = {member.key: Series(rule, member) for member in rule.family}
        self._undecided = {member.key: member for member in rule.family}
        family = {member.judge_id for member in rule.family}
        self._judges = {judge.judge_id: judge for judge in config.judges if judge.judge_id in family}
        self._outside = {
            (judge.judge_id, sample["id"])
            for sample in samples
            for judge in self._judges.values()
            if judge.not_for(sample) is not None
        }
        """Judges and the samples that they are not for: no metric applies to these, whatever is answered."""
        self._cells: dict[str, Cell] = {}
        self._ids: dict[int, dict[tuple[str, int], str]] = {}

    @property
    def is_decided(self) -> bool:
        """Whether every comparison of the family is decided, and so nothing more is asked."""
        return not self._undecided and not self.goes_on

    @property
    def is_complete(self) -> bool:
        """Whether all samples are finished."""
        return self.n >= self.rule.samples

    def wants(self, condition_id: str) -> bool:
        """Return whether answers of a condition are still needed."""
        return not self.is_decided and condition_id not in self.asked

    def looks(self) -> Iterator[tuple[Member, Look]]:
        """Yield what is known of each comparison now."""
        for series in self._series.values():
            yield series.member, series.look()

    def open(self, place: TaskPlace, response_id: str) -> None:
        """Take note of a task, before it is begun, or as a log has it."""
        self._cells[response_id] = Cell(place.sample_id, place.repetition)
        self._ids.setdefault(place.position, {})[place.condition_id, place.repetition] = response_id

    def note(self, event: JsonObject) -> None:
        """Take note of what came of a task or a judging."""
        cell = self._cells.get(event["id" if event["type"] == "response" else "response_id"])
        if cell is None:  # of another plan, or after the stop
            return
        if event["type"] == "response":
            cell.is_answered = True
        elif event["type"] == "failure" and event["stage"] == "generate":
            cell.failed = event["kind"]
        elif event["type"] == "judgment":
            scores = {name: score["score"] for name, score in event["scores"].items()}
            cell.said[event["judge_id"], event["replicate"]] = scores
            if any(score.get("outside") for score in event["scores"].values()):
                cell.outside.add(event["judge_id"])
        else:
            cell.said.setdefault((event["judge_id"], event["replicate"]), None)

    def advance(self) -> list[Decided]:
        """Let all samples count that are finished, one after the other, until all is decided; return what is new."""
        found: list[Decided] = []
        while not self.is_decided and not self.is_complete and self._is_finished(self.n):
            self._take(self.n)
            self.n += 1
            found += self._decide()
        return found

    def _conditions(self) -> set[str]:
        """Return the conditions that are still asked."""
        if self.goes_on:
            return {self.rule.baseline_id, *(member.condition_id for member in self.rule.family)}
        return {self.rule.baseline_id, *(condition_id for condition_id, _, _ in self._undecided)}

    def _is_finished(self, position: int) -> bool:
        cells = self._ids.get(position, {})
        return all(
            (response_id := cells.get((condition_id, repetition))) is not None
            and self._cells[response_id].is_final(self._judges)
            for condition_id in self._conditions()
            for repetition in range(1, self.rule.repetitions + 1)
        )

    def _take(self, position: int) -> None:
        cells = self._ids.pop(position)
        of: dict[str, list[Cell]] = {}
        for (condition_id, _), response_id in cells.items():
            of.setdefault(condition_id, []).append(self._cells.pop(response_id))
        asked = self._conditions()
        # What came in for a condition that is asked no more is in no number, so it says nothing of the sample either.
        self._outside |= {
            (judge_id, cell.sample_id) for each in asked for cell in of.get(each, []) for judge_id in cell.outside
        }
        for series in self._series.values():
            member = series.member
            if member.condition_id in asked:
                condition, baseline = (
                    [cell for cell in of[condition_id] if self._counts(cell, member.judge_id)]
                    for condition_id in (member.condition_id, self.rule.baseline_id)
                )
                series.add(_measured(condition, member), _measured(baseline, member))

    def _counts(self, cell: Cell, judge_id: str) -> bool:
        """Return whether a task counts for a judge, which may be for other samples, or judge a share of the tasks."""
        is_outside = (judge_id, cell.sample_id) in self._outside
        return not is_outside and self._judges[judge_id].sampling.has(cell.sample_id, cell.repetition)

    def _decide(self) -> list[Decided]:
        """Look at each comparison that is open; return those that are decided now."""
        found = [
            Decided(member, self._series[key].look())
            for key, member in self._undecided.items()
            if self._series[key].is_decided
        ]
        before = self._conditions()
        for decided in found:
            del self._undecided[decided.member.key]
        if not self.is_complete and not self.goes_on:
            done = before if self.is_decided else before - self._conditions()
            self.asked |= dict.fromkeys(sorted(done), self.n)
        return found


def _measured(cells: list[Cell], member: Member) -> Measured:
    """Return what the repetitions of a sample under a condition say, by the rules of the view `outcomes`."""
    values, missing = [], 0
    for cell in cells:
        value, is_missing = _value(cell, member)
        missing += is_missing
        if value is not None:
            values.append(value)
    failed = sum(cell.failed in AGENT_FAILED for cell in cells)
    return measured(values, missing, member.min, member.max, failed)


def _value(cell: Cell, member: Member) -> tuple[float | None, bool]:
    """Return what a task counts as, and whether it is missing."""
    if cell.failed is not None:
        return (member.min, False) if cell.failed in AGENT_FAILED else (None, True)
    said = [scores for (judge_id, _), scores in cell.said.items() if judge_id == member.judge_id]
    judged = [scores for scores in said if scores is not None]
    scores = [score for each in judged if (score := each.get(member.metric)) is not None]
    if scores:
        return sum(scores) / len(scores), False
    return None, bool(said) and not judged
