"""What a log holds of a config: which of its tasks are done, and which of its samples are not what they were."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from keval.config.model import Condition
from keval.failure_kinds import GATES
from keval.ids import JsonObject, sample_sha256
from keval.logs.costs import MeasuredCosts
from keval.logs.past import Past
from keval.preparation.prepared import Prepared
from keval.preparation.request import Request
from keval.preparation.tasks import NUMBER_IN_SQL
from keval.projections.sql_file import literal, load


class NoLongerPlanned(NamedTuple):
    """Responses that count and will not."""

    responses: int = 0
    samples: int = 0
    """Of how many samples that are gone."""
    repetitions: int = 0
    conditions: Sequence[str] = ()


def costs_so_far(past: Past, prepared: Prepared) -> MeasuredCosts:
    """Return what was measured; what was edited costs what it did before, until it has answers of its own.

    Not where the agent asks another model: that has another price.
    """
    config, newest = prepared.config, past.newest_run(prepared.config.name, mock=prepared.mock)
    if newest is None or (newest["agent"]["type"], newest["agent"]["model"]) != (config.agent.type, config.agent.model):
        return past.costs()
    agent_id, before = newest["agent"]["agent_id"], newest["conditions"]
    return past.costs().with_former({
        (config.agent.agent_id, each.condition_id): (agent_id, before[each.name]["condition_id"])
        for each in config.conditions
        if each.name in before
    })  # fmt: skip


@dataclass(frozen=True)
class ConfigPast:
    """What can be asked of the past about the tasks of a config, whose servers were asked; see `about`."""

    past: Past
    prepared: Prepared

    @classmethod
    def about(cls, past: Past, prepared: Prepared) -> ConfigPast:
        """Look up which tasks of a config the log has answers to."""
        found = cls(past, prepared)
        if past.connection is None:  # a new log: there is nothing to compare the samples with
            return found
        conditions = prepared.config.conditions
        past.table(
            "config_samples",
            sample_id=("varchar", [sample["id"] for sample in prepared.samples]),
            question_id=("varchar", prepared.question_ids),
            sample_sha256=("varchar", list(map(sample_sha256, prepared.samples))),
        )
        past.table(
            "own_conditions",
            condition_id=("varchar", [condition.condition_id for condition in conditions]),
            retries_gates=("boolean", [condition.gates.retry_gates for condition in conditions]),
        )
        past.name("answered_tasks", found.tasks_of("response", mock=found.mock))
        past.name("questions_before", load("preparation", "questions_before", mock=str(found.mock)))
        return found

    @property
    def mock(self) -> bool:
        """Whether the answers of the mock are answers, as they are to a mock run."""
        return self.prepared.mock

    def tasks_of(self, event_type: str, *, mock: bool) -> str:
        """Return the query for the tasks that events of a type are about, with `mock` those of the mock too."""
        config = self.prepared.config
        return load(
            "preparation",
            "task_numbers",
            type=literal(event_type),
            agent_id=literal(config.agent.agent_id),
            repetitions=str(config.execution.repetitions),
            mock=str(mock),
            number=NUMBER_IN_SQL,
        )

    def run_responses(self, request: Request) -> str:
        """Return the query of the answers that a run judges, as a user asks for it."""
        return load(
            "preparation",
            "run_responses",
            fresh=str(request.fresh),
            everything=str(request.judge_all),
            mock=str(self.mock),
            of_config=self.tasks_of("response", mock=True),
        )

    def skipped(self, *, retry_failed: bool, final: Collection[str] = GATES) -> tuple[str, int]:
        """Return which tasks are not to be done, and how many of these have failed.

        The first is a string with a 1 for each such task at its number; empty if there is none. Failures of the kinds
        `final` are not tried again unless their condition says so.
        """
        config = self.prepared.config
        tasks = len(self.prepared.samples) * len(config.conditions) * config.execution.repetitions
        sql = load(
            "preparation",
            "skipped_tasks",
            failed_tasks=self.tasks_of("failure", mock=self.mock),
            mock=str(self.mock),
            retry_failed=str(retry_failed),
            gates=", ".join(map(literal, sorted(final))),
            tasks=str(tasks),
        )
        skipped, failed = next(self.past.rows(sql), ("", 0))
        return skipped, failed

    def answered(self) -> Iterator[int]:
        """Yield the numbers of the tasks that have their answer."""
        return (number for (number,) in self.past.rows("select distinct number from answered_tasks"))

    @cached_property
    def changed_samples(self) -> list[tuple[int, int]]:
        """Of each sample of which the log has another record: its place, and where the log's newest line of it is."""
        return list(self.past.rows(load("preparation", "changed_samples")))

    def edited_questions(self) -> list[int]:
        """Return the places of the samples that were asked before by another question."""
        return [place for (place,) in self.past.rows(load("preparation", "edited_questions"))]

    def no_longer_planned(self, newest: JsonObject) -> NoLongerPlanned:
        """Return what counts in the config's newest run, whose agent is known, and is in its plan no more."""
        config, before = self.prepared.config, newest["conditions"]
        names, ids = ({getattr(each, part) for each in config.conditions} for part in ("name", "condition_id"))
        # One that is called otherwise is the same; one of the same name is asked again.
        gone = [each for name, each in before.items() if name not in names and each["condition_id"] not in ids]
        sql = load(
            "preparation",
            "no_longer_planned",
            config_name=literal(config.name),
            agent_id=literal(newest["agent"]["agent_id"]),
            condition_ids=_ids(before.values()),
            gone_ids=_ids(gone),
            repetitions=str(config.execution.repetitions),
            mock=str(self.mock),
        )
        return next((NoLongerPlanned(*row) for row in self.past.rows(sql)), NoLongerPlanned())

    def asked_again(self, newest: JsonObject, numbers: Sequence[int]) -> dict[tuple[int, bool], array[int]]:
        """Return which of the tasks that are to be asked were answered as a run asked them.

        By the place of the condition, and whether its question was edited. `newest` is the config's newest run,
        `numbers` those of the tasks.
        """
        config = self.prepared.config
        known = ids_before(newest, config.conditions)
        before = [
            f"({place}, {literal(known[condition.name])})"
            for place, condition in enumerate(config.conditions)
            if condition.name in known
        ]
        if not before:
            return {}
        self.past.table("asked_tasks", number=("ubigint", numbers))
        sql = load(
            "preparation",
            "asked_again",
            conditions=", ".join(before),
            agent_id=literal(newest["agent"]["agent_id"]),
            repetitions=str(config.execution.repetitions),
            mock=str(self.mock),
            number=NUMBER_IN_SQL,
        )
        return {(place, edited): array("Q", tasks) for place, edited, tasks in self.past.rows(sql)}


def ids_before(newest: JsonObject, conditions: Sequence[Condition]) -> dict[str, str]:
    """Return the ids that conditions had in a run, by their names of now: one that was renamed is what it was."""
    before = {name: each["condition_id"] for name, each in newest["conditions"].items()}
    renamed = {each.name: each.condition_id for each in conditions if each.condition_id in before.values()}
    known = {**before, **renamed}
    return {each.name: known[each.name] for each in conditions if each.name in known}


def _ids(conditions: Iterable[JsonObject]) -> str:
    """Return the ids of conditions as a list of SQL, which cannot be empty."""
    return ", ".join(["null", *(literal(each["condition_id"]) for each in conditions)])
