"""One task of the `messages` agent: model and tools take turns until the model has answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from keval.agents import AgentError, Answer, McpUse, Prompt, Status, Turn
from keval.agents._mcp_connections import Connection, LostError, NotReadyError
from keval.agents._tool_results import as_blocks, as_text
from keval.documents.strict_json import DEEPEST_VALUE, is_deeper
from keval.failure_kinds import AgentFailureKind
from keval.ids import JsonObject
from keval.models.http_statuses import CONTENT_REFUSED
from keval.models.messages_api import Model, ModelError, Reply, ReplyTooLongError, at_own_price, total
from keval.processes.servers import lacking
from keval.tool_names import tool_part

if TYPE_CHECKING:
    from mcp.types import Tool

Connect = Callable[[str, Mapping[str, Any]], Awaitable[Connection]]
"""Returns the connection to a server, by its name and config, when it is ready. Raises NotReadyError."""

LIMITS = ("max_tokens", "model_context_window_exceeded")
"""Why the model stops in the middle of what it says."""

MOST_IDLE = 20
"""How many times in a row a model may stop without a call of a tool that is there, and without being done."""


class Conversation:
    """The task from its question to its answer; what is known of it in between is its record."""

    def __init__(self, model: Model, prompt: Prompt, connect: Connect, max_turns: int | None) -> None:
        self._model = model
        self._prompt = prompt
        self._connect_to = connect
        self._max_turns = max_turns
        self._servers: dict[str, Connection] = {}
        self._tools: dict[str, tuple[str, Tool]] = {}
        """Server and tool by the name that the model calls it by."""
        self._messages: list[JsonObject] = []
        self._turns: list[Turn] = []
        self._replies: list[Reply] = []
        self._in_doubt = False
        """Whether a request may have been paid for of which nothing is known."""

    async def answer(self) -> Answer:
        """Ask all messages of the prompt in turn; stops at the first that is not answered. Raises AgentError."""
        try:
            self._model.check_key(self._prompt.env)
            await self._connect()
            status: Status = "empty"
            for message in self._prompt.turns:
                self._messages.append({"role": "user", "content": message})
                status = await self._until_answered()
                if status != "answered":
                    break
            self._check_servers()
        except ModelError as error:
            raise self._model_failure(error) from error
        text = self._replies[-1].text
        return self._known("empty" if status == "answered" and not text.strip() else status, text)

    async def _connect(self) -> None:
        """Wait for every server; raises AgentError when one is not ready or does not offer its tools."""
        servers = self._prompt.mcp_servers
        waiting = (self._connect_to(name, server) for name, server in servers.items())
        found = await asyncio.gather(*waiting, return_exceptions=True)
        failed = []
        for name, connection in zip(servers, found, strict=True):
            if isinstance(connection, NotReadyError):
                failed.append(f"{name}: {connection}")
            elif isinstance(connection, BaseException):
                raise connection
            else:
                self._servers[name] = connection
        if failed:
            raise self._failure("mcp_not_ready", "; ".join(failed), retryable=True)
        for name, connection in self._servers.items():
            wrong = lacking((tool.name for tool in connection.tools), self._prompt.expected_tools.get(name, ()))
            if wrong:
                raise self._failure("mcp_not_ready", f"{name}: {wrong}")
            for tool in connection.tools:
                self._tools[self._free_name(f"mcp__{tool_part(name)}__{tool_part(tool.name)}")] = (name, tool)
        self._prompt.heartbeat(self._so_far())

    def _free_name(self, name: str) -> str:
        """Return a name that no other tool has: `get.page` and `get_page` are the same to a model."""
        numbered = (f"{name}_{number}" for number in count(2))
        return next(each for each in chain([name], numbered) if each not in self._tools)

    async def _until_answered(self) -> Status:
        """Let model and tools take turns until the model is done with a message of the user."""
        tools = [_described(name, tool) for name, (_, tool) in self._tools.items()]
        idle = 0
        while True:
            self._in_doubt = True
            self._prompt.heartbeat(self._so_far())  # should nothing else be heard of it
            reply = at_own_price(await self._asked(tools), self._model.name, self._prompt.prices)
            self._in_doubt = False
            self._replies.append(reply)
            self._messages.append({"role": "assistant", "content": list(reply.content)})
            self._turns += [Turn("text", text=said) for block in reply.content if (said := _text(block, "text"))]
            self._prompt.heartbeat(self._so_far())
            if reply.stop_reason == "refusal":
                return "refused"
            if reply.stop_reason in LIMITS:
                return "limit"
            calls = [block for block in reply.content if block.get("type") == "tool_use"]
            if not calls and reply.stop_reason != "pause_turn":
                return "answered"
            idle = 0 if any(self._server_of(each) for each in calls) else idle + 1
            if idle >= MOST_IDLE or (self._max_turns is not None and len(self._replies) >= self._max_turns):
                self._turns += [_unanswered(call, self._server_of(call)) for call in calls]
                return "limit"
            if calls:
                self._messages.append({"role": "user", "content": [await self._called(call) for call in calls]})

    async def _asked(self, tools: list[JsonObject]) -> Reply:
        """Return the model's next message. Raises ModelError."""
        prompt = self._prompt
        if prompt.asking is not None:
            return await prompt.asking(
                self._model, prompt.env, system=prompt.system_prompt, messages=list(self._messages)
            )
        return await self._model.ask(prompt.env, system=prompt.system_prompt, messages=self._messages, tools=tools)

    async def _called(self, call: JsonObject) -> JsonObject:
        """Make one call of the model's, and return what it is told of it. Raises AgentError for a lost server."""
        turn = _unanswered(call, self._server_of(call))
        place = len(self._turns)
        self._turns.append(turn)
        server, tool = self._tools.get(turn.name or "", ("", None))
        blocks: list[JsonObject]
        if tool is None:
            blocks, text, failed, duration_ms = [], f"there is no tool {turn.name}", True, 0
        elif turn.input is None and call.get("input") is not None:
            blocks, text, failed, duration_ms = [], "the input is no object that a tool can be given", True, 0
        else:
            self._prompt.heartbeat(self._so_far())  # should the tool never answer
            try:
                done = await self._servers[server].call(tool.name, turn.input or {})
            except LostError as error:
                raise self._lost(server, str(error)) from error
            blocks = as_blocks(done.result) if done.result else []
            text = as_text(done.result) if done.result else done.error or ""
            failed = done.result is None or bool(done.result.is_error)
            duration_ms = done.duration_ms
        self._turns[place] = _answered(turn, text, failed=failed, duration_ms=duration_ms)
        self._prompt.heartbeat(self._so_far())
        content = blocks or ([{"type": "text", "text": text}] if text else [])
        return {"type": "tool_result", "tool_use_id": call.get("id"), "content": content, "is_error": failed}

    def _server_of(self, call: JsonObject) -> str | None:
        name = _text(call, "name")
        return self._tools[name][0] if name in self._tools else None

    def _check_servers(self) -> None:
        """Raise AgentError when a server went away, even if the answer was already there."""
        for name, connection in self._servers.items():
            if connection.lost is not None:
                raise self._lost(name, connection.lost)

    def _lost(self, server: str, how: str) -> AgentError:
        told = f"an MCP server went away during the task: {server}: {how}; the next task connects to it anew"
        return self._failure("mcp_failed", told, retryable=True)

    def _model_failure(self, error: ModelError) -> AgentError:
        if error.is_free:
            self._in_doubt = False
        # What is refused before the first reply is the config's: no tool of the agent has added to it.
        is_own = (bool(self._replies) and error.status in CONTENT_REFUSED) or isinstance(error, ReplyTooLongError)
        kind: AgentFailureKind = "agent_error" if is_own else "infra_error"
        return AgentError(
            kind,
            error.message,
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
            overloaded=error.overloaded,
            partial=self._so_far(),
        )

    def _failure(self, kind: AgentFailureKind, message: str, *, retryable: bool = False) -> AgentError:
        return AgentError(kind, message, retryable=retryable, partial=self._so_far())

    def _so_far(self) -> Answer:
        return self._known("empty", self._replies[-1].text if self._replies else "")

    def _known(self, status: Status, text: str) -> Answer:
        usage, cost_usd = total(self._replies) if self._replies else (None, 0.0)
        shares = {reply.price_share for reply in self._replies} or {1.0}
        return Answer(
            status=status,
            text=text,
            turns=tuple(self._turns),
            mcp={name: self._use(name, connection) for name, connection in self._servers.items()},
            usage=usage,
            cost_usd=None if self._in_doubt else cost_usd,
            price_share=shares.pop() if len(shares) == 1 else None,
            num_turns=len(self._replies) or None,
            models=tuple(dict.fromkeys(reply.model for reply in self._replies if reply.model)),
        )

    def _use(self, name: str, connection: Connection) -> McpUse:
        calls = [turn for turn in self._turns if turn.server == name]
        status = "connected" if connection.first else "reconnected"
        return McpUse(
            status=status if connection.lost is None else "failed",
            offered=tuple(tool.name for tool in connection.tools),
            called=len(calls),
            failed=sum(bool(turn.error) for turn in calls),
            server_name=connection.server_name,
            version=connection.version,
        )


def _text(block: JsonObject, name: str) -> str | None:
    """Return a text of a block; None where the service sent something else."""
    said = block.get(name)
    return said if isinstance(said, str) else None


def _described(name: str, tool: Tool) -> JsonObject:
    """Return a tool as the Messages API takes it."""
    described: JsonObject = {"name": name, "input_schema": tool.input_schema}
    return {**described, "description": tool.description} if tool.description else described


def _unanswered(call: JsonObject, server: str | None) -> Turn:
    """Return the turn of a call that is not answered yet, and counts as failed until it is."""
    given: Any = call.get("input")
    return Turn(
        "tool_call",
        id=_text(call, "id"),
        name=_text(call, "name") or "",
        server=server,
        input=given if isinstance(given, dict) and not is_deeper(given, DEEPEST_VALUE) else None,
        error=True,
    )


def _answered(turn: Turn, result: str, *, failed: bool, duration_ms: int) -> Turn:
    return Turn("tool_call", None, turn.id, turn.name, turn.server, turn.input, result, failed, duration_ms)
