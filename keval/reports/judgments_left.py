"""Says what judges have still to do in a log, and what of it they tried and failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from keval.ids import JsonObject


class JudgmentsLeft(NamedTuple):
    """What one judge has still to do."""

    judge: str
    is_added: bool
    """Whether `keval judge -j` told of it, and no config does."""
    of_pairs: bool
    missing: int
    """Judgments that nobody began."""
    failed: int
    """Judgments that failed."""
    failed_replicates: int
    """Those of `failed` whose answer has another judgment of the judge, so that they are no open failure."""


def judgments_left(ask: Callable[[str], Iterable[JsonObject]]) -> list[JudgmentsLeft]:
    """Return what each judge has still to do, in the order of their names; `ask` finds the rows of a query."""
    # Whether there are any is found quickly among millions of lines; how many is not.
    are_any = any(True for _ in ask("closed_failures"))
    replicates = {row["judge_id"]: row["number"] for row in ask("failed_replicates")} if are_any else {}
    return [_with_replicates(row, replicates.get(row["judge_id"], 0)) for row in ask("judgments_left")]


def _with_replicates(row: JsonObject, failed: int) -> JudgmentsLeft:
    """Return what a judge has to do, of which so many replicates failed that the row counts as not begun."""
    missing = max(row["missing"] - failed, 0)
    return JudgmentsLeft(row["judge"], row["is_added"], row["of_pairs"], missing, row["failed"] + failed, failed)
