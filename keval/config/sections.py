"""Parts of what a user wrote, checked by its schema or not: what is of the wrong kind is as if it were not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys
    from keval.ids import JsonObject

Problem = Callable[["Keys", str], None]
"""Takes note of what is wrong, and where."""


def mapping_in(section: Mapping[str, Any], key: str) -> JsonObject:
    """Return the mapping under a key, an empty one if there is none."""
    value = section.get(key)
    return value if isinstance(value, dict) else {}


def list_in(section: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under a key, an empty one if there is none."""
    value = section.get(key)
    return value if isinstance(value, list) else []


def whole(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a number such as 3.0 as 3, which JSON Schema takes for an integer too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
