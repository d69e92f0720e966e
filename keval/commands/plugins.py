"""List agents, judges, datasets and report formats with their options, and rubrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from keval import nearest, plugins
from keval.commands.messages import say, say_json
from keval.errors import PluginError
from keval.judges import rubric

KINDS = (*plugins.KINDS, "rubric")
"""What is listed: plug-ins, and the rubrics that come with keval."""

NAMED_BY = {"export": "keval report -f", "format": "keval export -f", "origin": "keval import --from"}
"""What takes the name of a plug-in that no config names."""


class _Kind(click.Choice[str]):
    """A kind of plug-in; one that is misspelt gets the nearest."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ANN401 - as click types it
        """Return what is said of another word."""
        return super().get_invalid_choice_message(value, ctx).removesuffix(".") + nearest.hint(value, KINDS)


@click.command(epilog="Example: keval plugins judge")
@click.argument("kind", metavar="[KIND]", required=False, type=_Kind(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per plug-in.")
def command(kind: str | None, as_json: bool) -> None:
    """List what can be named in a config or on the command line, with the options of each.

    KIND is agent, judge, dataset, export (what `keval report -f` takes), format (`keval export -f`), origin
    (`keval import --from`) or rubric; without one, all are listed.
    """
    broken: list[str] = []
    for each in [kind] if kind else KINDS:
        for described in _rubrics() if each == "rubric" else _plugins(each, broken):
            if as_json:
                say_json(described)
            else:
                for line in _text(described):
                    say(line)
    if broken:
        raise PluginError(*broken)


def _plugins(kind: str, broken: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what works, and note what is wrong with the others: one broken plug-in hides no other."""
    for name, plugin in plugins.find(kind).items():
        try:
            summary, options = plugins.summary(plugin), _options(kind, name)
        except PluginError as error:
            broken.extend(error.problems)
        else:
            yield {"kind": kind, "name": name, "summary": summary, "options": options}


def _rubrics() -> Iterator[dict[str, Any]]:
    for name, summary in rubric.shipped().items():
        yield {"kind": "rubric", "name": name, "summary": summary, "options": []}


def _options(kind: str, name: str) -> list[dict[str, Any]]:
    loaded = plugins.load(kind, plugins.base(kind), name)
    return [
        {"name": option.name, "type": option.annotation, "required": option.required, "default": option.default,
         "help": option.help}
        for option in plugins.options(loaded)
    ]  # fmt: skip


def _text(described: dict[str, Any]) -> Iterator[str]:
    name = described["name"]
    taken = f" ({NAMED_BY[described['kind']]} {name})" if described["kind"] in NAMED_BY else ""
    yield f"{described['kind']} {name}{taken}: {described['summary']}"
    for option in described["options"]:
        default = "required" if option["required"] else f"default {option['default']!r}"
        yield f"    {option['name']}: {option['type']} ({default}) {option['help']}".rstrip()
