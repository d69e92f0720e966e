"""Turns a file of saved answers into the events of a log: a run, its plan, responses, judgments from elsewhere.

The file is read twice: first to find all that is wrong with it, then to write. All ids are made from content, so the
same file adds nothing to a log that holds it, and a corrected one adds what was corrected. What has to be remembered of
each row is in a temporary database on disk, but for the ids of the questions.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from keval import datasets, ids
from keval.config.import_mapping import IMPORTED, ImportMapping
from keval.counted import counted
from keval.datasets import ROW, ROW_TAKEN, Row
from keval.documents.foreign_json import unfit
from keval.documents.row_problems import RowProblems
from keval.errors import InputError, Warn
from keval.events import InvalidEventError, event, failure_id, written
from keval.ids import JsonObject, digest
from keval.imports.rows import NO_SCORE, ImportedRow, RowReader, written_time
from keval.imports.target import ImportTarget
from keval.logs.sinks import Sink, UntilSafe
from keval.logs.stream import read
from keval.preparation.bare_run import bare_run_event
from keval.preparation.pairs import BASELINE
from keval.preparation.plan_events import plan_events, plan_id
from keval.processes.disk_map import DiskMap
from keval.scheduling import interrupt

GIVEN = ("question", "answer")
"""The fields of a sample of which we know that a judge elsewhere was given them."""

AT_ONCE = 1000
"""Events after which it is waited until those that were written are on disk, and looked whether the user stops."""


@dataclass
class Survey:
    """What a file holds as a whole, found by reading all of it once."""

    questions: list[str] = field(default_factory=list)
    conditions: dict[str, None] = field(default_factory=dict)
    repetitions: int = 1
    rows: int = 0
    taken_for_another: str | None = None
    """The first row that was taken for another repetition, as an earlier one has its question, in words."""
    unused: dict[str, None] = field(default_factory=dict)
    """Fields that nothing was taken from, in the order of the file."""
    problems: RowProblems = field(default_factory=RowProblems)

    @property
    def tasks(self) -> int:
        """How many tasks there are under each condition."""
        return len(self.questions) * self.repetitions

    def of_uneven_repetitions(self) -> str | None:
        """Return what is to be said of answers that nobody misses, as rows alike were taken for repetitions."""
        lacking = len(self.questions) * len(self.conditions) * self.repetitions - self.rows
        if self.taken_for_another is None or not lacking:
            return None
        return (
            f"{self.taken_for_another}; as others are there less often, {counted(lacking, 'answer')} of "
            f"{lacking + self.rows:,} will count as not done: where two rows are two samples give each its `id`, and "
            "leave out a row that is there twice"
        )

    def ordered_conditions(self, baseline: str) -> list[str]:
        """Return the conditions as the file has them, but the baseline first if it is one of them."""
        return sorted(self.conditions, key=lambda name: name != baseline)


@dataclass(frozen=True)
class AnswerFile:
    """A file of saved answers, to be read by a mapping."""

    path: Path
    mapping: ImportMapping
    records: Callable[[], Iterator[JsonObject]] | None = None
    """Yields the records of a file of another tool; None for a table, which is read as datasets are."""

    @cached_property
    def sha256(self) -> str:
        """Hash of the file's bytes."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def changed_at(self) -> str:
        """When the file was last changed, as events write it."""
        return written_time(datetime.fromtimestamp(self.path.stat().st_mtime, UTC))

    @cached_property
    def run_id(self) -> str:
        """The id of the import: the same file and mapping are the same import."""
        return digest("import", self.sha256, self.mapping.name, self.mapping.as_written)

    def rows(self) -> Iterator[tuple[str, ImportedRow]]:
        """Yield where each row stands, and what it says. Raises InputError for a file that cannot be read."""
        reader = RowReader(self.mapping)
        try:
            for number, row in enumerate(self._rows(), start=1):
                where = f"{self.path}:{row.line}" if row.line is not None else f"{self.path}: row {number}"
                record = row.record or {}
                problem = row.problem or unfit(record)
                if ROW in record:
                    problem = ROW_TAKEN
                yield where, ImportedRow([problem]) if problem else reader.read({**record, ROW: number})
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from error
        except (OSError, EOFError) as error:
            raise InputError(f"{self.path}: {getattr(error, 'strerror', None) or error}") from error

    def _rows(self) -> Iterator[Row]:
        if self.records is not None:
            return (Row(None, record) for record in self.records())
        return datasets.reader(self.path, self.mapping.columns).rows(self.path)

    def numbered(self) -> Iterator[tuple[str, ImportedRow]]:
        """Yield the rows; one that does not say which repetition it is, is counted."""
        with closing(DiskMap()) as repetitions:
            for where, row in self.rows():
                if row.repetition is None and not row.problems:
                    row.repetition = repetitions.count(digest(row.question_id, row.condition))
                    row.is_counted = True
                yield where, row

    def survey(self) -> Survey:
        """Read the whole file. Raises InputError that lists all rows with something wrong in them."""
        survey = Survey()
        events = Events(self, survey)
        with closing(DiskMap()) as seen:
            for where, row in self.numbered():
                survey.unused |= dict.fromkeys(row.unused)
                for problem in row.problems or (*self._clashes(where, row, seen, survey), *events.problems(row)):
                    survey.problems.add(where, problem)
        if survey.problems:
            raise InputError(
                *survey.problems.told(), f"nothing of {self.path} was imported; correct it, or the mapping"
            )
        if not survey.questions:
            raise InputError(f"{self.path}: no rows in it")
        return survey

    def events(self) -> Events:
        """Return what makes the events. Raises InputError that lists all rows with something wrong in them."""
        return Events(self, self.survey())

    def _clashes(self, where: str, row: ImportedRow, seen: DiskMap, survey: Survey) -> Iterator[str]:
        """Take a row into the survey; yield in what it contradicts an earlier one."""
        sample_id, repetition = str(row.sample["id"]), row.repetition or 1
        place = where.removeprefix(str(self.path)).strip(": ").removeprefix("row ")
        if seen.set(f"question {row.question_id}", place) is None:
            survey.questions.append(row.question_id)
        lacks_golden = self.mapping.has_golden_answers and row.sample["answer"] is None
        known = None if lacks_golden else seen.set(f"sample {sample_id}", row.sample_sha256)
        if known not in {None, row.sample_sha256}:
            yield f"the sample {sample_id!r} has another question, answer or field than in an earlier row"
        earlier = seen.set(f"task {self.response_id(row)}", place)
        if earlier is not None:
            yield f"repetition {repetition} of {sample_id!r} under {row.condition!r} stands in row {earlier} already"
        survey.conditions[row.condition] = None
        survey.rows += 1
        if row.is_counted and repetition > 1 and survey.taken_for_another is None:
            said = f"{where}: the same question under {row.condition!r} as in an earlier row"
            survey.taken_for_another = f"{said}: taken for repetition {repetition} of {sample_id!r}"
        survey.repetitions = max(survey.repetitions, repetition)

    def response_id(self, row: ImportedRow) -> str:
        """Return the id of a row's response."""
        condition = ids.imported_condition_id(row.condition)
        return ids.response_id(row.question_id, condition, self.mapping.agent_id, row.repetition or 1)


@dataclass(frozen=True)
class Events:
    """Makes the events of a file, whose ids are the same each time."""

    answers: AnswerFile
    survey: Survey

    def all(self) -> Iterator[JsonObject]:
        """Yield the run, its plan, and each row's response with the judgments of it."""
        plan = plan_id(self.survey.questions)
        yield self._run(plan)
        yield from plan_events(plan, self.survey.questions, self.answers.run_id)
        for _, row in self.answers.numbered():
            yield from self.of(row)

    def of(self, row: ImportedRow) -> Iterator[JsonObject]:
        """Yield a row's response and the judgments of it, or why there is none."""
        time = {"time": row.time or self.answers.changed_at}
        if row.failure is not None:
            yield self._failure(row, row.failure) | time
            return
        response = self._response(row) | time
        yield response
        yield from (each | time for each in self._judgments(row, response))

    def check_baseline(self, known: Iterable[str]) -> None:
        """Raise InputError if neither the file nor the log has the condition that the mapping names as the baseline."""
        named, there = self.answers.mapping.baseline, {**self.survey.conditions, **dict.fromkeys(known)}
        if named is not None and named not in there:
            told = ", ".join(map(repr, there))
            raise InputError(f"baseline: no row is of the condition {named!r}, nor of the log; there are: {told}")

    def problems(self, row: ImportedRow) -> Iterator[str]:
        """Yield why events of a row can be no lines of a log."""
        for each in self.of(row):
            try:
                written(each)
            except InvalidEventError as error:
                yield str(error)

    def _run(self, plan: str) -> JsonObject:
        answers, mapping, survey = self.answers, self.answers.mapping, self.survey
        conditions = survey.ordered_conditions(mapping.baseline or BASELINE)
        return bare_run_event("import", answers.run_id) | {
            "config": mapping.as_written,
            "config_sha256": digest(mapping.as_written),
            "config_name": mapping.name,
            "dataset": {"path": str(answers.path), "sha256": answers.sha256, "samples": len(survey.questions)},
            "agent": self._described_agent(),
            "conditions": {name: _condition(name, survey.tasks) for name in conditions},
            "judges": [judge.described() for judge in mapping.judges],
            "repetitions": survey.repetitions,
            "plan_id": plan,
        }

    def _described_agent(self) -> JsonObject:
        mapping = self.answers.mapping
        unreported = {} if mapping.tool_calls is not None else {"reports_tool_calls": False}
        return {**self._agent(), "agent_id": mapping.agent_id, "options": {}, "files": [], **unreported}

    def _agent(self) -> JsonObject:
        mapping = self.answers.mapping
        return {"name": mapping.agent_name, "type": IMPORTED, "model": mapping.agent_model}

    def _task(self, row: ImportedRow) -> JsonObject:
        """Return what a row's event says of the question, whatever came of it."""
        return {
            "sample": row.sample,
            "sample_sha256": row.sample_sha256,
            "question_id": row.question_id,
            "condition": row.condition,
            "condition_id": ids.imported_condition_id(row.condition),
            "repetition": row.repetition,
            "agent_id": self.answers.mapping.agent_id,
            "turns": row.turns,
            "mcp": {},
            "attempts": 1,
            **row.fields,
        }

    def _response(self, row: ImportedRow) -> JsonObject:
        return event(
            "response",
            self.answers.response_id(row),
            self.answers.run_id,
            **self._task(row),
            agent=self._agent(),
            status="answered" if row.text.strip() else "empty",
            text=row.text,
        )

    def _failure(self, row: ImportedRow, failure: JsonObject) -> JsonObject:
        target = self.answers.response_id(row)
        return event(
            "failure",
            # Of a file in which other rows were added or corrected it is the same failure.
            failure_id(target, digest(failure, row.fields)),
            self.answers.run_id,
            **self._task(row),
            stage="generate",
            response_id=target,
            sample_id=row.sample["id"],
            **failure,
        )

    def _judgments(self, row: ImportedRow, response: JsonObject) -> Iterator[JsonObject]:
        given = ids.given_sha256(row.sample, GIVEN)
        for judge in self.answers.mapping.judges:
            scores = row.scores[judge.name]
            # What a row lacks is missing, as is an answer that nobody judged: not what a metric does not apply to.
            known = {metric: given for metric, given in scores.items() if given.get("not_applicable") != NO_SCORE}
            yield event(
                "judgment",
                ids.judgment_id(response["id"], row.text, given, judge.judge_id, 1),
                self.answers.run_id,
                response_id=response["id"],
                sample_id=row.sample["id"],
                **{name: response[name] for name in ("condition", "condition_id", "repetition", "agent_id")},
                judge={"name": judge.name, "type": IMPORTED, "model": judge.model},
                judge_id=judge.judge_id,
                replicate=1,
                sample_fields=list(GIVEN),
                sample_sha256=response["sample_sha256"],
                answer_sha256=ids.answer_sha256(row.text),
                scores=known or scores,
                unverified_claims=[],
                outcome=None,
                usage=None,
                cost_usd=None,
                duration_ms=None,
            )


def _condition(name: str, tasks: int) -> JsonObject:
    gates = {"require_mcp_tool_use": False, "require_mcp_tool_success": False}
    known = {"condition_id": ids.imported_condition_id(name), "system_prompt": "", "mcp_servers": []}
    return {**known, "gates": gates, "tools": [], "tasks": tasks}


def import_answers(
    events: Events, sink: Sink, log: Path | None, warn: Warn, *, skip_invalid: bool = False
) -> tuple[int, int]:
    """Write the events of a file that a log, which is open, does not hold yet; without a log all of them.

    Returns how many were written, and how many were there already. Raises InterruptError when the user ends it.
    """
    new = 0
    with ImportTarget(is_empty=log is None or not log.stat().st_size) as target:
        if log is not None:
            for each in read(log, warn, skip_invalid=skip_invalid):
                target.take(each.event)
        events.check_baseline(target.conditions)

        async def main(stop: asyncio.Event) -> None:
            nonlocal new
            sink.tell(stop)
            waiting: list[asyncio.Future[UntilSafe]] = []
            for number, each in enumerate(events.all()):
                if number % AT_ONCE == 0:
                    await _all(waiting)
                    await asyncio.sleep(0)  # where all is there already nothing else lets a signal be heard
                    if stop.is_set():
                        break
                lines = target.lacking(*written(each))
                new += len(lines)
                waiting.extend(asyncio.ensure_future(sink.write(line)) for line in lines)
            await _all(waiting)

        interrupt.run(main, warn)
        mapping = events.answers.mapping
        for said in target.warnings(mapping.name, mapping.judges, events.survey.conditions, events.survey.tasks):
            warn(said)
    return new, target.there_already


async def _all(waiting: list[asyncio.Future[UntilSafe]]) -> None:
    """Wait until lines are safe."""
    for until_safe in dict.fromkeys(await asyncio.gather(*waiting)):  # lines that were written together share one
        if until_safe is not None:
            await until_safe
    waiting.clear()
