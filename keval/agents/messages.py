"""Asks a model by the Messages API and calls the tools of the condition's MCP servers itself: no process per task.

The model gets the system prompt, the question and the servers' tools, and nothing else. The connections to the servers
are made once for a run, or for each task anew if its server remembers what it was asked. The question is asked only
when every server is connected and offers tools.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

from keval.agents import Agent, AgentError, Answer, OpenAgent, Prompt
from keval.agents._mcp_connections import Connections
from keval.agents._messages_conversation import Conversation
from keval.models.messages_api import LARGEST_REPLY_BYTES
from keval.models.model_options import ModelOptions
from keval.models.services import Service
from keval.plugins import option
from keval.processes import tree


@dataclass(frozen=True, kw_only=True)
class Messages(ModelOptions, Agent):
    """An agent that is a model with tools."""

    uses_workspace: ClassVar[bool] = False
    needs_servers: ClassVar[bool] = True
    takes_turns: ClassVar[bool] = True

    model: str = field(metadata=option("the model, as the Messages API names it"))
    connections: Literal["run", "task"] = field(
        default="run", metadata=option("whether a connection to an MCP server is for the whole run or for one task")
    )
    max_tokens: int = field(default=16_000, metadata=option("tokens that one message may have, thinking included"))
    max_turns: int | None = field(default=None, metadata=option("the most messages that the model may write"))
    timeout_s: float = field(default=600.0, metadata=option("seconds that one message may take", identity=False))
    mcp_timeout_s: float = field(
        default=60.0, metadata=option("how long an MCP server may take to be ready, in seconds", identity=False)
    )
    max_reply_bytes: int = field(
        default=LARGEST_REPLY_BYTES, metadata=option("the longest reply of the service that is read", identity=False)
    )

    def __post_init__(self) -> None:
        problems = self.model_problems()
        for name in ("max_turns", "mcp_timeout_s", "max_reply_bytes"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                problems.append(f"{name}: must be more than 0")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def batch_service(self) -> Service:
        """The service of its model."""
        return self.service

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenAgent]:
        """Give who answers, with connections that last until the end of the run if the config says so."""
        if self.connections == "task":
            yield self
            return
        connections = Connections()
        try:
            yield _Run(self, connections)
        finally:
            await tree.to_the_end(connections.close())

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one task, with connections of its own. Raises AgentError."""
        connections, failed = Connections(), None
        answer = Answer("empty", "")
        try:
            answer = await self.conversation(prompt, connections).answer()
        except AgentError as error:
            failed, answer = error, error.partial or answer
        finally:
            left = await tree.to_the_end(connections.close())
        answer = replace(answer, orphaned_processes=left)
        if failed is None:
            return answer
        failed.partial = answer
        raise failed

    def conversation(self, prompt: Prompt, connections: Connections) -> Conversation:
        """Return the conversation that answers a prompt."""
        env = {name: value for name, value in prompt.env.items() if name not in self.secret_names}
        connect = partial(connections.ready, env=env, timeout_s=self.mcp_timeout_s)
        model = replace(self.settings_of(self.model), max_reply_bytes=self.max_reply_bytes)
        return Conversation(model, prompt, connect, self.max_turns)


@dataclass(frozen=True, slots=True)
class _Run:
    """The agent with the connections of a run."""

    agent: Messages
    connections: Connections

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one task. Raises AgentError."""
        return await self.agent.conversation(prompt, self.connections).answer()
