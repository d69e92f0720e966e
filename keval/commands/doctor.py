"""Say what is installed, what is missing, and where things are."""

from __future__ import annotations

import os

import click

from keval.commands.messages import say, say_json
from keval.errors import EnvironmentLacksError


@click.command(epilog="Example: keval doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per part.")
def command(as_json: bool) -> None:
    """Say what is installed, what is missing, and where things are.

    Prints no key, only whether it is set, so that the output can be sent with a question. Whether a
    config can be run, with its keys and servers, is what `keval check CONFIG` says. Exit code 4 if
    something is missing without which nothing works.
    """
    from keval.processes.installation import Part, missing, parts

    found = list(parts(os.environ))
    width = max(len(part.name) for part in found)
    for part in found:
        if as_json:
            say_json({name: getattr(part, name) for name in Part.__slots__})
        else:
            state = "not there" if part.found is None else part.found
            say(f"{part.name.ljust(width)}  {state}" + (f" ({part.about})" if part.about else ""))
    if names := missing(found):
        raise EnvironmentLacksError(f"not there, and nothing works without: {', '.join(names)}")
