"""Says in one line what a log holds: answers, judgments, conditions, and whether all that was planned is there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.reports.queries import ask

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Overview:
    """What the newest plan's answers in a log come to."""

    answers: int
    judgments: int
    newest: str | None
    """Time of the newest event, RFC 3339, UTC; None of an empty log."""
    mock: bool
    """Whether a stand-in made answers of it."""
    conditions: tuple[str, ...]
    failed: int
    """Tasks that ended without an answer; of several evaluations those of the newest."""
    evaluations: tuple[str, ...]
    """The names of the configs that something was planned by."""
    not_done: int | None
    """Planned tasks that were not tried yet; None if no run says what was planned."""
    unjudged: int
    """Answers that no judge scored or failed to score, though one was to judge them."""

    @property
    def state(self) -> str:
        """Whether it is complete, in words."""
        if len(self.evaluations) > 1:
            return f"{len(self.evaluations)} evaluations"
        if self.not_done is None:
            return "no plan"
        left = {"not done": self.not_done, "failed": self.failed, "not judged": self.unjudged}
        return ", ".join(f"{number:,} {what}" for what, number in left.items() if number) or "complete"

    def as_json(self) -> JsonObject:
        """Return it as one JSON object."""
        lists = {"conditions": list(self.conditions), "evaluations": list(self.evaluations)}
        return {**asdict(self), **lists, "state": self.state}


READ = (
    "conditions",
    "events",
    "failure_facts",
    "judgment_facts",
    "line_standings",
    "metrics",
    "missing",
    "response_facts",
    "run_facts",
    "sampling",
)
"""The tables and views that are asked."""


def overview(connection: DuckDBPyConnection) -> Overview:
    """Return what the log holds whose views a connection has."""
    (row,) = ask(connection, "overview")
    return Overview(
        **{
            **row,
            "mock": bool(row["mock"]),
            "conditions": tuple(row["conditions"] or ()),
            "failed": row["failed"] or 0,
            "unjudged": sum(each["count"] for each in ask(connection, "unjudged")),
            "evaluations": tuple(each["name"] for each in ask(connection, "evaluation_names")),
        }
    )
