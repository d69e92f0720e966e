"""What failed: grouped by kind and message, each with a sample in which it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.failure_kinds import FAILURE_KINDS
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import load
from keval.viewer import addresses

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from keval.viewer.pages import Pages
    from keval.viewer.snapshot import Snapshot, Snapshots

MOST = 200
"""Messages on the page; the most frequent ones come first."""

_KNOWN = {row.kind: row for row in FAILURE_KINDS}


@dataclass(frozen=True, slots=True)
class Message:
    """Failures of one kind that say the same."""

    who: str
    """The stage, with the name of the judge if it is one's."""
    failures: int
    conditions: str
    message: str
    sample_id: str
    address: str


@dataclass(frozen=True, slots=True)
class FailuresOfKind:
    """Failures of one kind."""

    name: str
    happened: str
    next_step: str
    addresses: tuple[tuple[str, str], ...]
    """Where their samples are listed, by condition: a list is of one."""
    messages: tuple[Message, ...]


def show(pages: Pages, snapshots: Snapshots, snapshot: Snapshot, request: Request) -> Response:
    """Return the page of failures that nothing has come of since."""
    del snapshots
    with snapshot.asked() as connection:
        found = list(rows(connection, load("viewer", "failures", most=str(MOST + 1))))
    return pages.draw(
        "failures.html",
        request,
        snapshot,
        "Failures",
        kinds=list(_kinds(found[:MOST])),
        is_cut=len(found) > MOST,
        most=MOST,
    )


def _kinds(found: Iterable[JsonObject]) -> Iterator[FailuresOfKind]:
    by_kind: dict[str, list[JsonObject]] = {}
    for row in found:
        by_kind.setdefault(row["kind"], []).append(row)
    for name, failures in by_kind.items():
        known = _KNOWN.get(name)  # type: ignore[call-overload] # a log may have other kinds
        happened, next_step = ("", "") if known is None else (known.happened, known.next_step)
        conditions = sorted({condition for row in failures for condition in row["conditions"]})
        lists = ((each, addresses.samples({"condition": each, "kind": name})) for each in conditions)
        yield FailuresOfKind(name, happened, next_step, tuple(lists), tuple(map(_message, failures)))


def _message(row: JsonObject) -> Message:
    return Message(
        row["stage"] if row["judge"] is None else f"{row['stage']} {row['judge']}",
        row["failures"],
        ", ".join(row["conditions"]),
        row["message"],
        row["sample_id"],
        addresses.sample(row["sample_id"], condition=row["conditions"][-1]),
    )
