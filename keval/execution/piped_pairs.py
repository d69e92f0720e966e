"""Finds the responses of each pair in a pipe, where either may come first, and the other one a whole run later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keval.execution.disk_map import DiskMap
from keval.execution.pairs import Pair
from keval.ids import JsonObject, response_id
from keval.json_text import loads


class PipedPairs:
    """The responses of a pipe, on disk until its end.

    When all conditions of a question have come, a later run may still bring an edited condition or an added one, and
    the answer to what failed before: each is compared with what came in an earlier run.
    """

    def __init__(self) -> None:
        self._responses = DiskMap()

    def add(self, response: JsonObject, line: bytes) -> None:
        """Keep a response by its line; one that comes again takes the place of the one before."""
        self._responses.set(_place(response, response["condition_id"]), line.decode())

    def completed_by(self, response: JsonObject, baseline: str, conditions: Iterable[str]) -> Iterator[Pair]:
        """Yield the pairs that a response, which was added, completes.

        `baseline` and `conditions` are the ids of the condition with which is compared, and of all that are in force:
        with the baseline's response none is compared that was answered under a condition that was edited since.
        """
        if response["condition_id"] != baseline:
            other = self._found(response, baseline)
            if other is not None:
                yield response, other
            return
        yield response, response
        for condition in conditions:
            this = self._found(response, condition) if condition != baseline else None
            if this is not None:
                yield this, response

    def close(self) -> None:
        """Let go of all responses."""
        self._responses.close()

    def _found(self, response: JsonObject, condition: str) -> JsonObject | None:
        """Return the response to the same under another condition, if it has come."""
        found = self._responses.get(_place(response, condition))
        return None if found is None else loads(str(found))


def _place(response: JsonObject, condition: str) -> str:
    return response_id(response["question_id"], condition, response["agent_id"], response["repetition"])
