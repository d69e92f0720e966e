"""What a log holds of a file that is imported into it: what is missing is written, and nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from types import TracebackType
from typing import Self

from keval.config.import_mapping import ForeignJudge
from keval.counted import first_of
from keval.events import event, written
from keval.ids import JsonObject, digest
from keval.imports.changes import ImportedChanges
from keval.imports.judges import ImportedJudges
from keval.imports.rows import NO_SCORE
from keval.processes.disk_map import DiskMap

RETRACTED = "retracted"
"""What stands for the content of an event that was taken back: it is written once more, and counts again."""

REASON = "the imported file has no score any more"

_Imported = tuple[str | None, frozenset[str]]
"""What an import is of: the name of the evaluation, and the conditions."""


class ImportTarget:
    """The events of a log, each of which `take` is told, and what it lacks of a file's."""

    def __init__(self, *, is_empty: bool) -> None:
        self.there_already = 0
        """How many events of the file the log had."""
        self._is_empty = is_empty
        self._open = ExitStack()
        self._contents = self._open.enter_context(closing(DiskMap()))
        """By the id of an event: what it says."""
        self._changes = ImportedChanges(self._open.enter_context(closing(DiskMap())))
        self._judges = ImportedJudges()
        self._newest_runs: dict[_Imported, str] = {}
        self._tasks: dict[_Imported, int] = {}
        """How many tasks the newest of these runs has under each of its conditions."""
        self.conditions: set[str] = set()
        """Those of earlier imports."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def take(self, line: JsonObject) -> None:
        """Take note of an event of the log."""
        self._contents.set(line["id"], _content(line))
        if line["type"] == "retraction":
            self._contents.set(line["target"], RETRACTED)
        self._changes.take(line)
        self._judges.take(line)
        if line["type"] == "run" and line["command"] == "import":
            self._newest_runs[_imported(line)] = line["id"]
            self._tasks[_imported(line)] = max((each["tasks"] for each in line["conditions"].values()), default=0)
            self.conditions.update(line["conditions"])

    def lacking(self, lacked: JsonObject, line: bytes) -> list[bytes]:
        """Return the lines that are to be written of an event of the file, which comes with its own line."""
        known = None if self._is_empty else self._contents.get(lacked["id"])
        if _has_no_score(lacked):
            return self._taken_back(lacked, known)
        is_there = known == _content(lacked) and not self._is_replaced(lacked)
        self.there_already += is_there
        # In one file a sample has one record: of an empty log none has to be remembered.
        is_response = lacked["type"] == "response" and not self._is_empty
        change = self._changes.change_before(lacked, is_there=is_there) if is_response else None
        return ([] if change is None else [written(change)[1]]) + ([] if is_there else [line])

    def _taken_back(self, judgment: JsonObject, known: str | int | None) -> list[bytes]:
        """Return the line that takes back what a judgment said before the file lost its scores: it is none any more."""
        if known is None or known == RETRACTED:
            return []
        target, own = judgment["id"], judgment["run_id"]
        taken = event("retraction", digest("retraction", target, own), own, target=target, reason=REASON, author=None)
        return [written(taken)[1]]

    def warnings(
        self, name: str, judges: Sequence[ForeignJudge], conditions: Collection[str], tasks: int
    ) -> Iterator[str]:
        """Yield what is to be said of scores that do not count, or are not compared, once all is written.

        `tasks` is how many the file has under each of its conditions.
        """
        yield from self._changes.warnings()
        yield from self._judges.warnings_of(judges, conditions)
        yield from self._mixed(name, conditions, tasks)

    def _mixed(self, name: str, conditions: Collection[str], tasks: int) -> Iterator[str]:
        """Yield under which conditions an earlier file, whose place this one does not take, has more answers."""
        larger = (its for (known, its), number in self._tasks.items() if known == name and number > tasks)
        earlier = (its for its in larger if its != set(conditions))
        mixed = sorted({condition for others in earlier for condition in others if condition in conditions})
        if mixed:
            yield (
                f"answers of an earlier import of {name} count beside those of this file under {first_of(mixed)}, as "
                "its other conditions are not the same; to compare versions, import each into a log of its own, and "
                "keval compare both"
            )

    def _is_replaced(self, run: JsonObject) -> bool:
        """Whether a later import took the place of this run: it takes that one's then, and is written once more."""
        return run["type"] == "run" and bool(self._newest_runs.get(_imported(run)) != run["id"])


def _imported(run: JsonObject) -> _Imported:
    return run["config_name"], frozenset(run["conditions"])


def _has_no_score(event_: JsonObject) -> bool:
    """Whether an event is a judgment that says nothing."""
    is_judgment = event_["type"] == "judgment"
    return is_judgment and all(given.get("not_applicable") == NO_SCORE for given in event_["scores"].values())


def _content(event_: JsonObject) -> str:
    """Return the hash of what an event says; a run, which has the time and the machine in it, is known by its id."""
    if event_["type"] == "run":
        return str(event_["id"])
    return digest({name: value for name, value in event_.items() if name not in {"time", "run_id"}})
