"""Finds the responses of each pair in a pipe, where either may come first, and the other one a whole run later."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from keval.ids import JsonObject, response_id
from keval.json_text import loads
from keval.preparation.pairs import Pair
from keval.processes.disk_map import DiskMap

Task = tuple[str, str, int]
"""A question, an agent and a repetition: what the responses of a pair have in common."""


class PipedPairs:
    """The responses of a pipe, on disk until its end.

    When all conditions of a question have come, a later run may still bring an edited condition or an added one, and
    the answer to what failed before: each is compared with what came in an earlier run.
    """

    def __init__(self, *, mock: bool) -> None:
        self._with_mock = mock
        """Whether a real response may be compared with one of the mock: only to a mock run does that one count."""
        self._responses = DiskMap()
        self._waiting: dict[Task, None] = {}
        """Tasks with responses of several runs."""

    def add(self, response: JsonObject, line: bytes) -> bool:
        """Keep a response by its line; one that comes again takes the place of the one before.

        Return whether it is kept: a stand-in's is not where a real one came before, which counts.
        """
        task, condition = _task(response), response["condition_id"]
        if response.get("mock"):
            before = self._found(task, condition)
            if before is not None and not before.get("mock"):
                return False
        self._responses.set(_place(task, condition), line.decode())
        return True

    def completed_by(self, response: JsonObject, baseline: str, conditions: Collection[str]) -> Iterator[Pair]:
        """Yield the pairs of one run that a response, which was added, completes.

        `baseline` and `conditions` are the ids of the condition with which is compared, and of all that are in force:
        with the baseline's response none is compared that was answered under a condition that was edited since. Of two
        runs the later one may still bring both: its responses wait for `left`.
        """
        task, is_baseline = _task(response), response["condition_id"] == baseline
        if is_baseline:
            yield response, response
        for condition in {*(conditions if is_baseline else [baseline])} - {response["condition_id"]}:
            found = self._found(task, condition)
            if found is None:
                continue
            if found["run_id"] != response["run_id"]:
                self._waiting[task] = None
            else:
                yield (found, response) if is_baseline else (response, found)

    def left(self, baselines: Collection[str], conditions: Collection[str]) -> Iterator[Pair]:
        """Yield the pairs of the responses that wait, as they stand now that their runs are over."""
        waiting, self._waiting = self._waiting, {}
        for task in waiting:
            for baseline in baselines:
                other = self._found(task, baseline)
                for condition in conditions:
                    this = self._found(task, condition) if condition != baseline else None
                    if this is not None and other is not None and self._may_compare(this, other):
                        yield this, other

    def _may_compare(self, this: JsonObject, other: JsonObject) -> bool:
        return self._with_mock or bool(this.get("mock")) == bool(other.get("mock"))

    def close(self) -> None:
        """Let go of all responses."""
        self._responses.close()

    def _found(self, task: Task, condition: str) -> JsonObject | None:
        """Return the response to a task under a condition, if it has come."""
        found = self._responses.get(_place(task, condition))
        return None if found is None else loads(str(found))


def _task(response: JsonObject) -> Task:
    return response["question_id"], response["agent_id"], response["repetition"]


def _place(task: Task, condition: str) -> str:
    question, agent, repetition = task
    return response_id(question, condition, agent, repetition)
