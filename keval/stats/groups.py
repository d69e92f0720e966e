"""Numbers and differences of groups of samples, by what the dataset says of them: they explore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.projections import rows
from keval.projections.sql_file import json_path, literal, load
from keval.projections.views import definition

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_COMPUTED = ("condition_means", "variance_components", "cluster_errors", "computed_means", "condition_scores")
"""The views that are computed once more, of groups."""

_COMPARED = ("paired_samples", "condition_means", "pair_bounds", "comparisons")
"""Those that differences are computed by."""


def group_rows(connection: DuckDBPyConnection, fields: Sequence[str]) -> Iterator[JsonObject]:
    """Yield what `condition_scores` says, of each group of samples that have a value of each of these fields in common.

    In the order of conditions, metrics and values. The connection needs its views of texts.
    """
    yield from _named(connection, fields, load("projections", "group_scores", **_parts(fields, _COMPUTED)))


def group_comparison_rows(connection: DuckDBPyConnection, fields: Sequence[str]) -> Iterator[JsonObject]:
    """Yield what `comparisons` says, of each group; in the same order, and with the same views."""
    yield from _named(connection, fields, load("projections", "group_comparisons", **_parts(fields, _COMPARED)))


def _parts(fields: Sequence[str], computed: Sequence[str]) -> dict[str, str]:
    """Return the SQL of what the queries of groups are put together from."""
    tables = load("projections", "group_tables", by=_values(fields))
    return {"tables": tables, **{name: f"\n{definition(name)}\n" for name in computed}}


def _named(connection: DuckDBPyConnection, fields: Sequence[str], query: str) -> Iterator[JsonObject]:
    for row in rows(connection, query):
        yield {**row, "by": dict(zip(fields, row["by"], strict=True))}


def ungrouped(connection: DuckDBPyConnection, fields: Sequence[str]) -> int:
    """Return how many samples are in no group, because they lack a field, or have null or an empty list there."""
    ((count,),) = connection.execute(load("projections", "ungrouped", by=_values(fields))).fetchall()
    return int(count)


def known_fields(connection: DuckDBPyConnection) -> list[str]:
    """Return the fields that any sample has, in the order of their names."""
    return [str(field) for (field,) in connection.execute(load("projections", "sample_fields")).fetchall()]


def leads_inside(connection: DuckDBPyConnection, steps: Sequence[str | int]) -> bool:
    """Return whether a path of keys and indexes leads to something in some sample."""
    path = literal(json_path(*steps))
    ((found,),) = connection.execute(load("projections", "any_inside", path=path)).fetchall()
    return bool(found)


def _values(fields: Sequence[str]) -> str:
    """Return the SQL of a sample's groups, each the values of all fields as texts: of a list one of its elements."""
    groups = "[[]::varchar[]]"
    for field in fields:
        each = f"lambda earlier: list_transform({_elements(field)}, lambda value: list_append(earlier, value))"
        groups = f"flatten(list_transform({groups}, {each}))"
    return groups


def _elements(field: str) -> str:
    """Return the SQL of the different values that a sample has of a field, none where it lacks it or has null there.

    Raises UsageError for a field called * or by nothing.
    """
    if not field:
        raise UsageError("samples cannot be grouped by a field without a name")
    if field == "*":  # in a path it means all fields, however it is quoted
        raise UsageError("samples cannot be grouped by a field called *; `fields` of the dataset gives it another name")
    value, items = literal(json_path(field)), literal(json_path(field) + "[*]")
    return f"list_distinct(if(json_type(sample, {value}) = 'ARRAY', sample ->> {items}, [sample ->> {value}]))"
