"""Addresses of logs that are on no disk of this machine, and what the copies of such logs are called."""

from __future__ import annotations

import re
import sys
from pathlib import Path

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?P<scheme>\w+://)(?P<authority>[^\s/?#]*)(?P<rest>\S*)")
_QUERY = re.compile(r"(https?://[^\s?'\"]*)\?[^\s'\"]*", re.IGNORECASE)
_PARAMETERS = re.compile(r"(\w+://[^\s'\"]*?)\?[\w.%-]+=[^\s'\"]*")
"""Outside the web a name may hold a `?`; one that is followed by `name=` begins a query there, too."""

_NAMES: dict[Path, str] = {}


def scheme_of(name: str) -> str | None:
    """Return `s3` for `s3://bucket/run.jsonl`, None for the name of a file."""
    found = _ADDRESS.match(name)
    return None if found is None else found[1].lower()


def shown(text: str) -> str:
    """Return a text as it may be printed: no address in it has a password, or a query, which may be a signature."""
    return _PARAMETERS.sub(r"\1?…", _QUERY.sub(r"\1?…", _AUTHORITY.sub(_without_user, text)))


def _without_user(address: re.Match[str]) -> str:
    """Return an address without its user and password.

    A password may hold what should have been written as `%40` or `%2F`: where there may be one, it may go on to the
    last `@`. A path alone may have an `@`, too.
    """
    scheme, authority, rest = address["scheme"], address["authority"], address["rest"]
    hidden, _, left = (authority + rest).rpartition("@")
    if "@" not in authority and (":" not in authority or not hidden):
        return f"{scheme}{authority}{_AUTHORITY.sub(_without_user, rest)}"
    if "?" in hidden:  # what is left may be of a query
        return f"{scheme}…"
    return f"{scheme}…@{left}" if "/" in hidden else f"{scheme}{left}"


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
