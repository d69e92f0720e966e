"""Writes the parts of the schemas that tables in the code decide, so that each table stands in one place.

make docs                              rewrites them, before the pages
python docs/generate_schemas.py        does the same for the schemas alone
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain, dropwhile, takewhile
from typing import Any

from keval import failure_kinds, schema
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE, Statistic

WIDTH = 118
"""Columns up to which an object or array stands on one line."""


def written() -> dict[str, str]:
    """Return the text of each schema, by name."""
    documents = {name: _read(name) for name in (*schema.names(), "parts")}
    documents["parts"]["$defs"]["failure_kind"] = {
        "description": "Why it failed; docs/concepts.md says what each kind means and what it counts as.",
        "enum": list(failure_kinds.NAMES),
    }
    _put_in(documents["aggregate"], AGGREGATE)
    _put_in(documents["comparison"], PAIRED)
    return {name: as_text(document) + "\n" for name, document in documents.items()}


BEFORE, AFTER = "mock", "ci_level"
"""The fields of an event between which its statistics stand."""


def _put_in(document: dict[str, Any], statistics: Mapping[str, Statistic]) -> None:
    """Make the fields between `BEFORE` and `AFTER` those of the statistics."""
    properties = {
        name: {"description": each.description, "$ref": f"{schema.PARTS}#/$defs/{each.kind}"}
        for name, each in statistics.items()
    }
    required = [name for name, each in statistics.items() if each.required]
    fields: dict[str, Any] = document["properties"]
    document["properties"] = {name: properties.get(name, fields.get(name)) for name in _between(fields, properties)}
    document["required"] = _between(document["required"], required)


def _between(names: Iterable[str], put_in: Iterable[str]) -> list[str]:
    names = list(names)
    before = takewhile(lambda name: name != BEFORE, names)
    return list(chain(before, [BEFORE], put_in, dropwhile(lambda name: name != AFTER, names)))


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(schema.text(name))
    return document


def as_text(value: Any, level: int = 0, column: int = 0) -> str:  # noqa: ANN401 - any JSON value
    """Return JSON in the style of the schemas: what fits on a line stands on one, else each item on its own.

    `level` is how deep the value stands, `column` where on its line it begins.
    """
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (level and column + len(flat) < WIDTH):
        return flat
    indent = "  " * (level + 1)
    names = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    items = value.values() if isinstance(value, dict) else value
    lines = [
        indent + name + as_text(item, level + 1, len(indent + name)) for name, item in zip(names, items, strict=True)
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(lines) + "\n" + "  " * level + closing


if __name__ == "__main__":
    for schema_name, text in written().items():
        (schema.locate() / f"{schema_name}.schema.json").write_text(text, encoding="utf-8")
