"""Events about the tasks of a config, and what a log that holds them says of the config."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from keval.ids import JsonObject
from keval.logs.past import Past, of_log
from keval.preparation.config_past import ConfigPast
from keval.preparation.prepared import Prepared
from keval.preparation.tasks import Task, work_list
from tests.builders import failure_event, response_event, write_log


def tasks_of(prepared: Prepared) -> list[Task]:
    """Return all tasks of a config, by their numbers."""
    tasks = work_list(prepared.config, prepared.samples)
    return [task for _, task in sorted(zip(tasks.numbers, tasks, strict=True), key=lambda found: found[0])]


def answer_to(prepared: Prepared, task: Task, **fields: object) -> JsonObject:
    """Return the response to a task."""
    about: JsonObject = {
        "id": task.response_id,
        "sample": task.sample,
        "sample_sha256": task.sample_sha256,
        "question_id": task.question_id,
        "condition_id": task.condition_id,
        "agent_id": prepared.config.agent.agent_id,
    }
    return response_event(condition=task.condition.name, repetition=task.repetition, **about | fields)


def failure_of(prepared: Prepared, task: Task, kind: str = "timeout", **fields: object) -> JsonObject:
    """Return the failure of a task."""
    return failure_event(answer_to(prepared, task), kind, **fields)


@contextmanager
def past_of(events: Iterable[JsonObject]) -> Iterator[Past]:
    """Give the past of a log of these events."""
    with TemporaryDirectory() as folder, of_log(write_log(Path(folder) / "run.jsonl", events), lambda _: None) as past:
        yield past


@contextmanager
def config_past(prepared: Prepared, events: Iterable[JsonObject]) -> Iterator[ConfigPast]:
    """Give what a log of these events says of a config."""
    with past_of(events) as past:
        yield ConfigPast.about(past, prepared)
