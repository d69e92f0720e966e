"""Notes samples of which an imported file has another record than the log.

Two files of one task often differ in what nobody judged by, such as what a solver wrote. Where nobody says in which
fields two records differ, judgments by the earlier one count no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from keval.counted import counted, first_of
from keval.ids import JsonObject, changed_fields
from keval.preparation.sample_changes import concerned, sample_change
from keval.processes.disk_map import DiskMap

Change = tuple[str, Sequence[str] | None]
"""The hash of a record that took the place of another one, and in which fields it differs; None: nobody said."""


@dataclass
class ImportedChanges:
    """The records that a log has of each question, and those of which a file brings another one."""

    known: DiskMap
    """By question the newest record, and how it came from the first one; the map has nothing else in it."""
    _given: dict[str, set[str] | None] = field(default_factory=dict)
    """Which fields of samples the judges of the log's judgments were given."""
    _outdating: dict[tuple[str, ...], dict[str, None]] = field(default_factory=dict)
    """The samples that differ in what judges were given, by those fields."""

    def take(self, line: JsonObject) -> None:
        """Take note of an event of the log."""
        if line["type"] in {"response", "sample_change"}:
            self._note(line, line.get("changed"))
        if line["type"] == "judgment":
            name, fields = line["judge"]["name"], line["sample_fields"]
            known = self._given.setdefault(name, set())
            self._given[name] = None if known is None or fields is None else known | {*fields}

    def change_before(self, response: JsonObject, *, is_there: bool = False) -> JsonObject | None:
        """Return the event that has to come before a response: None where the log has no other record of its sample.

        Of a response that `is_there` already it is needed only where scores of it would not count without it.
        """
        sample, changes = self._known(response["question_id"])
        changed = [] if sample is None else changed_fields(sample, response["sample"])
        judged_by = tuple(name for name in changed if concerned(self._given, [name]))
        if is_there and not judged_by and not self._is_outdated(response["sample_sha256"], changes):
            return None
        self._note(response, changed)
        if not changed:
            return None
        if judged_by:
            self._outdating.setdefault(judged_by, {})[str(response["sample"]["id"])] = None
        return sample_change(response["sample"], response["run_id"], changed)

    def _known(self, question_id: str) -> tuple[JsonObject | None, list[Change]]:
        found = self.known.get(question_id)
        return (None, []) if found is None else orjson.loads(str(found))

    def _note(self, line: JsonObject, changed: Sequence[str] | None) -> None:
        """Keep the record of a line as the newest one of its question, and the fields that differ, None if unknown."""
        sample, changes = self._known(line["question_id"])
        if sample is not None and sample != line["sample"]:
            changes = [*changes, (line["sample_sha256"], changed)]
        self.known.set(line["question_id"], orjson.dumps((line["sample"], changes)).decode())

    def _is_outdated(self, sha256: str, changes: Sequence[Change]) -> bool:
        """Return whether what was judged by a record has changed since, be it that it is now as it was then."""
        ends = [place for place, (after, _) in enumerate(changes, start=1) if after == sha256]
        since = changes[ends[-1] :] if ends else changes
        return any(fields is None or concerned(self._given, fields) for _, fields in since)

    def warnings(self) -> Iterator[str]:
        """Yield of which samples earlier scores count no more."""
        for fields, samples in self._outdating.items():
            yield (
                f"{counted(len(samples), 'sample')} ({first_of([*samples])}) of this file and of the log "
                f"{'differs' if len(samples) == 1 else 'differ'} in {_named(fields)}, which "
                f"{', '.join(concerned(self._given, fields))} judged by: scores of the log's answers to them count no "
                "more; to keep them, import the file into a log of its own, and keval compare both"
            )


def _named(fields: Sequence[str]) -> str:
    return ", ".join("the golden answer" if name == "answer" else name for name in fields)
