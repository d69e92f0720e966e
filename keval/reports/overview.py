"""Says in one line what a log holds: answers, judgments, conditions, and whether all that was planned is there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from keval.counted import counted
from keval.ids import JsonObject
from keval.reports.judgments_left import judgments_left
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
    """Whether a stand-in made answers or judgments of it."""
    conditions: tuple[str, ...]
    failed: int
    """Tasks that ended without an answer; of several evaluations those of the newest."""
    evaluations: tuple[str, ...]
    """The names of the configs that something was planned by."""
    not_done: int | None
    """Planned tasks that were not tried yet; None if no run says what was planned."""
    missing_judgments: int
    """Judgments that the config's judges are to make and have not made."""
    failed_judgments: int
    """Judgments that they tried to make and failed."""

    @property
    def state(self) -> str:
        """Whether it is complete, in words."""
        if len(self.evaluations) > 1:
            return f"{len(self.evaluations)} evaluations"
        if self.not_done is None:
            return "no plan"
        left = (
            (self.not_done, f"{self.not_done:,} not done"),
            (self.failed, f"{self.failed:,} failed"),
            (self.missing_judgments, f"{counted(self.missing_judgments, 'judgment')} missing"),
            (self.failed_judgments, f"{counted(self.failed_judgments, 'judgment')} failed"),
        )
        return ", ".join(said for number, said in left if number) or "complete"

    def as_json(self) -> JsonObject:
        """Return it as one JSON object."""
        lists = {"conditions": list(self.conditions), "evaluations": list(self.evaluations)}
        return {**asdict(self), **lists, "state": self.state}


READ = (
    "conditions",
    "current_judges",
    "current_lines",
    "events",
    "judge_baselines",
    "judgment_facts",
    "standing",
    "missing",
    "pair_judges",
    "response_facts",
    "run_facts",
    "sampling",
)
"""The tables and views that are asked."""


def overview(connection: DuckDBPyConnection) -> Overview:
    """Return what the log holds whose views a connection has."""
    (row,) = ask(connection, "overview")
    judges = judgments_left(partial(ask, connection))
    return Overview(
        **{
            **row,
            "mock": bool(row["mock"]),
            "conditions": tuple(row["conditions"] or ()),
            "failed": row["failed"] or 0,
            "missing_judgments": sum(judge.missing for judge in judges),
            "failed_judgments": sum(judge.failed for judge in judges),
            "evaluations": tuple(each["name"] for each in ask(connection, "evaluation_names")),
        }
    )
