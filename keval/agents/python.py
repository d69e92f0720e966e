"""Calls a Python function of yours once per task: `query(user_query, system_prompt, mcp_servers)`.

It may be a coroutine function, which must not block; any other runs in a thread of its own. It returns the answer, or
a mapping with `text` and what else it knows: `usage`, `cost_usd`, `tool_calls`, `sources`, `models`. It runs inside
keval, so nothing is hidden from it and `--mock` does not reach what it asks; what is to be sealed off is a program for
`command`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from keval.agents import Agent, AgentError, Answer, OpenAgent, Prompt
from keval.agents._function_result import read_result
from keval.errors import EnvironmentLacksError, PluginError
from keval.plugins import option
from keval.processes import coroutines, functions, local_files
from keval.processes.local_files import LocalFile

GIVEN = ("the question", "the system prompt", "the MCP servers")
"""What the function is given, in this order."""


@dataclass(frozen=True, kw_only=True)
class Python(Agent):
    """An agent that is a function."""

    uses_models: ClassVar[bool] = False
    beyond_mock: ClassVar[str | None] = "function"
    uses_workspace: ClassVar[bool] = False

    function: str = field(metadata=option("the function, as file.py:query or module:query, from the config's folder"))
    model: str | None = field(default=None, metadata=option("the model that the function asks, for the record"))
    reports_tool_calls: bool = field(
        default=False, metadata=option("whether the function returns its tool calls; else they are not known")
    )

    files: tuple[str, ...] = field(default=(), metadata=option(local_files.HELP, identity=False))

    def __post_init__(self) -> None:
        functions.check_form(self.function)

    def missing(self, folder: Path, env: Mapping[str, str]) -> str | None:  # noqa: ARG002 - a function has ours
        """Return which file or module is not there. Raises PluginError for a function that cannot be called."""
        try:
            functions.check(self.function, folder, GIVEN)
        except EnvironmentLacksError as error:
            return "; ".join(error.problems)
        return local_files.without_match(self.files, folder)

    def local_files(self, folder: Path) -> tuple[LocalFile, ...]:
        """Return the file that holds the function, and those of `files`; what these import is not looked at."""
        try:
            path = functions.source(self.function, folder)
        except EnvironmentLacksError:  # `missing` says so before a run
            path = None
        function = () if path is None else local_files.named_by(["", str(path)], folder)
        return (*function, *local_files.matching(self.files, folder))

    def held_up(self, folder: Path, since_s: float) -> str | None:
        """Return that an async function blocked the others, be it this one."""
        with suppress(EnvironmentLacksError, PluginError):
            if functions.is_async(functions.load(self.function, folder)) and coroutines.stood_still(since_s):
                return functions.blocked(self.function)
        return None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenAgent]:
        """Yield the agent; what its function prints goes to stderr, because stdout is data."""
        with functions.printing_to_stderr():
            yield self

    async def answer(self, prompt: Prompt) -> Answer:
        """Call the function once. A thread cannot be ended: after a time-out it runs on. Raises AgentError."""
        try:
            query = functions.load(self.function, prompt.folder)
        except (EnvironmentLacksError, PluginError) as error:
            raise AgentError("infra_error", "; ".join(error.problems)) from error
        servers = {name: dict(server) for name, server in prompt.mcp_servers.items()}
        try:
            returned = await functions.called(query, prompt.question, prompt.system_prompt, servers)
        except AgentError:
            raise
        except (Exception, SystemExit) as error:
            raise AgentError("agent_error", functions.told(error)) from error
        return read_result(returned, tuple(servers), tool_calls=self.reports_tool_calls)
