"""Leaves out of a config what people may have written into it literally, for a page that is handed on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keval.secrets.variables import SOUNDS_SECRET, VARIABLE

MASK = "…"
_ARGUMENT = re.compile(r"(?s)(--?[\w-]+)([= ])(.+)")
_SECTIONS = ("env", "headers")


def masked(value: Any, *, within: bool = False) -> Any:  # noqa: ANN401 - what JSON can be
    """Return a JSON value without the texts of `env` and `headers`, nor those of arguments that sound secret.

    A text that names a variable, such as `${TOKEN}`, stays: it says where the secret is, not which.
    """
    if isinstance(value, Mapping):
        return {name: masked(each, within=within or name in _SECTIONS) for name, each in value.items()}
    if isinstance(value, list):
        return [_word(each, value[place - 1] if place else None, within=within) for place, each in enumerate(value)]
    if within and isinstance(value, str) and not VARIABLE.search(value):
        return MASK
    return value


def _word(value: Any, before: Any, *, within: bool) -> Any:  # noqa: ANN401 - what JSON can be
    """Return an item of a list, as of the words of a command: `--token=x`, and `x` after `--token`."""
    if not isinstance(value, str) or VARIABLE.search(value):
        return masked(value, within=within)
    if isinstance(before, str) and before.startswith("-") and "=" not in before and SOUNDS_SECRET.search(before):
        return MASK
    found = _ARGUMENT.fullmatch(value)
    if found and SOUNDS_SECRET.search(found[1]):
        return f"{found[1]}{found[2]}{MASK}"
    return masked(value, within=within)
