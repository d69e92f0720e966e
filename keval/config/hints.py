"""Says what is meant where a section of a config stands in another form: a text for a section, a section in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keval.documents.yaml_document import with_quotes_hint

_MAIN_KEYS = {"dataset": "path", "agent": "type", "judge": "type", "judges": "type", "conditions": "system_prompt"}


def with_hint(keys: Sequence[str | int], message: str, written: Mapping[str, object]) -> str:
    """Return what is said of a place in a file, with how what is written is meant, if that can be told."""
    return f"{with_quotes_hint(message)}{_file_hint(message, written) if not keys else _section_hint(keys, message)}"


def _file_hint(message: str, written: Mapping[str, object]) -> str:
    """Return what to leave out of a judge's own file that begins as a config does."""
    section = next((name for name in ("judge", "judges") if name in written), None)
    if section is None or message != "'type' is missing":
        return ""
    return f"; a judge's own file holds one judge and begins with `type:`, without '{section}:' above it"


def _section_hint(keys: Sequence[str | int], message: str) -> str:
    """Return under which key a text belongs that stands where a section is to be."""
    in_place = len(keys) == 1 + (keys[0] in {"judges", "conditions"})
    if not in_place or keys[0] not in _MAIN_KEYS or not message.startswith("expected an object, found '"):
        return ""
    return f"; write {{{_MAIN_KEYS[str(keys[0])]}: …}}"
