"""Fills `{placeholders}` in what a config gives an agent to send."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any


def fill(template: str, values: Mapping[str, object]) -> str:
    """Return a template with its `{placeholders}` filled in; `{{` and `}}` are literal braces.

    Raises ValueError for a placeholder that there is not, and for a lone brace.
    """
    filled = []
    for literal, name, spec, conversion in _parsed(template):
        filled.append(literal)
        if name is None:
            continue
        if name not in values or spec or conversion:
            known = ", ".join(f"{{{key}}}" for key in values)
            raise ValueError(f"unknown placeholder {{{name}}} (known: {known}; a literal brace is {{{{)")
        filled.append(str(values[name]))
    return "".join(filled)


def _parsed(template: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(template))
    except ValueError:
        raise ValueError(f"{template!r} has a lone brace; a literal brace is {{{{ or }}}}") from None


def fill_all(template: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with the placeholders of all its texts filled in; its keys stay as they are.

    A text that is one placeholder and nothing else becomes the value itself, a list for example.
    Raises ValueError as `fill` does.
    """
    if isinstance(template, Mapping):
        return {key: fill_all(item, values) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [fill_all(item, values) for item in template]
    if not isinstance(template, str):
        return template
    alone = template[1:-1] if template.startswith("{") and template.endswith("}") else ""
    return values[alone] if alone in values else fill(template, values)
