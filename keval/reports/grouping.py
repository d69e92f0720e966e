"""Refuses to group samples by a field that none of them has: all of them would be one group, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keval.documents.mapping import steps, way_out
from keval.errors import UsageError
from keval.nearest import near
from keval.stats.groups import known_fields, leads_inside

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def check_known(connection: DuckDBPyConnection, fields: Sequence[str], asked: str = "--by") -> None:
    """Raise UsageError for a field that no sample has, with its likely name or what makes one of a path.

    `asked`: how the user named it.

    The connection needs its views of texts.
    """
    known = known_fields(connection)
    for field in fields:
        if field not in known:
            wrong = _no_field(field, known, asked, is_inside=_is_path(connection, field))
            raise UsageError(f"{asked} {field}: {wrong}")


def _is_path(connection: DuckDBPyConnection, name: str) -> bool:
    """Return whether a name is a path to something inside a field of some sample, such as `meta.level`."""
    try:
        return leads_inside(connection, steps(name))
    except ValueError:  # it is no path
        return False


def _no_field(name: str, known: Sequence[str], asked: str, *, is_inside: bool) -> str:
    """Return what is wrong with the name of a field that no sample has."""
    if not is_inside:
        return f"no sample has such a field; {near(name, known)}"
    made, makes_it = way_out(name, known)
    return f"it stands inside a field, and {asked} takes a field: {makes_it} in the config's dataset makes {made} one"
