"""Notes samples of which an imported file has another record than the log.

Two files of one task often differ in what nobody judged by, such as what a solver wrote. Where nobody says in which
fields two records differ, judgments by the earlier one count no more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import orjson

from keval.counted import counted
from keval.events import event
from keval.execution.remembered import Remembered
from keval.ids import JsonObject, changed_fields, digest

MOST_NAMED = 3
"""Samples that a message names before it only counts the rest."""


@dataclass
class ImportedChanges:
    """The newest record of each question that a log has, and those of which a file brings another one."""

    given: Collection[str]
    """The fields that judges elsewhere were given."""
    newest: Remembered
    _outdating: dict[str, None]
    """The samples that differ in what judges were given."""

    @classmethod
    def of(cls, given: Collection[str], newest: Remembered) -> ImportedChanges:
        """Return those of a log of which nothing was read yet; `newest` has nothing else in it."""
        return cls(given, newest, {})

    def take(self, line: JsonObject) -> None:
        """Take note of an event of the log."""
        if line["type"] in {"response", "sample_change"}:
            self.newest.set(line["question_id"], orjson.dumps(line["sample"]).decode())

    def before(self, response: JsonObject) -> JsonObject | None:
        """Return the event that has to come before a new response: None where the log has no other record of it."""
        known = self.newest.get(response["question_id"])
        self.take(response)
        changed = [] if known is None else changed_fields(orjson.loads(str(known)), response["sample"])
        if not changed:
            return None
        if not set(changed).isdisjoint(self.given):
            self._outdating[str(response["sample"]["id"])] = None
        return event(
            "sample_change",
            digest("sample_change", response["sample_sha256"], response["run_id"]),
            response["run_id"],
            sample=response["sample"],
            sample_sha256=response["sample_sha256"],
            question_id=response["question_id"],
            changed=changed,
        )

    def told(self) -> Iterator[str]:
        """Yield of which samples earlier scores count no more."""
        if self._outdating:
            number = counted(len(self._outdating), "sample")
            names = [*self._outdating][:MOST_NAMED] + ["…"] * (len(self._outdating) > MOST_NAMED)
            yield (
                f"the golden answer of {number} ({', '.join(names)}) is another one than in the log: of the "
                "scores of their answers only those of this file count now; to keep the others, import it "
                "into a log of its own, and keval compare both"
            )
