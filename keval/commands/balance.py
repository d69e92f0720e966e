"""Show how a dataset's samples are spread over categories, and what is missing."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click
import orjson

from keval.commands.messages import say, say_json, warn
from keval.commands.options import INPUT_FILE, FiniteRange
from keval.config.samples import read_samples
from keval.counted import counted
from keval.documents.mapping import has
from keval.logs.outputs import check_stdout
from keval.nearest import near
from keval.preparation.balance import MOST_GAPS, Balance, balance


@click.command(epilog="Example: keval balance questions.jsonl --by category --by difficulty")
@click.argument("path", metavar="DATASET|CONFIG", type=INPUT_FILE)
@click.option("--by", metavar="FIELD", multiple=True,
              help="Divide by this field, such as metadata.category; may be repeated.")  # fmt: skip
@click.option("-t", "--threshold", type=FiniteRange(min=0, max=100), default=50, show_default=True,
              metavar="PERCENT", help="What share of an even part is too small.")  # fmt: skip
@click.option("-f", "--format", "written", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="For people or for programs.")  # fmt: skip
def command(path: Path, by: tuple[str, ...], threshold: float, written: str) -> None:
    """Show how a dataset's samples are spread over categories, and what is missing.

    Without --by the field is `category`, or else every field with few and short values. With several
    --by, combinations that no sample has are named. Fields such as `polarity` tell positive, negative and
    edge cases apart.
    """
    check_stdout([path], "write to another file")
    samples = read_samples(path)
    for name in by:
        if not any(has(sample, name) for sample in samples):
            warn(f"no sample has a field {name!r}; {near(name, dict.fromkeys(chain.from_iterable(samples)))}")
    found = balance(samples, by, threshold)
    if written == "json":
        say_json(found.as_json(), orjson.OPT_INDENT_2)
    else:
        _print(found)


def _print(found: Balance) -> None:
    say(counted(found.samples, "sample"))
    for field, categories in found.fields.items():
        say(f"{field}:")
        for each in categories:
            say(f"  {each.count:>6}  {each.share:>6.1%}  {each.name}{'  (too few)' if each.underrepresented else ''}")
    if found.kinds is not None:
        said = ", ".join(f"{count} {kind}" for kind, count in found.kinds.items())
        say(f"cases: {said}, {found.samples} altogether")
    for gap in found.gaps[:MOST_GAPS]:
        say(f"gap: {', '.join(f'{field} {value}' for field, value in zip(found.fields, gap, strict=True))}")
    if len(found.gaps) > MOST_GAPS:
        say(f"… and {len(found.gaps) - MOST_GAPS} more gaps")
    for suggestion in found.suggestions:
        say(f"- {suggestion}")
