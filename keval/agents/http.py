"""Posts the question to a web service, and takes the answer from what that replies.

What the service is sent is a template; where its reply has the answer, tokens and cost, paths say. A
connection that fails, 408, 409, 429 and 5xx are failures of the service, which is asked again, as late as it
wishes. Nothing but open connections is kept from task to task, no cookies either.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, ClassVar

from keval.agents import Agent, AgentError, Answer, OpenAgent, Prompt
from keval.agents._json_output import JsonOutput, as_answer, json_path
from keval.agents._templates import fill_all
from keval.models.http_statuses import is_overloaded, passes
from keval.models.retry_after import retry_after_s
from keval.plugins import option
from keval.secrets.excerpts import beginning_of

if TYPE_CHECKING:
    import httpx2

PLACEHOLDERS = ("question", "system_prompt", "turns", "mcp_servers", "repetition")
"""What a text of the body may contain in braces; one that is nothing else becomes the value itself."""

CONNECT_TIMEOUT_S = 30.0
"""How long a connection may take to be made; the reply has all the time that the task has."""

PROBE_TIMEOUT_S = 5.0
"""How long a service may take to say anything to a request that asks for no answer."""

REFUSED_ACCESS = (401, 403, 407)
"""What a service says that refuses access: what was not asked has not answered badly."""

LONGEST_EXCERPT = 400
"""Characters of a reply that are told with an error."""


@dataclass(frozen=True, kw_only=True)
class Http(Agent):
    """An agent behind an address."""

    uses_models: ClassVar[bool] = False
    beyond_mock: ClassVar[str | None] = "service"
    uses_workspace: ClassVar[bool] = False
    open_files: ClassVar[int] = 1

    url: str = field(metadata=option("where to post, as https://example.org/answer"))
    body: Mapping[str, Any] = field(
        default_factory=lambda: {"question": "{question}", "system_prompt": "{system_prompt}"},
        hash=False,
        metadata=option(
            "the JSON to post; in its texts {question}, {system_prompt}, {repetition}, {turns} and {mcp_servers} are "
            "filled in, a literal brace is {{",
            is_template=True,
        ),
    )
    headers: Mapping[str, str] = field(
        default_factory=dict, hash=False, metadata=option("headers, as Authorization: Bearer ${TOKEN}")
    )
    answer_path: str | None = field(
        default=None, metadata=option("where the answer is in a JSON reply, as $.choices[0].text; default: all of it")
    )
    usage_path: str | None = field(
        default=None, metadata=option("where a JSON reply has an object with input_tokens, output_tokens, …")
    )
    cost_path: str | None = field(default=None, metadata=option("where a JSON reply has the cost in US dollars"))
    model: str | None = field(default=None, metadata=option("the model behind the service, for the record"))
    max_reply_bytes: int = field(
        default=10 * 1024 * 1024, metadata=option("the longest reply that is read", identity=False)
    )

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://", "${")):
            raise ValueError("url: begins with http:// or https://")
        if self.max_reply_bytes <= 0:
            raise ValueError("max_reply_bytes: must be more than 0")
        fill_all(self.body, dict.fromkeys(PLACEHOLDERS, ""))
        for path in (self.answer_path, self.usage_path, self.cost_path):
            if path is not None:
                json_path(path)
        if self.answer_path is None and (self.usage_path or self.cost_path):
            raise ValueError("usage_path and cost_path go with answer_path: without it the reply is not JSON")

    @property
    def takes_turns(self) -> bool:
        """Whether the service is sent all messages."""
        return "{turns}" in _texts(self.body)

    @property
    def reports_tool_calls(self) -> bool:
        """A reply has no place for them."""
        return False

    async def unreachable(self) -> str | None:
        """Connect, and send a HEAD request: whatever comes back, the service is there."""
        import httpx2

        async with _client(PROBE_TIMEOUT_S) as client:
            try:
                await client.head(self.url)
            except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
                return _not_reached(error)
            except (httpx2.InvalidURL, UnicodeError) as error:
                return f"cannot be asked: {error}"
            except httpx2.TransportError:
                return None
        return None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenAgent]:
        """Yield the service, with connections that are kept open."""
        async with _client(None) as client:
            yield _Service(self, client)

    async def answer(self, prompt: Prompt) -> Answer:
        """Ask the service once, over a connection of its own. Raises AgentError."""
        async with self.opened() as service:
            return await service.answer(prompt)


def _client(timeout_s: float | None) -> httpx2.AsyncClient:
    import httpx2

    from keval.processes import web_connections

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S),
        mounts=web_connections.mounts(),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # one task must not know of another
    )


def _not_reached(error: httpx2.RequestError) -> str:
    return f"cannot reach the service: {beginning_of(str(error) or type(error).__name__, LONGEST_EXCERPT)}"


@dataclass(frozen=True, slots=True)
class _Service:
    """The service, with its open connections."""

    agent: Http
    client: httpx2.AsyncClient

    async def answer(self, prompt: Prompt) -> Answer:
        """Ask once. Raises AgentError."""
        import httpx2

        values = {name: getattr(prompt, name) for name in PLACEHOLDERS}
        body = fill_all(self.agent.body, values)
        try:
            async with self.client.stream("POST", self.agent.url, json=body, headers=self.agent.headers) as reply:
                said = await self._read(reply, prompt)
        except (httpx2.InvalidURL, httpx2.LocalProtocolError, UnicodeError) as error:
            raise AgentError("infra_error", f"cannot be asked: {error}") from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            raise AgentError("infra_error", _not_reached(error), retryable=True) from error
        if not reply.is_success:
            raise _failure(reply, said)
        return self._read_answer(said)

    async def _read(self, reply: httpx2.Response, prompt: Prompt) -> bytes:
        parts, length = [], 0
        async for part in reply.aiter_bytes():
            parts.append(part)
            length += len(part)
            if length > self.agent.max_reply_bytes:
                limit = self.agent.max_reply_bytes
                raise AgentError("agent_error", f"the reply is longer than max_reply_bytes ({limit})")
            prompt.heartbeat(Answer("empty", ""))
        return b"".join(parts)

    def _read_answer(self, said: bytes) -> Answer:
        agent = self.agent
        if agent.answer_path is not None:
            found = JsonOutput.read(said, "the reply")
            return as_answer(
                found.text(agent.answer_path), found.usage(agent.usage_path), found.cost_usd(agent.cost_path)
            )
        try:
            return as_answer(said.decode())
        except UnicodeDecodeError as error:
            raise AgentError("agent_error", f"the reply is not UTF-8: byte {error.start}: {error.reason}") from error


def _texts(body: object) -> Iterator[str]:
    """Yield all texts of a JSON value."""
    if isinstance(body, str):
        yield body
    inside = body.values() if isinstance(body, Mapping) else body if isinstance(body, list | tuple) else ()
    for each in inside:
        yield from _texts(each)


def _failure(reply: httpx2.Response, said: bytes) -> AgentError:
    """Return what an HTTP status other than success means."""
    status = reply.status_code
    told = f"HTTP {status}: {beginning_of(said.decode(errors='replace').strip(), LONGEST_EXCERPT) or 'no text'}"
    if passes(status):
        return AgentError(
            "infra_error",
            f"the service failed or is busy: {told}",
            retryable=True,
            retry_after_s=retry_after_s(reply.headers),
            overloaded=is_overloaded(status),
        )
    if status in REFUSED_ACCESS:
        return AgentError("infra_error", f"the service refused access: {told}")
    if reply.is_redirect:
        address = beginning_of(reply.headers.get("location", ""), LONGEST_EXCERPT)
        redirects = f"redirects to {address}; use that as url" if address else "redirects, and does not say where to"
        return AgentError("infra_error", f"the service {redirects} (HTTP {status})")
    return AgentError("infra_error", f"the service cannot be asked so; look at url, headers and body: {told}")
