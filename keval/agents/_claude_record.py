"""Turns what the Claude Agent SDK reports into an answer, or into the failure that it really is.

The SDK calls some failures a success: what counts is the error flag, the HTTP status and the
reason of the end, not the subtype and not the text.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKError,
    CLIConnectionError,
    CLIJSONDecodeError,
    CLINotFoundError,
    Message,
    ProcessError,
    ResultError,
    ResultMessage,
    ServerToolResultBlock,
    ServerToolUseBlock,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from claude_agent_sdk.types import McpServerStatus

from keval.agents import AgentError, Answer, McpUse, Status, Turn
from keval.agents._claude_launch import MAX_MESSAGE_BYTES, STDERR_LINES
from keval.failure_kinds import AgentFailureKind
from keval.models.http_statuses import CONTENT_REFUSED, is_overloaded, passes
from keval.secrets.excerpts import last_lines
from keval.tool_names import server_of
from keval.usage import Usage

SYNTHETIC = "<synthetic>"
"""The model that the CLI names for texts of its own, such as error messages."""

CONTINUED = ("max_tokens", "pause_turn")
"""Stop reasons after which the next message goes on where the last one was cut off."""

STDERR_LINES_KEPT = 200
"""More than are told: a secret of several lines is known only as a whole."""

KEY_REFUSED = ("authentication_failed", "billing_error")
"""The CLI's words for errors that another attempt meets again."""

TOKENS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
    "cache_creation_input_tokens": "cacheCreationInputTokens",
}
"""Our names of token counts, which are the API's, and the CLI's."""


@dataclass
class Record:
    """All that is known of one task; grows with each message of the SDK."""

    servers: Collection[str]
    tools: Collection[str] = ()
    """The built-in tools that the config lists."""
    result: ResultMessage | None = None
    statuses: dict[str, McpServerStatus] = field(default_factory=dict)
    stderr: deque[str] = field(default_factory=lambda: deque(maxlen=STDERR_LINES_KEPT))
    """The last lines that the CLI wrote to stderr."""
    orphaned_processes: tuple[str, ...] = ()
    """Names of processes that outlived the CLI."""
    asked: bool = False
    """Whether the question has been sent, and so may have cost something."""
    _turns: list[Turn] = field(default_factory=list)
    _open: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Calls that are not yet answered, by id: the position of their turn and when they were made."""
    _last_text: list[str] = field(default_factory=list)
    _offered: Collection[str] | None = None
    """Names of all tools that the CLI gives the model; None before it has said so."""
    _stop_reason: str | None = None
    _num_turns: int = 0
    _usages: list[dict[str, int | None]] = field(default_factory=list)
    """Token counts of each message of the model, as far as the stream has told them."""
    _models: dict[str, None] = field(default_factory=dict)
    _retries: list[SystemMessage] = field(default_factory=list)
    _api_error: str | None = None
    """The CLI's word for the last error of the Messages API."""
    _lost: dict[str, str] = field(default_factory=dict)
    """Servers that went away during the task, with what became of them."""

    def ask(self) -> None:
        """Take note that a message is about to be sent."""
        self.asked, self.result = True, None

    def add(self, message: Message) -> None:
        """Take note of one message."""
        match message:
            case StreamEvent():
                self._add_event(message)
            case AssistantMessage():
                self._add_assistant(message)
            case UserMessage(content=list() as blocks):
                for block in blocks:
                    if isinstance(block, ToolResultBlock):
                        self._close(block.tool_use_id, _text_of(block.content), bool(block.is_error))
            case SystemMessage(subtype="init"):
                self._offered = message.data["tools"]
            case SystemMessage(subtype="api_retry"):
                self._retries.append(message)
            case ResultMessage():
                self.result = message
                self._num_turns += message.num_turns

    def check_tools(self) -> None:
        """Raise AgentError when the CLI has said which tools it gives the model, and one of the config is not there."""
        missing = [] if self._offered is None else [name for name in self.tools if name not in self._offered]
        if missing:
            raise self.failure("infra_error", f"Claude Code does not offer {', '.join(missing)}, which tools lists")

    def _add_event(self, message: StreamEvent) -> None:
        event, of_the_agent_itself = message.event, message.parent_tool_use_id is None
        if event["type"] == "message_start":
            self._usages.append(_tokens(event["message"].get("usage") or {}))
            if of_the_agent_itself:
                self._begin_message()
        elif event["type"] == "message_delta" and self._usages:
            told = _tokens(event.get("usage") or {})
            self._usages[-1].update({name: count for name, count in told.items() if count is not None})
            if of_the_agent_itself:
                self._stop_reason = event["delta"].get("stop_reason")

    def _begin_message(self) -> None:
        """Forget the text so far, unless the new message continues it."""
        if self._stop_reason not in CONTINUED:
            self._last_text.clear()

    def _add_assistant(self, message: AssistantMessage) -> None:
        if message.model == SYNTHETIC:
            self._api_error = message.error
            return
        self._models[message.model] = None
        for block in message.content:
            match block:
                case TextBlock(text=text) if text:
                    self._turns.append(Turn("text", text=text))
                    if message.parent_tool_use_id is None:
                        self._last_text.append(text)
                case ToolUseBlock() | ServerToolUseBlock():
                    self._open[block.id] = (len(self._turns), time.monotonic())
                    self._turns.append(self._call(block))
                case ServerToolResultBlock():
                    self._close(block.tool_use_id, str(block.content), failed=False)

    def _call(self, block: ToolUseBlock | ServerToolUseBlock) -> Turn:
        """Return the turn of a call that is not answered yet, and counts as failed until it is."""
        server = server_of(block.name, self.servers)
        return Turn("tool_call", id=block.id, name=block.name, server=server, input=block.input, error=True)

    def _close(self, call: str, result: str, failed: bool) -> None:
        if call in self._open:
            position, started = self._open.pop(call)
            duration_ms = round((time.monotonic() - started) * 1000)
            self._turns[position] = replace(self._turns[position], result=result, error=failed, duration_ms=duration_ms)

    def lose(self, server: str, what: str) -> None:
        """Take note that an MCP server went away during the task."""
        self._lost.setdefault(server, what)

    def has_failed_call(self, server: str) -> bool:
        """Return whether a call of one of the server's tools failed, for whatever reason."""
        return any(turn.server == server and turn.error for turn in self._turns)

    def has_ended(self) -> bool:
        """Return whether the agent has ended by its own account: it answered, refused, or met its limit."""
        return self.result is not None and self._status(self.result) is not None

    def answer(self) -> Answer:
        """Return the answer when all is said.

        Raises AgentError when there is none.
        """
        result = self.result
        if result is None:
            raise self.failure("agent_error", "the CLI ended without a result", retryable=True)
        status = self._status(result)
        if status is None:
            raise self._result_failure(result)
        self._check_servers()
        text = "".join(self._last_text)
        if status == "answered" and not text.strip():
            status = "empty"
        return self._known(status, text)

    def _status(self, result: ResultMessage) -> Status | None:
        """Return how the agent ended by its own account, None if it failed."""
        if result.stop_reason == "refusal":
            return "refused"
        if "max_turns" in (result.terminal_reason, result.subtype.removeprefix("error_")):
            return "limit"
        if not result.is_error:
            return "answered"
        return "limit" if self._api_error == "max_output_tokens" else None

    def _check_servers(self) -> None:
        """Raise AgentError when a server went away in mid-run."""
        gone = {name: _said(status) for name, status in self.statuses.items() if status["status"] != "connected"}
        gone |= self._lost
        if gone:
            said = "; ".join(f"{name}: {what}" for name, what in gone.items())
            raise self.failure("mcp_failed", f"an MCP server went away during the task: {said}", retryable=True)

    def _result_failure(self, result: ResultMessage) -> AgentError:
        said = result.result or "; ".join(result.errors or []) or result.subtype
        if result.terminal_reason == "api_error" or result.api_error_status is not None:
            return self._api_failure(result.api_error_status, said)
        return self.failure("agent_error", f"{result.terminal_reason or result.subtype}: {said}", retryable=True)

    def _api_failure(self, http_status: int | None, said: str) -> AgentError:
        """Return the failure for an error of the Messages API; without a status it was not reached."""
        what = f"HTTP {http_status}: {said}" if http_status else said
        if self._retries:
            what += f" (after {len(self._retries)} retries of the CLI)"
        if http_status in (401, 403) or self._api_error in KEY_REFUSED:
            return self.failure("infra_error", f"the key was refused: {what}")
        not_reached = http_status is None and self._api_error != "invalid_request"
        if not_reached or passes(http_status):
            overloaded = is_overloaded(http_status)
            retry_after_s = self._retry_after_s() if overloaded else None
            return self.failure("infra_error", what, retryable=True, overloaded=overloaded, retry_after_s=retry_after_s)
        is_refused = http_status is None or http_status in CONTENT_REFUSED
        # What is refused before the first reply is the config's: no tool of the agent has added to it.
        is_own = is_refused and bool(self._turns or self._usages)
        return self.failure("agent_error" if is_own else "infra_error", what)

    def _retry_after_s(self) -> float | None:
        """Return what the service asked to wait: the CLI waits no less between its own attempts."""
        delay_ms = self._retries[-1].data.get("retry_delay_ms") if self._retries else None
        return None if delay_ms is None else delay_ms / 1000

    def failure(
        self,
        kind: AgentFailureKind,
        message: str,
        *,
        retryable: bool = False,
        overloaded: bool = False,
        retry_after_s: float | None = None,
    ) -> AgentError:
        """Return an error that carries all that is known so far."""
        return AgentError(
            kind,
            message,
            retryable=retryable,
            overloaded=overloaded,
            retry_after_s=retry_after_s,
            partial=self.so_far(),
        )

    def failure_of(self, error: Exception) -> AgentError:
        """Return the failure for anything that the SDK raises."""
        if isinstance(error, ResultError):
            said = error.result or "; ".join(error.errors) or str(error)
            if error.terminal_reason == "api_error" or error.api_error_status is not None:
                return self._api_failure(error.api_error_status, said)
            return self.failure("agent_error", said, retryable=True)
        kind, retryable, what = next(
            (meaning for kind, meaning in MEANINGS.items() if isinstance(error, kind)), UNKNOWN_MEANING
        )
        if not self.asked:
            kind = "infra_error"  # what nobody was asked nobody can have answered badly
        said = f"{what}: {error}" if str(error) else f"{what}: {type(error).__name__}"
        if isinstance(error, CLIJSONDecodeError) and "maximum buffer size" in str(error):
            said = f"a message of the CLI is longer than the limit of {MAX_MESSAGE_BYTES} bytes"
        if self.stderr:
            said += "; its stderr ends: " + last_lines("\n".join(self.stderr), STDERR_LINES)
        return self.failure(kind, said, retryable=retryable)

    def so_far(self) -> Answer:
        """Return what is known in the middle of the task."""
        return self._known("empty", "".join(self._last_text))

    def _known(self, status: Status, text: str) -> Answer:
        return Answer(
            status=status,
            text=text,
            turns=tuple(self._turns),
            mcp={name: self._use(name, server) for name, server in self.statuses.items()},
            usage=self._usage(),
            cost_usd=self._cost_usd(),
            num_turns=self._num_turns if self.result else None,
            models=tuple(self.result.model_usage or {}) if self.result else tuple(self._models),
            orphaned_processes=self.orphaned_processes,
        )

    def _use(self, name: str, status: McpServerStatus) -> McpUse:
        calls = [turn for turn in self._turns if turn.server == name]
        info = status.get("serverInfo")
        return McpUse(
            status=status["status"],
            offered=tuple(tool["name"] for tool in status.get("tools", [])),
            called=len(calls),
            failed=sum(bool(turn.error) for turn in calls),
            server_name=info["name"] if info else None,
            version=info["version"] if info else None,
        )

    def _usage(self) -> Usage | None:
        """Return the tokens of all models: the CLI's sums at the end, before that what the stream told."""
        if self.result is not None:
            models = (self.result.model_usage or {}).values()
            counted: list[Mapping[str, Any]] = [
                {name: model.get(theirs) for name, theirs in TOKENS.items()} for model in models
            ] or [self.result.usage or {}]
        else:
            counted = list(self._usages)
        if not counted:
            return None
        return Usage(**{name: _sum(tokens.get(name) for tokens in counted) for name in TOKENS})

    def _cost_usd(self) -> float | None:
        """Return the CLI's price; where it knows no price of a model it makes one up, and that is None."""
        if not self.asked:
            return 0.0
        if self.result is None:
            return None
        models = (self.result.model_usage or {}).values()
        if any(model.get("costBasis") == "unknown" for model in models):
            return None
        return self.result.total_cost_usd


MEANINGS: dict[type[ClaudeSDKError], tuple[AgentFailureKind, bool, str]] = {
    CLINotFoundError: ("infra_error", False, "Claude Code is missing"),
    CLIConnectionError: ("infra_error", True, "Claude Code cannot be started or reached"),
    ProcessError: ("agent_error", True, "Claude Code broke off"),
    CLIJSONDecodeError: ("agent_error", False, "Claude Code wrote something that is not JSON"),
    ClaudeSDKError: ("agent_error", False, "the Claude Agent SDK failed"),
}
"""What each exception of the SDK means: the failure's kind, whether to try again, and words for it; the
first that fits counts. `ResultError` says more itself."""

UNKNOWN_MEANING: tuple[AgentFailureKind, bool, str] = ("agent_error", True, "the Claude Agent SDK failed")
"""For the bare exceptions of the SDK's control channel, such as a time-out."""


def _text_of(content: str | list[dict[str, Any]] | None) -> str:
    """Return a tool result as text; of what is not text only its kind."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(block["text"] if block.get("type") == "text" else f"[{block.get('type')}]" for block in content)


def _said(status: McpServerStatus) -> str:
    error = status.get("error")
    return f"{status['status']}: {error}" if error else status["status"]


def _tokens(usage: Mapping[str, Any]) -> dict[str, int | None]:
    return {name: usage[name] if isinstance(usage.get(name), int) else None for name in TOKENS}


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of what is known, None if nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
