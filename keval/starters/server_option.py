"""Reads what `keval init --server` takes, a name with a command or an address, as a config writes a server."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from keval.errors import UsageError
from keval.ids import JsonObject
from keval.secrets.lengths import SHORTEST_LITERAL
from keval.secrets.variables import SOUNDS_SECRET

EXAMPLES = "--server docs='python server.py' or --server docs=http://127.0.0.1:8000/mcp"

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.*)", re.DOTALL)
_ADDRESS = re.compile(r"https?://.+", re.IGNORECASE | re.DOTALL)
_SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_OF_A_SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>&1"}


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server as the config will name it."""

    name: str
    written: JsonObject
    """Its section in the config."""
    moved: bool = False
    """Whether its command is written otherwise than it was typed, because it will start in another folder."""


def read(option: str, environ: Mapping[str, str]) -> Server:
    """Read one option, before whose command settings may stand as in a shell. Raises UsageError that shows the form.

    Where a shell put in the value of a variable that sounds secret, the variable is written: no key gets into a file.
    """
    found = _NAMED.fullmatch(option)
    if found is None:
        raise UsageError(f"--server {option!r}: a name for the server is missing before it, as in {EXAMPLES}")
    name, target = found[1], _with_variables(found[2].strip(), environ)
    if _ADDRESS.fullmatch(target):
        kind = "sse" if target.partition("?")[0].rstrip("/").endswith("/sse") else "http"
        return Server(name, {"type": kind, "url": target})
    return Server(name, _command(option, target, environ))


def with_header(server: Server, headers: Mapping[str, str]) -> Server:
    """Return a server with headers that are sent to it, if it is reached by an address."""
    if server.written["type"] == "stdio" or not headers:
        return server
    return replace(server, written={**server.written, "headers": dict(headers)})


def header(option: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Read a header, such as `Authorization: Bearer ${TOKEN}`. Raises UsageError that shows the form."""
    name, found, value = (part.strip() for part in option.partition(":"))
    if not (name and found and value):
        raise UsageError(
            f"--header {option!r}: is not NAME: VALUE, such as --header 'Authorization: Bearer ${{TOKEN}}'"
        )
    return name, _with_variables(value, environ)


def _with_variables(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with `${NAME}` in place of the values of variables that sound secret."""
    secret = {value: name for name, value in environ.items() if SOUNDS_SECRET.search(name)}
    for value in sorted(secret, key=len, reverse=True):
        if len(value) >= SHORTEST_LITERAL:
            text = text.replace(value, f"${{{secret[value]}}}")
    return text


def placed(server: Server, here: Path, folder: Path) -> Server:
    """Return a server that is started in `folder` as it was typed in `here`: relative paths in its command change."""
    if server.written["type"] != "stdio" or here.resolve() == folder.resolve():
        return server
    words = [server.written["command"], *server.written.get("args", [])]
    moved = [_moved(word, here, folder, is_program=not place) for place, word in enumerate(words)]
    return replace(server, written=_section(moved, server.written.get("env", {})), moved=moved != words)


def _command(option: str, target: str, environ: Mapping[str, str]) -> JsonObject:
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise UsageError(f"--server {option!r}: cannot be read as a command: {error}") from error
    env = {}
    while words and (setting := _SETTING.fullmatch(words[0])):
        name, value = setting.groups()
        env[name] = f"${{{name}}}" if value and environ.get(name) == value else value  # a secret by another name
        words = words[1:]
    if not words:
        raise UsageError(f"--server {option!r}: a command or an address is missing, as in {EXAMPLES}")
    foreign = next((word for word in words if word in _OF_A_SHELL), None)
    if foreign is not None:
        raise UsageError(
            f"--server {option!r}: {foreign!r} is for a shell, and a server is started without one; "
            "put the command into a script and name that"
        )
    return _section([_at_home(word) for word in words], env)


def _section(words: list[str], env: Mapping[str, str]) -> JsonObject:
    args = {"args": words[1:]} if words[1:] else {}
    return {"type": "stdio", "command": words[0], **args, **({"env": dict(env)} if env else {})}


def _at_home(word: str) -> str:
    return str(Path(word).expanduser()) if word.startswith("~/") else word


def _moved(word: str, here: Path, folder: Path, *, is_program: bool) -> str:
    """Return a word of a command, as a path from another folder if it is one that leads to something from here."""
    option, found, value = word.partition("=") if word.startswith("-") else ("", "", word)
    is_path = "/" in value if is_program else bool(value)
    if not is_path or Path(value).is_absolute() or not _exists(here / value):
        return word
    return f"{option}{found}{os.path.relpath(here.resolve() / value, folder.resolve())}"


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - an argument may be no path at all: too long, or with a null in it
