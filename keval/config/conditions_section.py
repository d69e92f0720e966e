"""Reads what a config says of its conditions: each one's system prompt, which may be a file, its servers and gates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keval import nearest
from keval.config.model import Condition, Gates
from keval.config.sections import Problem, list_in, mapping_in
from keval.errors import InputError
from keval.secrets.variables import Secrets, verbatim

if TYPE_CHECKING:
    from keval.documents.yaml_document import Keys
    from keval.ids import JsonObject

GATES = ("require_mcp_tool_use", "require_mcp_tool_success", "retry_gates")


def read_all(
    written: JsonObject, path: Path, tools: tuple[str, ...], secrets: Secrets, problem: Problem
) -> list[Condition]:
    """Return the conditions of a config whose structure was checked; `problem` is told what else is wrong.

    `tools` are the built-in tools of the agent.
    """
    servers = mapping_in(written, "mcp_servers")
    first_of: dict[str, str] = {}
    conditions = []
    for name, section in mapping_in(written, "conditions").items():
        if not isinstance(section, dict):
            continue
        condition = _Section(name, section, path, secrets, problem).read(servers, tools)
        if condition is None:
            continue
        first = first_of.setdefault(condition.condition_id, name)
        if first != name:
            problem(("conditions", name), f"is the same as {first!r}: nothing could be told apart")
        conditions.append(condition)
    return conditions


@dataclass(frozen=True)
class _Section:
    """One condition of a config; `problem` takes note of what is wrong with it beside its structure."""

    name: str
    section: JsonObject
    config_path: Path
    secrets: Secrets
    problem: Problem

    def read(self, servers: JsonObject, tools: tuple[str, ...]) -> Condition | None:
        """Return the condition, None if it has no system prompt that could be read."""
        prompt = self._system_prompt()
        used = self._servers(servers)
        gates = Gates(**{gate: self.section[gate] for gate in GATES if gate in self.section})
        return None if prompt is None else Condition(self.name, prompt, used, gates, tools)

    def _servers(self, known: JsonObject) -> dict[str, JsonObject]:
        used = {}
        for index, server in enumerate(list_in(self.section, "mcp_servers")):
            if not isinstance(server, str):
                continue
            if server in known:
                used[server] = known[server]
            else:
                self._note(("mcp_servers", index), _unknown_server(server, list(known)))
        return used

    def _system_prompt(self) -> str | None:
        written, file = self.section.get("system_prompt"), self.section.get("system_prompt_file")
        if isinstance(written, str):
            return written
        if not isinstance(file, str) or not file:
            return None
        if not self.secrets.missing(file):
            path = self.config_path.parent / self.secrets.resolve_known(file)
            try:
                return verbatim(_text_of(path))
            except InputError as error:
                self._note(("system_prompt_file",), f"{error}; paths are relative to {self.config_path.name}")
        # Which file it is, is not known yet; that it is another prompt than those of other files, is.
        return f"system_prompt_file: {file}"

    def _note(self, keys: Keys, message: str) -> None:
        self.problem(("conditions", self.name, *keys), message)


def _text_of(path: Path) -> str:
    """Return the text of a file, without white space at its end, which an editor may have put there.

    Raises InputError for what cannot be read, is no UTF-8, or is empty.
    """
    try:
        if path.exists() and not path.is_dir() and not path.is_file():
            raise InputError(f"{path} is a pipe or a device, and a prompt is read more than once")
        text = path.read_text(encoding="utf-8-sig").rstrip()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}") from error
    except ValueError as error:
        raise InputError(f"{path} is a name that no file can have") from error
    if not text:
        raise InputError(f"{path} is empty")
    return text


def _unknown_server(name: str, known: list[str]) -> str:
    meant = nearest.hint(name, known) or f"; mcp_servers has: {', '.join(known) or 'none'}"
    return f"unknown server {name!r}{meant}"
