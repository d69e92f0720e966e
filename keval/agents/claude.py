"""Claude Code, driven by the Claude Agent SDK and sealed off from the machine that it runs on.

It sees the condition's system prompt, the condition's MCP servers, the question as written, and
nothing else: no settings, memory files, skills or plug-ins of a user or a project, no built-in
tools but those in `tools`, no environment but an allow-list. Tools that read and write files do so
in the task's empty workspace; `Bash` is not held back by anything. It is asked only when every MCP server
is connected and offers tools. Each task has its own CLI; when the task ends, all its processes are
gone, those of its MCP servers too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from keval.agents import AgentError, Answer, Prompt
from keval.agents._claude_options import ClaudeOptions
from keval.agents._claude_starts import Start, usual
from keval.processes import temporary, tree
from keval.processes.servers import lacking

if TYPE_CHECKING:
    from claude_agent_sdk import ClaudeSDKClient
    from claude_agent_sdk.types import McpServerStatus

    from keval.agents._claude_launch import Launch
    from keval.agents._claude_record import Record

DISCONNECT_S = 1.0
"""How long the SDK may take to end the CLI in its own way; in the middle of a request it takes for ever."""

POLL_S = 0.05
"""How often the CLI is asked whether the MCP servers are ready."""


@dataclass(frozen=True, kw_only=True)
class Claude(ClaudeOptions):
    """The Claude Code agent."""

    needs_servers: ClassVar[bool] = True
    takes_turns: ClassVar[bool] = True

    async def answer(self, prompt: Prompt) -> Answer:
        """Ask Claude Code, with one CLI for this task only.

        Cancelling the call ends every process that it started. Raises AgentError.
        """
        from keval.agents._claude_launch import Launch
        from keval.agents._claude_record import Record

        key_name = self.service.key_name
        if not prompt.env.get(key_name):
            raise AgentError("infra_error", f"{key_name} is not set: the agent has no key")
        record = Record(tuple(prompt.mcp_servers), self.tools)
        with temporary.folder() as folder:
            launch = Launch(self, prompt, folder, tree.new_token())
            try:
                return await self._ask(launch, record)
            except AgentError as error:
                error.partial = record.so_far()  # by now with the names of what was left behind
                raise

    async def _ask(self, launch: Launch, record: Record) -> Answer:
        """Ask all that is to be asked, and end every process."""
        from claude_agent_sdk import ClaudeSDKClient

        client: ClaudeSDKClient | None = None
        try:
            client = ClaudeSDKClient(launch.options(record.stderr.append))
            await self._converse(client, launch, record)
        except AgentError:
            raise
        except Exception as error:  # foreign code: some of what the SDK raises is a bare Exception
            raise record.failure_of(error) from error
        finally:
            record.orphaned_processes = await tree.to_the_end(_end(client, launch))
            launch.prompt.heartbeat(record.so_far())  # whoever cancels the task is told, too
        return record.answer()

    async def _converse(self, client: ClaudeSDKClient, launch: Launch, record: Record) -> None:
        """Ask all messages of the prompt in turn; stops at the first that is not answered."""
        from keval.agents._claude_watch import Watch

        prompt = launch.prompt
        async with Start(self.max_starts or usual(), lambda: prompt.heartbeat(record.so_far())):
            await client.connect()
            await self._until_ready(client, launch, record)
        watch = Watch(client, launch, record)
        for message in prompt.turns:
            record.ask()
            await client.query(message)
            async for reported in client.receive_response():
                record.add(reported)
                record.check_tools()
                prompt.heartbeat(record.so_far())
            if record.result is None or record.result.is_error:
                break
        if record.has_ended():
            await watch.look()

    async def _until_ready(self, client: ClaudeSDKClient, launch: Launch, record: Record) -> None:
        """Wait until every MCP server of the condition is connected and offers tools.

        Raises AgentError when one does not, or has not in time.
        """
        from keval.agents._claude_watch import statuses

        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.mcp_timeout_s
        while True:
            record.statuses.update(await statuses(client))
            waiting = [name for name in launch.prompt.mcp_servers if not _is_ready(record.statuses.get(name))]
            failed = [name for name in waiting if _has_failed(record.statuses.get(name))]
            late = loop.time() > deadline
            if not waiting:
                _check_tools(launch, record)
                return
            if failed or late:
                await _end(client, launch)  # only then has the CLI written down what the servers said
                raise _not_ready(launch, record, failed or waiting, self.mcp_timeout_s)
            await asyncio.sleep(POLL_S)


def _check_tools(launch: Launch, record: Record) -> None:
    """Raise AgentError when a server does not offer the tools that the config expects of it."""
    for name, expected in launch.prompt.expected_tools.items():
        offered = [tool["name"] for tool in record.statuses[name].get("tools", [])]
        wrong = lacking(offered, expected)
        if wrong:
            raise record.failure("mcp_not_ready", f"{name}: {wrong}", retryable=False)


def _is_ready(status: McpServerStatus | None) -> bool:
    return status is not None and status["status"] == "connected" and bool(status.get("tools"))


def _has_failed(status: McpServerStatus | None) -> bool:
    """Return whether waiting will not help: a server that is connected has said which tools it has."""
    if status is None or status["status"] == "pending":
        return False
    return status["status"] != "connected" or status.get("tools") == []


def _not_ready(launch: Launch, record: Record, names: list[str], timeout_s: float) -> AgentError:
    """Return the failure that names each server, its status, its error and the end of its stderr."""
    statuses = {name: record.statuses.get(name) for name in names}
    said = "; ".join(_said_of(launch, name, status, timeout_s) for name, status in statuses.items())
    # Another attempt starts it anew. That will not bring it tools or a login.
    hopeless = any(
        status and status["status"] in ("connected", "needs-auth", "disabled") for status in statuses.values()
    )
    return record.failure("mcp_not_ready", said, retryable=not hopeless)


def _said_of(launch: Launch, name: str, status: McpServerStatus | None, timeout_s: float) -> str:
    if status is None or status["status"] == "pending":
        said = f"{name}: not ready after {timeout_s:g} s"
    elif status["status"] == "connected":
        said = f"{name}: connected, but offers no tools"
    else:
        said = f"{name}: {status['status']}: {status.get('error') or 'no reason given'}"
    stderr = launch.stderr_of(name)
    return f"{said}; its stderr ends: {stderr}" if stderr else said


async def _end(client: ClaudeSDKClient | None, launch: Launch) -> tuple[str, ...]:
    """Let the SDK end the CLI, and end what is left; both take bounded time.

    Returns the names of the processes that outlived the CLI.
    """
    closing = asyncio.ensure_future(client.disconnect()) if client else None
    session = launch.session()
    if closing:
        await asyncio.wait({closing}, timeout=DISCONNECT_S)
        if not closing.done() and session is not None:
            await tree.end_first(launch.token, session)
    left = await tree.end_tree(launch.token, session)
    if closing:
        await asyncio.wait({closing}, timeout=DISCONNECT_S)
        if not closing.cancel() and not closing.cancelled():
            closing.exception()  # how the SDK fared is of no interest: no process is left
    return tuple(left)
