"""Reads from a tool's result which sources it names: titles, addresses, paths.

A result is text. In it may stand JSON documents, one after the other, as the tools of MCP send them; a string of theirs
may be JSON, too. Between them stand lines such as `Title: …`, and addresses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_NO_ADDRESS = r"\s<>\"'`\[\]{}\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
"""What no address has in it, also the punctuation of Chinese and Japanese, which follows one without a space."""

ADDRESS = re.compile(rf"https?://(?:[^(){_NO_ADDRESS}]|\([^\s()]*\))+")

MOST_FAILURES = 20
"""Places that look like JSON and are none, after which the rest of a result is read as plain text."""

_DOCUMENT = re.compile(r"^[ \t]*(?=[\[{\"])", re.MULTILINE)


def sources_in(result: str, keys: Sequence[str]) -> list[str] | None:
    """Return the sources that a result names, in order; None if it says something else and none could be read.

    `keys` are those under which a source is named; of one object or paragraph the first that is there counts.
    """
    try:
        parts = list(_parts(result))
        found = [name for part in parts for name in (_in_text if isinstance(part, str) else _in_json)(part, keys)]
        return found if found or all(map(_is_empty, parts)) else None
    except RecursionError:  # lists within lists, deeper than anybody writes
        return None


def _parts(text: str) -> Iterator[Any]:
    """Yield the JSON documents that begin with a line, as lists and objects, and the texts between them, in order."""
    decoder, begin, search, failures = json.JSONDecoder(), 0, 0, 0
    while failures < MOST_FAILURES and (found := _DOCUMENT.search(text, search)):
        try:
            value, end = decoder.raw_decode(text, found.end())
        except ValueError:
            failures, search = failures + 1, found.end() + 1
            continue
        yield text[begin : found.start()]
        yield from _parts(value) if isinstance(value, str) else [value]
        begin = search = end
    yield text[begin:]


def _in_text(text: str, keys: Sequence[str]) -> Iterator[str]:
    """Yield the sources of lines such as `Title: …`, and of a paragraph without them the addresses."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        named = (re.findall(rf"(?im)^[ \t#*•-]{{0,8}}{re.escape(key)}\**:\**(.*\S)", paragraph) for key in keys)
        yield from map(str.strip, next(filter(None, named), []) or ADDRESS.findall(paragraph))


def _in_json(value: Any, keys: Sequence[str]) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Yield what objects name under the keys, and the strings of lists."""
    if isinstance(value, list):
        for item in map(_opened, value):
            yield from [item] if isinstance(item, str) else _in_json(item, keys)
    elif isinstance(value, dict):
        named = next((value[key] for key in keys if isinstance(value.get(key), str)), None)
        if named is not None:
            yield named
        for item in map(_opened, value.values()):
            if isinstance(item, list | dict):
                yield from _in_json(item, keys)


def _opened(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the list or object that a string holds, any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _is_empty(part: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return whether a part says that nothing was found: a blank text, an empty list, an object with one."""
    if isinstance(part, dict):
        return not part or any(value == [] for value in part.values())
    return all(map(_is_empty, part)) if isinstance(part, list) else isinstance(part, str) and not part.strip()
