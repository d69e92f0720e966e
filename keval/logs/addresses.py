"""Addresses of logs that are on no disk of this machine, and what the copies of such logs are called."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(\w+://)[^/@\s]*@")
_QUERY = re.compile(r"(https?://[^\s?'\"]*)\?[^\s'\"]*", re.IGNORECASE)

_NAMES: dict[Path, str] = {}


def scheme_of(name: str) -> str | None:
    """Return `s3` for `s3://bucket/run.jsonl`, None for the name of a file."""
    found = _ADDRESS.match(name)
    return None if found is None else found[1].lower()


def shown(text: str) -> str:
    """Return a text as it may be printed: no address in it has a password, or a query, which may be a signature."""
    return _QUERY.sub(r"\1?…", _CREDENTIALS.sub(r"\1", text))


def note(copy: Path, address: str) -> None:
    """Have a file called by the address that it is a copy of."""
    _NAMES[copy] = shown(address)


def name_of(log: Path) -> str:
    """Return what messages and the column `log` call a file: its path, or the address that it is a copy of."""
    return _NAMES.get(log, str(log))


def no_text(name: str) -> str | None:
    """Return what is wrong with the name of a file that is no text, and so can stand in no log; None if it is text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        return f"{name!a} is no text in {encoding}; a file can be renamed, LC_ALL=C.UTF-8 may help"
    return None
