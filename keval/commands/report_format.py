"""Finds the format that a report is written in: by its name, or by the ending of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from keval import nearest, plugins
from keval.commands.options import PATH
from keval.commands.pager import terminal
from keval.errors import UsageError

if TYPE_CHECKING:
    from keval.exports import Export

Command = TypeVar("Command", bound=Callable[..., object])
Format = TypeVar("Format")

ALIASES = {"md": "markdown", "txt": "text"}
"""What formats are called beside their names, as in the endings of files."""

DEFAULT = "text"

LONGEST_WIDTH = 9
"""Digits of a number in COLUMNS; Python reads none of thousands."""

FORMAT_OPTION = click.option(
    "-O", "--option", "options", metavar="NAME=VALUE", multiple=True,
    help="An option of the format, such as width=80; may be repeated.",
)  # fmt: skip


def format_options(command: Command) -> Command:
    """Add what says how a report is written, and where to."""
    for option in (
        click.option("-o", "--output", metavar="FILE", type=PATH,
                     help="Write to FILE, not to stdout."),
        FORMAT_OPTION,
        click.option("-f", "--format", "export_name", metavar="FORMAT",
                     help="text, markdown or md, html, json, csv, or another that `keval plugins` lists; by default "
                          "what the ending of FILE says, else text."),
    ):  # fmt: skip
        command = option(command)
    return command


def export(name: str | None, options: Sequence[str] = (), output: Path | None = None) -> Export:
    """Return the format of a report that goes to a file or to stdout. Raises UsageError."""
    from keval.exports import Export

    chosen = _of_file(output) if name is None else ALIASES.get(name, name)
    known = plugins.find("export")
    if chosen not in known:
        raise UsageError(_unknown(name, chosen, [*known], output))
    return with_options(plugins.load("export", Export, chosen), chosen, options, _for_terminal(chosen, output))


def with_options(
    plugin: type[Format], name: str, options: Sequence[str], known: Mapping[str, Any] | None = None
) -> Format:
    """Return a format with its options, each written NAME=VALUE, beside those that are known. Raises UsageError."""
    from keval.config.plugin_options import read

    values, mistakes = read(plugin, {**(known or {}), **dict(map(_written, options))})
    if mistakes:
        raise UsageError(*(f"--option {'.'.join(map(str, keys)) or name}: {said}" for keys, said in mistakes))
    return plugin(**values)


def _of_file(output: Path | None) -> str:
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    return ALIASES.get(ending, ending) or DEFAULT


def _unknown(name: str | None, chosen: str, known: Sequence[str], output: Path | None) -> str:
    if name is None:
        return f"{output}: no report format is called {chosen!r}; -f names one (known: {', '.join(known)})"
    if chosen in plugins.find("format"):
        return f"{name!r} is no format of a report; `keval export -f {name}` writes it"
    return f"unknown format {name!r}{nearest.hint(chosen, [*known, *ALIASES])} (known: {', '.join(known)})"


def _written(option: str) -> tuple[str, Any]:
    """Return the name and the value of an option: a number, true, false or null as in JSON, else text."""
    import orjson

    name, equals, value = option.partition("=")
    if not (name and equals):
        raise UsageError(f"--option {option!r}: write NAME=VALUE, such as width=80")
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value


def _for_terminal(chosen: str, output: Path | None) -> dict[str, Any]:
    """Return the options that make the text report fit a terminal, or into a pipe what COLUMNS says."""
    if chosen != "text" or output is not None:
        return {}
    from keval.exports.text import NARROWEST

    shown_on = terminal()
    if shown_on is not None:
        return {"width": max(NARROWEST, shown_on.width), "color": shown_on.color}
    columns = os.environ.get("COLUMNS", "")
    is_width = columns.isascii() and columns.isdigit() and len(columns) <= LONGEST_WIDTH
    return {"width": max(NARROWEST, int(columns))} if is_width else {}
