"""What one start of the Claude Code CLI is given: a folder, an environment, options, and no more.

The SDK merges its environment over that of this process, so the CLI is started by a small shell
script that first takes away every variable the task may not have. Secrets are in the environment
and in files that only this user can read, never on a command line.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import claude_agent_sdk
from claude_agent_sdk import ClaudeAgentOptions, CLINotFoundError

from keval.processes import machine, tree
from keval.secrets.excerpts import last_lines
from keval.tool_names import tool_part

if TYPE_CHECKING:
    from keval.agents import Prompt
    from keval.agents._claude_options import ClaudeOptions

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The longest single message that is read from the CLI; the SDK's own limit is 1 MiB."""

KEY = "ANTHROPIC_API_KEY"
"""Where the CLI looks for its key."""

BARE_TOOLS = {"Bash", "Edit", "Read"}
"""The built-in tools that the CLI has with `--bare`."""

CONFINED = {
    name: f"{rule}(./**)"
    for name, rule in {
        "Read": "Read",
        "Glob": "Read",
        "Grep": "Read",
        "Edit": "Edit",
        "Write": "Edit",
        "NotebookEdit": "Edit",
    }.items()
}
"""What is allowed of tools that would else reach every file of the machine: the workspace, and no more."""

DOLLAR = "KEVAL_DOLLAR"
"""A variable that holds a dollar sign: the CLI fills in `${…}` in server configs, we already have."""

SERVER_STDERR = "Server stderr: "
"""How lines of the CLI's log about an MCP server begin that the server wrote itself."""

STDERR_LINES = 5
"""So many last lines of stderr go into a failure."""

# What the SDK reports by its logger it raises as well.
logging.getLogger("claude_agent_sdk").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of the CLI; `folder` is private to it and gone afterwards."""

    agent: ClaudeOptions
    prompt: Prompt
    folder: Path
    token: str

    def options(self, on_stderr: Callable[[str], None]) -> ClaudeAgentOptions:
        """Write the files that the CLI is given, and return the SDK's options.

        Raises CLINotFoundError when there is no CLI.
        """
        for name in ("home", "config", "temporary"):
            (self.folder / name).mkdir()
        environment = self.environment()
        tools = [CONFINED.get(name, name) for name in self.agent.tools]
        # Bare is best: it adds no reminders of its own to what the model reads. But it lacks most tools.
        bare = {"bare": None} if BARE_TOOLS.issuperset(self.agent.tools) else {}
        return ClaudeAgentOptions(
            model=self.agent.model,
            system_prompt={"type": "file", "path": str(self._write("system_prompt", self.prompt.system_prompt))},
            tools=list(self.agent.tools),
            allowed_tools=[*tools, *(f"mcp__{tool_part(name)}" for name in self.prompt.mcp_servers)],
            permission_mode="dontAsk",
            mcp_servers=self._write("mcp.json", json.dumps({"mcpServers": self.servers()})),
            strict_mcp_config=True,
            setting_sources=[],
            skills=[],
            verbatim_prompts=True,
            extra_args={**bare, "no-session-persistence": None, "disable-slash-commands": None},
            max_turns=self.agent.max_turns,
            effort=self.agent.effort,
            cwd=self.prompt.workspace,
            env=environment,
            cli_path=self._write("claude", self._script(environment), mode=0o700),
            max_buffer_size=MAX_MESSAGE_BYTES,
            include_partial_messages=True,
            stderr=on_stderr,
        )

    def environment(self) -> dict[str, str]:
        """Return the whole environment of the CLI, but for what the SDK adds of its own."""
        agent, folder = self.agent, self.folder
        own = {
            "HOME": str(folder / "home"),
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
            "CLAUDE_CODE_TMPDIR": str(folder / "temporary"),
            **agent.service.cli_env(self.prompt.env),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(agent.max_retries),
            # A stdio server gets what its config says, and not the CLI's key.
            "CLAUDE_CODE_MCP_ALLOWLIST_ENV": "1",
            # A tool call is waited for, however long it takes; the task has its own time limit.
            "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0",
            # Longer than we wait ourselves, so that it is we who say that a server is late.
            "MCP_TIMEOUT": str(round(agent.mcp_timeout_s * 1000) + 60_000),
            # The SDK sets these only where they are not inherited.
            "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
            "CLAUDE_CODE_SDK_READS_SESSION_STATE": "1",
            DOLLAR: "$",
            tree.TOKEN: self.token,
        }
        return {**_without_key(self.prompt.env, agent.service.key_name), **agent.env, **own}

    def servers(self) -> dict[str, Any]:
        """Return the condition's MCP servers as the CLI reads them.

        A stdio server has the task's environment without the agent's key, and what its own config
        sets; its home is the real one, where `npx` and `uvx` keep what they have downloaded.
        """
        shared = _without_key(self.prompt.env, self.agent.service.key_name)
        mark = {tree.TOKEN: self.token}
        return {
            name: _literal(
                {**self._watched(server, starts), "env": {**shared, **server.get("env", {}), **mark}}
                if is_stdio(server)
                else server
            )
            for (name, server), starts in zip(self.prompt.mcp_servers.items(), self._starts(), strict=True)
        }

    def started(self) -> dict[str, list[int]]:
        """Return the process ids of each stdio server, one for each time that the CLI has started it."""
        return {
            name: [int(pid) for pid in starts.read_text().split()] if starts.exists() else []
            for (name, server), starts in zip(self.prompt.mcp_servers.items(), self._starts(), strict=True)
            if is_stdio(server)
        }

    def _starts(self) -> list[Path]:
        """Return for each server the file that grows by a line with each start."""
        return [self.folder / f"starts-{number}" for number in range(len(self.prompt.mcp_servers))]

    def _watched(self, server: Mapping[str, Any], starts: Path) -> dict[str, Any]:
        """Return a server that first writes down its process id, which it keeps."""
        command = [server["command"], *server.get("args", [])]
        return {
            **server,
            "command": "/bin/sh",
            "args": ["-c", 'echo $$ >> "$0"; exec "$@"', str(starts), *command],
        }

    def session(self) -> int | None:
        """Return the id of the session that the CLI leads, None if it was not started, has none, or cannot be read."""
        try:
            return int((self.folder / "session").read_text()) if shutil.which("setsid") else None
        except (OSError, ValueError):
            return None

    def stderr_of(self, server: str) -> str:
        """Return the last lines that an MCP server wrote to stderr, as far as the CLI's own log has them."""
        folder = re.sub("[^A-Za-z0-9]", "?", f"mcp-logs-{server}")  # the CLI puts a dash there
        logs = sorted((self.folder / "home").glob(f".cache/*/*/{folder}/*.jsonl"))
        try:
            entries = [json.loads(line) for log in logs for line in log.read_bytes().splitlines()]
            said = [entry["error"] for entry in entries if entry.get("error", "").startswith(SERVER_STDERR)]
        except (OSError, ValueError, AttributeError):
            return ""  # the log is not made for programs; what it cannot tell is only a detail
        return last_lines("".join(part.removeprefix(SERVER_STDERR) for part in said), STDERR_LINES)

    def _script(self, environment: Mapping[str, str]) -> str:
        """Return the script that takes what is inherited away, variables and a raised limit, and becomes the CLI."""
        inherited = sorted(name for name in os.environ if name not in environment)
        unset = [part for name in inherited for part in ("-u", name)]
        setsid = shutil.which("setsid")
        command = [shutil.which("env") or "env", *unset, *([setsid] if setsid else []), self._cli()]
        session = shlex.quote(str(self.folder / "session"))
        limit = f"ulimit -Sn {machine.own_limit()} 2>/dev/null"  # keval's own is no business of the CLI's
        return f'#!/bin/sh\n{limit}\necho $$ > {session}\nexec {shlex.join(command)} "$@"\n'

    def _cli(self) -> str:
        """Return the CLI that the SDK carries, else the one in the task's path."""
        bundled = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
        found = str(bundled) if bundled.is_file() else shutil.which("claude", path=self.prompt.env.get("PATH"))
        if found is None:
            raise CLINotFoundError("claude-agent-sdk carries no Claude Code for this platform, and none is in the PATH")
        return found

    def _write(self, name: str, content: str, mode: int = 0o600) -> Path:
        path = self.folder / name
        path.touch(mode)
        path.write_text(content, encoding="utf-8")
        return path


def is_stdio(server: Mapping[str, Any]) -> bool:
    """Return whether a server is a process that the CLI starts."""
    return bool(server.get("type", "stdio") == "stdio")


def _without_key(environment: Mapping[str, str], api_key_env: str) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in (api_key_env, KEY)}


def _literal(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value in which the CLI fills in nothing."""
    match value:
        case str():
            return value.replace("${", f"${{{DOLLAR}}}{{")
        case Mapping():
            return {key: _literal(item) for key, item in value.items()}
        case list() | tuple():
            return [_literal(item) for item in value]
        case _:
            return value
