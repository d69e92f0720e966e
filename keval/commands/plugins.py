"""List agents, judges, datasets and report formats, with their options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import orjson

from keval import plugins
from keval.commands.messages import say


@click.command(epilog="Example: keval plugins judge")
@click.argument("kind", metavar="[KIND]", required=False, type=click.Choice(plugins.KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per plug-in.")
def command(kind: str | None, as_json: bool) -> None:
    """List what can be named in a config or on the command line, with the options of each."""
    for each in [kind] if kind else plugins.KINDS:
        for name, plugin in plugins.find(each).items():
            described = {
                "kind": each,
                "name": name,
                "summary": plugins.summary(plugin),
                "options": _options(each, name),
            }
            if as_json:
                click.echo(orjson.dumps(described, default=str))
            else:
                for line in _text(described):
                    say(line)


def _options(kind: str, name: str) -> list[dict[str, Any]]:
    loaded = plugins.load(kind, plugins.base(kind), name)
    return [
        {"name": option.name, "type": option.annotation, "required": option.required, "default": option.default,
         "help": option.help}
        for option in plugins.options(loaded)
    ]  # fmt: skip


def _text(described: dict[str, Any]) -> Iterator[str]:
    yield f"{described['kind']} {described['name']}: {described['summary']}"
    for option in described["options"]:
        default = "required" if option["required"] else f"default {option['default']!r}"
        yield f"    {option['name']}: {option['type']} ({default}) {option['help']}".rstrip()
