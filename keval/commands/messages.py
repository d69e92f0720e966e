"""Says something on stdout or stderr: first the values of secrets are taken out, then what acts on a terminal."""

from __future__ import annotations

import click

from keval.printable import printable, printable_json
from keval.secrets.variables import Secrets


def say(line: str) -> None:
    """Print a line of text on stdout."""
    click.echo(shown(line))


def say_json(value: object, option: int = 0) -> None:
    """Print a value as JSON on stdout."""
    import orjson

    click.echo(printable_json(orjson.dumps(value, option=option, default=str)))


def warn(message: str) -> None:
    """Tell people something on stderr, in one line."""
    tell(f"keval: {message}")


def tell(*lines: str) -> None:
    """Print lines on stderr."""
    for line in lines:
        click.echo(shown(line), err=True)


def tell_text(text: str) -> None:
    """Print a text on stderr line by line; a secret that goes over several lines is taken out too."""
    tell(*Secrets.redact_all(text).splitlines())


def shown(line: str) -> str:
    """Return a line as it may be shown: no secret is in it, and nothing acts on a terminal."""
    return printable(Secrets.redact_all(line))
