"""What a section of a config is mostly about: who writes only that is told under which key it goes."""

from __future__ import annotations

from collections.abc import Sequence

_MAIN_KEYS = {"dataset": "path", "agent": "type", "judge": "type", "judges": "type", "conditions": "system_prompt"}


def with_main_key(keys: Sequence[str | int], message: str) -> str:
    """Return what is said of a section that is a text, with the key under which that text belongs."""
    in_place = len(keys) == 1 + (bool(keys) and keys[0] in {"judges", "conditions"})
    if not in_place or keys[0] not in _MAIN_KEYS or not message.startswith("expected an object, found '"):
        return message
    return f"{message}; write {{{_MAIN_KEYS[str(keys[0])]}: …}}"
