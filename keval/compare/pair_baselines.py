"""Leaves judges of pairs out of a comparison of logs in which they compared with two baselines.

How often an answer is preferred says as much of the other one: a worse baseline makes the same answers better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from keval.projections import rows
from keval.projections.sql_file import literals, load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Baselines = dict[str, set[tuple[str, str]]]
"""The ids of the conditions and agents with whose answers each judge of pairs compared, by its id."""


def pair_baselines(connection: DuckDBPyConnection, facts: str = "facts") -> Baselines:
    """Return with what judges of pairs compared; `facts` is the view that has the events of a log."""
    found: Baselines = {}
    for row in rows(connection, load("compare", "pair_baselines", facts=facts)):
        found.setdefault(row["judge_id"], set()).add((row["condition_id"], row["agent_id"]))
    return found


def leave_out_other_baselines(connection: DuckDBPyConnection, one: Baselines, other: Baselines) -> list[str]:
    """Leave out of all means the judges that compared with other conditions in each of two logs; return their ids."""
    differing = [judge for judge in one if judge in other and one[judge] != other[judge]]
    connection.execute(load("compare", "leave_out_judges", judges=literals(differing)))
    return differing
