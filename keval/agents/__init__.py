"""What an agent is: a prompt in, an answer out, or an `AgentError` that says whether to try again.

An agent never sees the golden answer, the condition's name, or any other field of the sample.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from keval.errors import ItemError
from keval.failure_kinds import AgentFailureKind
from keval.models.prices import Prices, load
from keval.models.services import Service
from keval.processes.local_files import LocalFile
from keval.usage import Usage

if TYPE_CHECKING:
    from keval.models.messages_api import Asking

Status = Literal["answered", "empty", "refused", "limit"]
"""How the agent ended by its own account: it answered, said nothing, declined, or met a limit of turns or tokens."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of the agent: a text it wrote, or a tool it called."""

    type: Literal["text", "tool_call"]
    text: str | None = None
    id: str | None = None
    name: str | None = None
    server: str | None = None
    """The MCP server of a tool called `mcp__<server>__<tool>`, else None."""
    input: Mapping[str, Any] | None = None
    result: str | None = None
    error: bool | None = None
    """Whether the call failed; a call that was never answered is an error without a result."""
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class McpUse:
    """What became of one MCP server of the condition during one task."""

    status: str
    offered: tuple[str, ...] = ()
    """Names of the tools that the server listed."""
    called: int = 0
    failed: int = 0
    server_name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the agent answered, how it got there, and what that cost."""

    status: Status
    text: str
    turns: tuple[Turn, ...] = ()
    mcp: Mapping[str, McpUse] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    num_turns: int | None = None
    models: tuple[str, ...] = ()
    """The models that really answered, as the service names them."""
    price_share: float | None = 1.0
    """Which share of the usual price was paid, already in `cost_usd`: a batch costs half. None for several."""
    orphaned_processes: tuple[str, ...] = ()
    """Names of processes that were still there when the agent had ended by itself, and had to be ended."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an agent is told about one task, and where it may work."""

    question: str
    turns: tuple[str, ...]
    """The user's messages in order; one for a plain question."""
    system_prompt: str
    mcp_servers: Mapping[str, Mapping[str, Any]]
    """The condition's servers by name, with `${VAR}` resolved: never to be logged."""
    repetition: int
    workspace: Path
    """A new folder with an opaque name, empty unless the config says what is in it, gone from there when the task is
    over; no folder for an agent that uses none."""
    env: Mapping[str, str]
    """The whole environment that the agent's processes may have, made from an allow-list."""
    expected_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that servers must offer: an agent that knows what is offered asks nothing without them."""
    heartbeat: Callable[[Answer], None] = lambda _: None
    """To be called with what is known so far whenever something happens: the idle timeout
    starts anew, and a task that times out keeps its turns."""
    asking: Asking | None = None
    """Asks the agent's model in another way than each call by itself; only for an agent with a `batch_service`."""
    folder: Path = Path()
    """The config's folder, to which paths in an agent's options are relative."""
    prices: Prices = field(default_factory=load)
    """What models cost, for an agent that asks one itself."""


class AgentError(ItemError):
    """The agent could not answer one task; `partial` carries turns, usage and cost so far, as known."""

    def __init__(  # noqa: PLR0913 - what the runner decides by, all by name
        self,
        kind: AgentFailureKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
        partial: Answer | None = None,
    ) -> None:
        super().__init__(kind, message, retryable=retryable, retry_after_s=retry_after_s, overloaded=overloaded)
        self.partial = partial


class OpenAgent(Protocol):
    """An agent that is ready to answer the tasks of a run."""

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one task; many are answered at once. Raises AgentError."""


@dataclass(frozen=True, kw_only=True)
class Agent(ABC):
    """Base of all agents: a frozen dataclass whose fields are its options."""

    uses_models: ClassVar[bool] = True
    """Whether the agent itself talks to the Messages API and so needs a key, or the mock."""
    is_free: ClassVar[bool] = False
    """Whether no answer can cost anything, whoever the agent asks."""
    beyond_mock: ClassVar[str | None] = None
    """What of it a mock run calls as any other run does, such as its program: it may cost money all the same."""
    needs_servers: ClassVar[bool] = False
    """Whether a task fails unasked while an MCP server of its condition is not ready; another agent connects itself."""
    uses_workspace: ClassVar[bool] = True
    """Whether the agent works in a folder; making one per task is most of the work of a task without a model."""

    open_files: ClassVar[int] = 4
    """How many open files keval itself needs at most for one task of the agent, sockets and pipes among them."""

    @property
    def batch_service(self) -> Service | None:
        """Where batches of its calls can be made, as long as it has no tools; None: it does not ask by `asking`."""
        return None

    @property
    def reports_tool_calls(self) -> bool:
        """Whether its turns name every tool that it called; if not, none in them does not mean that there was none."""
        return True

    @property
    def says_costs(self) -> bool:
        """Whether its answers say themselves what they cost, so that a budget holds it without a known price."""
        return not self.uses_models

    @property
    def is_given_system_prompts(self) -> bool:
        """Whether the system prompt of a condition reaches whoever answers, as far as the config can tell."""
        return True

    @property
    def takes_turns(self) -> bool:
        """Whether it answers several messages one after the other, each knowing what was said before.

        Such a question is asked of no other agent: the last message alone would be another question.
        """
        return False

    @property
    def model_name(self) -> str | None:
        """The model as configured, or None for an agent that names none."""
        return getattr(self, "model", None)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Built-in tools that the agent has in every condition; part of each condition's identity."""
        return tuple(getattr(self, "tools", ()))

    @property
    def service(self) -> Service | None:
        """The service that its model is asked by, None for an agent that asks none by itself."""
        return None

    @property
    def servers_ready_within_s(self) -> float | None:
        """How long MCP servers may take to be ready, None for an agent that does not say."""
        return getattr(self, "mcp_timeout_s", None)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Environment variables that the agent must have, such as its key."""
        name = getattr(self, "api_key_env", None)
        return (name,) if name else ()

    @property
    def file_patterns(self) -> tuple[str, ...]:
        """What names files that the answers depend on, beside those that other options name."""
        return getattr(self, "files", ())

    def held_up(self, folder: Path, since_s: float) -> str | None:  # noqa: ARG002 - for subclasses
        """Return what has held up its answers since then, by the monotonic clock; None for nothing.

        Asked of an answer whose time is over: where it was held up, nobody can tell whether it would have come.
        """
        return None

    async def unreachable(self) -> str | None:
        """Return why whoever answers cannot be reached, without asking for an answer; None if nothing is known of that.

        Asked by `keval check`: a run would see it with each task.
        """
        return None

    def missing(self, folder: Path, env: Mapping[str, str]) -> str | None:  # noqa: ARG002 - for subclasses
        """Return what the agent cannot work without and that is not there, such as its program, or None.

        Asked before a run. `folder` is the config's, `env` the environment of the agent's processes. Raises PluginError
        for what is there and broken.
        """
        return None

    def local_files(self, folder: Path) -> tuple[LocalFile, ...]:  # noqa: ARG002 - for subclasses
        """Return the files on this machine that the options name and that make the agent the one it is.

        An edited one makes it another agent. `folder` is the config's.
        """
        return ()

    def files_elsewhere(self, folder: Path) -> tuple[str, ...]:  # noqa: ARG002 - for subclasses
        """Return the relative paths of files in `folder`, the config's, that lead nowhere in the folder it works in."""
        return ()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenAgent]:
        """Yield the open agent, which answers the tasks of one run in one event loop.

        What it keeps from task to task, such as connections, ends when the context does. An agent that keeps
        nothing yields itself.
        """
        yield self

    @abstractmethod
    async def answer(self, prompt: Prompt) -> Answer:
        """Answer one task.

        Cancelling the call ends every process that it started. Raises AgentError.
        """
