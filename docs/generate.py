"""Writes the parts of the docs that are known to the code; the cog blocks in the pages call it.

    make docs                      rewrites them
    python docs/generate.py        rewrites the handbook of examples/quickstart from the pages, and the picture
                                   of docs/performance.md from the newest results

Each function returns Markdown.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parent.parent))  # cog finds this file, which finds the benchmarks

from benchmarks import growth_chart
from benchmarks.benchmark import described, newest
from keval import cli, failure_kinds, plugins, projections, schema
from keval.errors import EXIT_CODES
from keval.formats import parquet
from keval.judges import rubric
from keval.models import prices
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE

DOCS = Path(__file__).parent
HANDBOOK = DOCS.parent / "examples" / "quickstart" / "handbook"

GROWTH = DOCS / "growth.svg"

WIDTH = 96
"""Columns of a command's help, whatever terminal the docs are made on."""

HANDBOOK_SECTIONS = {
    "concepts.md": ("Tasks", "Gates", "The agent's own failures"),
    "log.md": ("Resume", "Ids", "Merging logs", "Durability", "A torn last line", "One writer per stage"),
    "judging.md": ("What the judge sees", "A reply that cannot be used", "Replicates"),
    "agents.md": ("The environment", "MCP servers are ready or the task fails"),
    "mock.md": ("What `mock: true` means",),
    "commands.md": ("Exit codes",),
}
"""The sections that the quickstart's questions are about, by page."""

Schema = Mapping[str, Any]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def commands() -> str:
    """Return the help of every command."""
    group = cli.root
    context = click.Context(group, info_name="keval", terminal_width=WIDTH, **group.context_settings)
    pages = [("keval", group.get_help(context))]
    for name in cli.COMMANDS:
        command = group.get_command(context, name)
        if command is None:
            raise LookupError(name)
        own = click.Context(command, parent=context, info_name=name, terminal_width=WIDTH, **command.context_settings)
        pages.append((f"keval {name}", command.get_help(own)))
    return "\n\n".join(f"## {title}\n\n```text\n{text}\n```" for title, text in pages)


def exit_codes() -> str:
    """Return the exit codes with their meaning."""
    return table(("code", "means"), [(str(code), meaning) for code, meaning in EXIT_CODES.items()])


def plugin_options(kind: str) -> str:
    """Return all plug-ins of a kind with their options."""
    parts = []
    for name, plugin in plugins.find(kind).items():
        found = plugins.options(plugins.load(kind, plugins.base(kind), name))
        rows = [(f"`{each.name}`", f"`{each.annotation}`", _default(each), _sentence(each.help)) for each in found]
        options = table(("option", "type", "default", "what it is"), rows) if rows else "It has no options."
        parts.append(f"### {name}\n\n{plugins.summary(plugin)}\n\n{options}")
    return "\n\n".join(parts)


def rubrics() -> str:
    """Return keval's own rubrics with their metrics."""
    rows = []
    for name, summary in rubric.shipped().items():
        judge = rubric.Rubric(model="any", rubric=Path(name))
        metrics = ", ".join(f"`{metric.name}` {metric.min:g}–{metric.max:g}" for metric in judge.metrics)
        rows.append((f"`{name}`", metrics, summary))
    return table(("name", "metrics", "what it says"), rows)


def prompt_cache() -> str:
    """Return from how many tokens on the models keep a prompt."""
    models: dict[int, list[str]] = {}
    for model, tokens in prices.load().cached_from.items():
        models.setdefault(tokens, []).append(f"`{model}`")
    return table(("tokens", "models"), [(f"{tokens:,}", ", ".join(names)) for tokens, names in models.items()])


def _default(option: plugins.Option) -> str:
    return "required" if option.required else f"`{_as_yaml(option.default)}`"


def _as_yaml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, default=str)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def kinds_of_failure() -> str:
    """Return all kinds of failure."""
    counts_as = {"minimum": "the agent's own", "missing": "not measured"}
    rows = [
        (f"`{row.kind}`", row.happened, counts_as[row.counts_as], row.retried, row.next_step)
        for row in failure_kinds.FAILURE_KINDS
    ]
    return table(("kind", "what happened", "counts as", "tried again", "what to do"), rows)


def agents_own_failures() -> str:
    """Return the kinds of failure that count as the worst score, as a list within a sentence."""
    *others, last = [f"`{row.kind}`" for row in failure_kinds.FAILURE_KINDS if row.counts_as == "minimum"]
    return f"{', '.join(others)} and {last}"


def statistics(event_type: str) -> str:
    """Return the statistics of an `aggregate` or `comparison` event with their formulas."""
    rows = [
        (each.label if each.shown else "(not shown)", f"`{name}`", each.unit, each.formula)
        for name, each in STATISTICS[event_type].items()
    ]
    return table(("in the report", "in the event", "unit", "is"), rows)


def undefined(event_type: str) -> str:
    """Return when the statistics of an event are null."""
    rows = [(f"`{name}`", each.null_when) for name, each in STATISTICS[event_type].items() if each.null_when]
    return table(("number", "is null when"), rows)


STATISTICS = {"aggregate": AGGREGATE, "comparison": PAIRED}


def schemas() -> str:
    """Return all schemas with what they describe."""
    return table(
        ("schema", "describes"), [(f"`{name}`", schema.document(name)["description"]) for name in schema.names()]
    )


def envelope() -> str:
    """Return the fields that every event has."""
    return _fields(_document("event"))


def event_types() -> str:
    """Return the fields of each type of event, but for those that all have."""
    common = set(_document("event")["properties"])
    documents = {name: _document(name) for name in schema.EVENT_TYPES}
    return "\n\n".join(
        f"## {name}\n\n{document['description']}\n\n{_fields(document, leave_out=common)}"
        for name, document in documents.items()
    )


def event_parts() -> str:
    """Return the objects that stand in several types of events."""
    parts: dict[str, Schema] = {}
    for name in schema.EVENT_TYPES:
        parts |= {part: found for part, found in _document(name)["$defs"].items() if _has_own_section(found)}
    return "\n\n".join(f"### {name}\n\n{_part(part)}" for name, part in parts.items())


def _document(name: str) -> Schema:
    """Return a schema in which only objects and choices are still referred to: everything else stands in its place."""
    document = schema.document(name)
    found: Schema = _in_place(document, document["$defs"])
    return found


def _in_place(node: Any, parts: Schema) -> Any:  # noqa: ANN401 - any part of a schema
    if isinstance(node, list):
        return [_in_place(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    part = parts.get(_name(node.get("$ref", "")))
    if part is not None and not _has_own_section(part):
        return _in_place({**part, **{key: value for key, value in node.items() if key != "$ref"}}, parts)
    return {key: _in_place(value, parts) for key, value in node.items()}


def _has_own_section(part: Schema) -> bool:
    return "properties" in part or len(part.get("enum", ())) > 1


def _part(part: Schema) -> str:
    if "enum" in part:
        return f"{part['description']}\n\nOne of {_kind(part)}."
    if "allOf" in part:
        links = " or ".join(_link(branch["then"]["$ref"]) for branch in part["allOf"])
        return f"{part['description']} It is a {links} by its `type`."
    return f"{part['description']}\n\n{_fields(part)}"


def config_keys() -> str:
    """Return all keys of a config with their defaults, and those of an MCP server."""
    document = _document("config")
    parts = [
        _fields(document),
        "### dataset",
        _fields(document["$defs"]["dataset"]),
        "### rule",
        _rule_keys(document),
        "### judge",
        _fields(_document("judge")),
        "### computed_metric",
        _by_type(document["$defs"]["computed_metric"]),
        "### mcp_server",
        _by_type(document["$defs"]["mcp_server"]),
    ]
    return "\n\n".join(parts)


def _by_type(part: Schema) -> str:
    """Return the fields of what has others with each type."""
    parts = [part["description"]]
    for branch in part["allOf"]:
        types = branch["if"]["properties"]["type"]
        written = " or ".join(f"`{name}`" for name in types.get("enum", [types.get("const")]))
        found = {**branch["then"], "required": [*part["required"], *branch["then"]["required"]]}
        parts += [f"With type {written}:", _fields(found)]
    return "\n\n".join(parts)


def import_keys() -> str:
    """Return all keys of a mapping for `keval import`."""
    document = _document("import")
    return "\n\n".join([_fields(document), "### rule", _rule_keys(document)])


def adapter_keys() -> str:
    """Return all keys of an adapter."""
    document = _document("adapter")
    return "\n\n".join(
        [
            _fields(document),
            "### event_rule",
            document["$defs"]["event_rule"]["description"],
            _fields(document["$defs"]["event_rule"]),
        ]
    )


def _rule_keys(document: Schema) -> str:
    rule = document["$defs"]["rule"]
    return f"{rule['description']}\n\n{_fields(rule)}"


def _fields(part: Schema, leave_out: Collection[str] = ()) -> str:
    rows = [
        (f"`{path}`" + ("" if required else " ?"), _kind(field), field.get("description", ""))
        for path, field, required in _flattened(part, "")
        if path.partition(".")[0] not in leave_out
    ]
    return table(("field", "type", "what it is"), rows)


def _flattened(part: Schema, prefix: str) -> Iterator[tuple[str, Schema, bool]]:
    """Yield path, schema and whether it must be there, of the fields of an object and of what is in them."""
    for name, field in part["properties"].items():
        yield prefix + name, field, name in part.get("required", ())
        for suffix, inner in (
            ("", field),
            ("[]", field.get("items", {})),
            (".NAME", field.get("additionalProperties")),
            *(("", branch) for branch in field.get("oneOf", ())),
        ):
            if isinstance(inner, dict) and "properties" in inner:
                yield from _flattened(inner, f"{prefix}{name}{suffix}.")


def _kind(field: Schema) -> str:
    """Return what a value may be, in words."""
    if "$ref" in field:
        return _link(field["$ref"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "oneOf" in field:
        return " or ".join(map(_kind, field["oneOf"]))
    if "enum" in field:
        text = ", ".join(f"`{value}`" for value in field["enum"])
    else:
        written = field.get("type", "anything")
        kinds = [written] if isinstance(written, str) else written
        text = " or ".join(_named(kind, field) for kind in kinds)
    return text + (f", default `{json.dumps(field['default'])}`" if "default" in field else "")


def _named(kind: str, field: Schema) -> str:
    inner = field.get("items") if kind == "array" else field.get("additionalProperties") if kind == "object" else None
    of = f" of {_kind(inner)}" if isinstance(inner, dict) and "properties" not in inner else ""
    told = {key: sign for key, sign in BOUNDS.items() if key in field and abs(field[key]) < LARGE}
    bounds = [f" {sign} {field[key]}" for key, sign in told.items() if kind in ("integer", "number")]
    return {"array": "list"}.get(kind, kind) + of + "".join(bounds)


LARGE = 10**9
"""From here on a bound says only what every reader can hold; the page of the events says so once."""

BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def _link(ref: str) -> str:
    return f"[{_name(ref)}](#{_name(ref)})"


def _name(ref: str) -> str:
    return re.split("[/:]", ref)[-1]


def views(names: Collection[str]) -> str:
    """Return what one row of each view is, and its columns."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "empty.jsonl"
        log.touch()
        with projections.connect([log]) as connection:
            columns = {name: connection.sql(f"DESCRIBE {name}").fetchall() for name in names}
    return "\n\n".join(
        f"### {name}\n\n{projections.about(name)}\n\n{table(('column', 'type'), [_column(row) for row in found])}"
        for name, found in columns.items()
    )


def steps_between() -> list[str]:
    """Return the names of the other views, in the order in which they are made."""
    return [name for name in projections.VIEWS if name not in parquet.VIEWS]


def _column(row: tuple[Any, ...]) -> tuple[str, str]:
    name, kind = row[:2]
    return f"`{name}`", kind.replace('"', "").lower()


def section(page: str, heading: str) -> str:
    """Return one section of a page, heading included, without generator blocks."""
    text = re.sub(r"<!-- .*? -->\n?", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.search(rf"^## {re.escape(heading)}$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError(f"{page} has no section {heading!r}")
    return re.sub(r"\n{3,}", "\n\n", found[0]).strip()


def handbook() -> dict[str, str]:
    """Return the pages that the quickstart searches, by file name: sections of the docs, word for word."""
    return {
        page: "\n\n".join(section(page, heading) for heading in headings) + "\n"
        for page, headings in HANDBOOK_SECTIONS.items()
    }


def measured(name: str) -> str:
    """Return the tables of a benchmark from its newest raw results, and what they were made with."""
    benchmark = importlib.import_module(f"benchmarks.{name}").BENCHMARK
    results = newest(name)
    if results is None:
        return "Not measured yet."
    link = f"[raw results](../{results.path.relative_to(DOCS.parent)})"
    return f"{benchmark.tables(results.measurements)}\n\n{described(results)} {link}"


def growth_picture() -> str:
    """Return the picture of the newest growth as SVG; empty if it was never measured."""
    results = newest("growth")
    return growth_chart.svg(results.measurements) if results else ""


if __name__ == "__main__":
    GROWTH.write_text(growth_picture(), encoding="utf-8")
    for page, text in handbook().items():
        (HANDBOOK / page).write_text(text, encoding="utf-8")
