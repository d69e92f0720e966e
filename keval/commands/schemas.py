"""Print the JSON Schemas that every record is checked against."""

from __future__ import annotations

import click
import orjson

from keval import nearest, schema
from keval.errors import UsageError


@click.command(epilog="Example: keval schemas judgment > judgment.schema.json")
@click.argument("name", metavar="[NAME]", required=False)
def command(name: str | None) -> None:
    """Print one JSON Schema, or the names of all."""
    names = schema.names()
    if name is None:
        click.echo("\n".join(names))
    elif name in names:
        # With everything that it refers to: one file that any validator can use.
        click.echo(orjson.dumps(schema.document(name), option=orjson.OPT_INDENT_2))
    else:
        raise UsageError(f"no schema {name!r}{nearest.hint(name, names)} (known: {', '.join(names)})")
