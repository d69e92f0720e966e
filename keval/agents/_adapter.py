"""How another command-line agent is asked: an adapter, which is data, and what it makes of a task.

Adapters that come with keval stand beside this file, `<name>.adapter.yaml`; `schemas/adapter.schema.json` says what
one holds. Everything that an adapter writes for a task is in a private folder that is gone afterwards.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from keval import schema
from keval.agents import AgentError, Prompt
from keval.agents._json_output import json_path
from keval.agents._templates import fill, fill_all

ENDING = ".adapter.yaml"

PLACEHOLDERS = ("question", "system_prompt", "model", "session", "workspace", "private", "folder", "repetition")
"""What texts of an adapter may contain in braces."""

SERVER_FIELDS: dict[str, dict[str, Any]] = {
    "stdio": {"command": "", "args": [], "env": {}},
    "http": {"url": "", "headers": {}},
    "sse": {"url": "", "headers": {}},
}
"""What a server's template may contain in braces, by the server's type, and what stands there by default."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One adapter."""

    path: Path
    written: Mapping[str, Any] = field(repr=False)

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with keval."""
        return self.path.parent == Path(__file__).parent

    @property
    def program(self) -> str:
        """The program as the adapter names it."""
        first = self.written["command"][0]
        return first if isinstance(first, str) else first[0]

    @property
    def timeout_s(self) -> float | None:
        """How long one message may take, None: as long as the task."""
        return self.written.get("timeout_s")

    @property
    def takes_turns(self) -> bool:
        """Whether it can go on with a conversation."""
        return "resume" in self.written

    @property
    def reports_tool_calls(self) -> bool:
        """Whether it says how the agent reports its calls."""
        return any("call" in rule for rule in self.written["events"])

    @property
    def names_system_prompt(self) -> bool:
        """Whether the program is given the system prompt anywhere."""
        places = [self.written.get(key) for key in ("command", "resume", "stdin", "env", "files")]
        return "{system_prompt}" in json.dumps(places)

    def blames_service(self, failure: str) -> bool:
        """Return whether a failure that the agent tells is that of the model's service."""
        pattern = self.written.get("service_failures")
        return pattern is not None and re.search(pattern, failure) is not None

    def command(self, values: Mapping[str, object], arguments: Sequence[str]) -> list[str]:
        """Return the program and its arguments for one message; there is a session if it is a further one."""
        template = self.written["resume" if values["session"] is not None else "command"]
        return [word for part in template for word in _words(part, values, arguments)]

    def stdin(self, values: Mapping[str, object]) -> bytes:
        """Return what the program reads."""
        return fill(self.written.get("stdin", ""), _known(values)).encode()

    def env(self, values: Mapping[str, object]) -> dict[str, str]:
        """Return the environment variables of the program."""
        return {name: fill(text, _known(values)) for name, text in self.written.get("env", {}).items()}

    def write_files(self, prompt: Prompt, values: Mapping[str, object]) -> None:
        """Write the adapter's files into the private folder. Raises AgentError for servers that it cannot name."""
        servers = {name: self._server(name, server) for name, server in prompt.mcp_servers.items()}
        for name, content in self.written.get("files", {}).items():
            filled = fill_all(content, {**_known(values), "mcp_servers": servers})
            path = Path(str(values["private"]), name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_as_text(filled, toml=path.suffix == ".toml"), encoding="utf-8")

    def _server(self, name: str, server: Mapping[str, Any]) -> object:
        template = self.written.get("mcp_servers", {}).get(server["type"])
        if template is None:
            told = f"the adapter {self.written['name']} does not say how to name an MCP server of type {server['type']}"
            raise AgentError("infra_error", f"{told}: {name}")
        given = {key: server.get(key, default) for key, default in SERVER_FIELDS[server["type"]].items()}
        return fill_all(template, given)


def load(path: Path) -> Adapter:
    """Return the adapter of a file, else the one of that name that comes with keval.

    Raises ValueError with all that is wrong with it.
    """
    shipped = Path(__file__).parent / f"{path.name}{ENDING}"
    found = path if path.is_file() or not shipped.is_file() else shipped
    try:
        return _read(found, found.stat().st_mtime_ns)
    except OSError as error:
        known = ", ".join(sorted(each.name.removesuffix(ENDING) for each in shipped.parent.glob(f"*{ENDING}")))
        raise ValueError(f"adapter: {path}: {error.strerror}; adapters that come with keval: {known}") from error


@lru_cache(maxsize=16)
def _read(path: Path, _modified_ns: int) -> Adapter:
    try:
        written = json.loads(json.dumps(YAML(typ="safe").load(path.read_text(encoding="utf-8"))))
    except (YAMLError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(f"adapter: {path}: {error}") from error
    problems = [f"adapter: {path}: {each.path}: {each.message}" for each in schema.problems("adapter", written)]
    problems = problems or [f"adapter: {path}: {each}" for each in _problems(written)]
    if problems:
        raise ValueError("\n".join(problems))
    return Adapter(path, written)


def _problems(written: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an adapter that fits its schema: placeholders and paths."""
    nothing = dict.fromkeys(PLACEHOLDERS, "")
    texts = [
        *written["command"],
        *written.get("resume", ()),
        written.get("stdin", ""),
        *written.get("env", {}).values(),
    ]
    try:
        for text in texts:
            list(_words(text, nothing, ()))
        fill_all(written.get("files", {}), {**nothing, "mcp_servers": {}})
        for kind, template in written.get("mcp_servers", {}).items():
            fill_all(template, SERVER_FIELDS[kind])
        fill(written.get("mcp_tool_name", ""), {"server": ""})
        for path in paths_of(written):
            json_path(path)
        re.compile(written.get("service_failures", ""))
        for name in written.get("files", {}):
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise ValueError(f"files: {name} is not in the private folder")  # noqa: TRY301 - one of its problems
    except re.error as error:
        yield f"service_failures: {error}"
    except ValueError as error:
        yield str(error)


def paths_of(written: Mapping[str, Any]) -> Iterator[str]:
    """Yield all paths of an adapter."""
    yield written.get("time", "$")
    for rule in written["events"]:
        call = rule.get("call", {})
        yield from [*rule.get("when", {}), *call.get("failed", {})]
        singles = [*(value for value in rule.values() if isinstance(value, str)), *rule.get("usage", {}).values()]
        singles += [value for key, value in call.items() if isinstance(value, str) and key != "name"]
        singles += [call["name"]] if call.get("name", "").startswith("$") else []
        yield from (path for each in singles for path in each.split(" - "))


def _words(part: str | list[str], values: Mapping[str, object], arguments: Sequence[str]) -> list[str]:
    """Return the arguments that a part of a command comes to."""
    if part == "{arguments}":
        return list(arguments)
    if isinstance(part, str):
        return [fill(part, _known(values))]
    named = {name for word in part for _, name, _, _ in string.Formatter().parse(word) if name}
    return [] if any(values.get(name, "") is None for name in named) else [fill(word, values) for word in part]


def _known(values: Mapping[str, object]) -> dict[str, object]:
    return {name: "" if value is None else value for name, value in values.items()}


def _as_text(content: object, *, toml: bool) -> str:
    if isinstance(content, str):
        return content
    if not toml or not isinstance(content, Mapping):
        return json.dumps(content, ensure_ascii=False)
    return "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in content.items())


def _toml(value: object) -> str:
    """Return a value as TOML on one line; a JSON string is one of TOML, too, but for one character."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
