"""Reads SQL from files: all but the shortest queries stand in files, where people can read them and DuckDB run them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from keval.errors import InputError

_COMMENT_OR_PARAMETER = re.compile(r"--.*|\$([a-z_]+)")

PACKAGE = Path(__file__).parent.parent

WILDCARDS = "*?["
"""What begins a wildcard in a pattern of DuckDB."""


def load(folder: str, name: str, /, **parameters: str) -> str:
    """Return the text of `keval/<folder>/<name>.sql` with the SQL of each parameter in the place of `$parameter`.

    `$.field`, a path into JSON, is no parameter. Raises KeyError for one that is not given. Comments stay as they are:
    a parameter may be a name from a log, and a line end in it would end the comment, so that its rest would be run.
    """
    return _COMMENT_OR_PARAMETER.sub(
        lambda found: found[0] if found[1] is None else parameters[found[1]], _text(folder, name)
    )


@cache
def _text(folder: str, name: str) -> str:
    return (PACKAGE / folder / f"{name}.sql").read_text(encoding="utf-8")


def literal(text: str) -> str:
    """Return a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Iterable[str]) -> str:
    """Return texts as an SQL list, which may be empty."""
    return f"[{', '.join(map(literal, texts))}]::varchar[]"


def json_path(*steps: str | int) -> str:
    """Return the path of a field of an object, whatever its name, or of what keys and indexes lead to, for DuckDB."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{_quoted(step)}" for step in steps)


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def verbatim(path: Path) -> str:
    """Return an absolute path without links as a pattern in which no character is a wildcard.

    Raises InputError for a path that DuckDB has no pattern for.
    """
    real = str(path.resolve())
    pattern = with_escaped(real)
    if "\\" in real and pattern != real:  # in a path with a wildcard DuckDB takes it for an escape
        raise InputError(
            f"{path}: DuckDB reads no path that has a backslash and one of *, ? and [; rename it, or a folder"
        )
    return pattern


def with_escaped(text: str, wildcards: str = WILDCARDS) -> str:
    """Return a text as a pattern in which these wildcards mean themselves."""
    return "".join(f"[{character}]" if character in wildcards else character for character in text)
