"""Leaves out of a comparison of logs the samples of which judges were given something else in each.

A score by one golden answer says nothing of one by another. Whether a record was edited its hash tells; which fields
of it were, the record itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson

from keval.ids import JsonObject, changed_fields
from keval.projections import rows
from keval.projections.sql_file import literals, load

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Records = Callable[[int, Sequence[str]], Mapping[str, JsonObject]]
"""Gives the newest records of the samples that are named, by the number of a log."""

APART = frozenset({"id", "question"})
"""Fields of a sample whose edit makes another sample or another question."""


def records_of(connection: DuckDBPyConnection, samples: str, names: Sequence[str]) -> dict[str, JsonObject]:
    """Return the newest records of the samples that are named; `samples` is the view that has them."""
    query = load("compare", "records_of", samples=samples, names=literals(names))
    return {row["sample_id"]: orjson.loads(row["sample"]) for row in rows(connection, query)}


class LeftOut(NamedTuple):
    """Why scores of a sample are left out."""

    fields: str
    """Those that differ, for people."""
    judges: frozenset[str]
    """The ids of the judges whose scores these are; empty for all judges of both logs."""


def leave_out_edited_records(
    connection: DuckDBPyConnection, one: int, other: int, records: Records
) -> dict[str, LeftOut]:
    """Leave out of all means, by judge, the samples of which it is given something else in each of two logs.

    Returns these samples.
    """
    numbers = {"one": str(one), "other": str(other)}
    names = [row["sample_id"] for row in rows(connection, load("compare", "differing_records", **numbers))]
    if not names:
        return {}
    judges = {row["judge_id"]: row["fields"] for row in rows(connection, load("compare", "given", **numbers))}
    before, now = records(one, names), records(other, names)
    left_out: dict[str, LeftOut] = {}
    by_judges: dict[frozenset[str], list[str]] = {}
    for name in names:
        edited = set(changed_fields(before[name], now[name])) - APART
        given = {judge: edited if fields is None else edited.intersection(fields) for judge, fields in judges.items()}
        if any(given.values()):
            unmoved = frozenset(judge for judge, fields in given.items() if not fields)
            by_judges.setdefault(unmoved, []).append(name)
            fields = ", ".join(sorted(set().union(*given.values())))
            left_out[name] = LeftOut(fields, frozenset(given) - unmoved if unmoved else frozenset())
    for unmoved, its in by_judges.items():
        # A metric that is computed from those of judges has no judgments, and so is left out with each of them.
        connection.execute(load("compare", "leave_out_samples", names=literals(its), judges=literals(unmoved)))
    return left_out
