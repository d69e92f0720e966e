"""The one place where keval itself talks to a model: one question to the Messages API, one reply.

Address and key come from the environment mapping that the caller hands in; nothing is taken from
the environment of the process but its proxies and certificates, and a loopback address is never
asked through a proxy. The SDK does not retry: who asks decides that.
"""

from __future__ import annotations

import asyncio
import functools
import operator
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from keval.ids import JsonObject
from keval.models import prices
from keval.models.clients import is_login_error, new_client
from keval.models.http_statuses import is_overloaded, is_redirect, may_be_paid, passes
from keval.models.retry_after import retry_after_s
from keval.models.services import Service
from keval.secrets.excerpts import beginning_of
from keval.usage import Usage, known_cost_usd, known_sum, known_usage

if TYPE_CHECKING:
    import anthropic

    from keval.models.clients import Client

OVERLOADED_ERRORS = ("overloaded_error", "rate_limit_error")
PASSING_ERRORS = ("api_error", "timeout_error", *OVERLOADED_ERRORS)
"""What the service calls such failures."""

KEY_CHECK_TIMEOUT_S = 10.0
"""How long the service may take to say whether it takes a key."""

KEPT = {"type": "ephemeral"}
"""What marks the end of what the service's prompt cache keeps."""

LONGEST_MESSAGE = 400
"""Characters of a service's error message that are kept."""

LARGEST_REPLY_BYTES = 10 * 1024 * 1024
"""As much of a reply is read, unless who asks says otherwise: some ten times the longest message of a model."""

LONGEST_EXCERPT = 100
"""Characters that are shown of an unusable reply."""


class ModelError(Exception):
    """The model could not be asked, or did not reply with a message.

    `retryable` says whether the same call may succeed later, `retry_after_s` what the service
    asked to wait, `overloaded` that it asked for fewer calls at once.
    """

    def __init__(  # noqa: PLR0913 - what a caller decides by, all by name
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
        status: int | None = None,
        is_free: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.overloaded = overloaded
        self.status = status
        """The HTTP status, None where there was none."""
        self.is_free = is_free
        """Whether the call is not paid for: it was refused or never sent. Of any other nobody knows what it costs."""


class ReplyTooLongError(ModelError):
    """The service replied with more than was asked for; it was not read to its end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said once, and what that cost; None where the service did not say."""

    text: str
    stop_reason: str | None
    model: str | None
    """The model that really replied."""
    usage: Usage
    cost_usd: float | None
    content: tuple[JsonObject, ...] = ()
    """All blocks as the service sent them, tool calls among them: to be sent back as they are."""
    price_share: float = 1.0
    """Which share of the usual price is paid, already in `cost_usd`: a batch costs half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model with its inference parameters; those that are None are not sent."""

    name: str
    max_tokens: int
    temperature: float | None = None
    effort: str | None = None
    service: Service = field(default_factory=Service)
    timeout_s: float = 120
    max_reply_bytes: int = LARGEST_REPLY_BYTES
    prompt_cache: bool = False
    """Whether the service is asked to keep for the next call what will be sent again."""

    async def ask(
        self,
        env: Mapping[str, str],
        *,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Reply:
        """Send a conversation and return the reply; with `schema` its text is JSON of that shape.

        With `tools` the reply may call some of them; what a prompt cache keeps is then the conversation so far, too.
        Raises ModelError.
        """
        import anthropic

        client = await client_of(self.service, env)
        request = self._request(system, messages, schema, tools)
        try:
            async with (
                asyncio.timeout(self.timeout_s),
                client.messages.with_streaming_response.create(**request) as reply,
            ):
                return _reply(await self._read(reply))
        except (TimeoutError, anthropic.APITimeoutError) as error:
            raise ModelError(f"no reply from {self.name} within {self.timeout_s:g} s", retryable=True) from error
        except anthropic.AnthropicError as error:
            raise model_error(error) from error
        except Exception as error:
            if not is_login_error(error):
                raise
            told = beginning_of(str(error), LONGEST_MESSAGE)
            raise ModelError(f"the key was refused: {told}", is_free=True) from error

    def batch_params(
        self, *, system: str, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> JsonObject:
        """Return what a batch holds of a conversation: the body of the request that `ask` would send."""
        request = self._request(system, messages, schema, ())
        request.pop("timeout")
        return {**request, **request.pop("extra_body", {})}

    async def _read(self, reply: anthropic.AsyncAPIResponse[Any]) -> bytes:
        """Return the body of a reply. Raises ReplyTooLongError, and what the SDK raises when it reads one itself."""
        import anthropic
        import httpx2

        body = bytearray()
        try:
            async for part in reply.iter_bytes():
                body += part
                if len(body) > self.max_reply_bytes:
                    raise ReplyTooLongError(f"the reply is longer than {self.max_reply_bytes} bytes")
        except httpx2.TimeoutException as error:
            raise anthropic.APITimeoutError(request=reply.http_request) from error
        except httpx2.RequestError as error:
            raise anthropic.APIConnectionError(request=reply.http_request) from error
        return bytes(body)

    def check_key(self, env: Mapping[str, str]) -> None:
        """Raise ModelError when there is no key to ask with."""
        _key(env, self.service.key_name)

    def _request(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
        tools: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self.max_tokens,
            "messages": [dict(message) for message in messages],
            "timeout": self.timeout_s,
        }
        if system:
            # The service takes no empty one. A conversation with tools is kept whole, this with it.
            request["system"] = _kept(system) if self.prompt_cache and not tools else system
        if tools:
            request["tools"] = [dict(tool) for tool in tools]
            if self.prompt_cache:
                request["cache_control"] = KEPT
        if self.temperature is not None:
            # Current models refuse it and the SDK has no argument for it; older ones still take it.
            request["extra_body"] = {"temperature": self.temperature}
        output_config: dict[str, Any] = {}
        if schema is not None:
            output_config["format"] = {"type": "json_schema", "schema": schema}
        if self.effort is not None:
            output_config["effort"] = self.effort
        if output_config:
            request["output_config"] = output_config
        return request


def _kept(system: str) -> list[dict[str, Any]]:
    """Return a system prompt that the service's prompt cache keeps; the schema of the reply is part of its entry."""
    return [{"type": "text", "text": system, "cache_control": KEPT}]


class Asking(Protocol):
    """Asks a model as its own `ask` does, in another way than each call by itself: by a batch, for one."""

    async def __call__(
        self,
        model: Model,
        env: Mapping[str, str],
        /,
        *,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the reply. Raises ModelError."""


async def refusal(env: Mapping[str, str], service: Service) -> str | None:
    """Ask a service, free of charge, whether it takes a key, and return its refusal if it does not.

    None also means that the service could not be asked, or answers such questions in another way:
    only a plain «no» is one.
    """
    import anthropic

    reached = service.reached_by(env)
    try:
        client = await _client(reached, _key(env, service.key_name))
        if not isinstance(client, anthropic.AsyncAnthropic):
            return None  # a cloud has no such question
        await client.models.list(limit=1, timeout=KEY_CHECK_TIMEOUT_S)
    except anthropic.AuthenticationError as error:
        return f"{service.key_name}: {_status_error(error).message}"
    except anthropic.AnthropicError:
        return None
    except ModelError as error:
        return error.message
    return None


def at_own_price(reply: Reply, asked: str, own: prices.Prices) -> Reply:
    """Return a reply with what it costs by the config's own price of its model, as it is where the config gives none.

    It is that of the name that was asked, or else of the one that the reply tells.
    """
    name = next((each for each in (asked, reply.model) if own.is_own(each)), None)
    if name is None:
        return reply
    return replace(reply, cost_usd=_share(own.cost_usd(name, reply.usage), reply.price_share))


def total(replies: Sequence[Reply]) -> tuple[Usage, float | None]:
    """Return tokens and cost in USD of one or more replies; one unknown makes the sum unknown."""
    usage = functools.reduce(operator.add, (reply.usage for reply in replies))
    return usage, known_cost_usd(known_sum([reply.cost_usd for reply in replies]))


def model_error(error: anthropic.AnthropicError) -> ModelError:
    """Return what an error of the SDK means for the caller."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        return _status_error(error)
    if isinstance(error, anthropic.APIConnectionError):
        cause = f" ({error.__cause__})" if str(error.__cause__ or "") else ""
        return ModelError(f"cannot reach {error.request.url.host}: {error.message}{cause}", retryable=True)
    if isinstance(error, anthropic.RetryableError):
        return ModelError(beginning_of(f"the Messages API failed: {error}", LONGEST_MESSAGE), retryable=True)
    return ModelError(beginning_of(f"the Messages API failed: {type(error).__name__}: {error}", LONGEST_MESSAGE))


def _status_error(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    advice = {
        401: "the service refused the key",
        403: "the key may not do this",
        404: "the service does not know this model or address",
    }.get(status, "the service refused the call")
    retryable = passes(status)
    if retryable:
        advice = "the service failed or is busy"
    elif is_redirect(status):
        advice = f"the service sends on to {error.response.headers.get('location')}, which is not followed"
    return ModelError(
        beginning_of(f"{advice} (HTTP {status}): {error.api_message or error.message}", LONGEST_MESSAGE),
        retryable=retryable,
        retry_after_s=retry_after_s(error.response.headers),
        overloaded=is_overloaded(status),
        status=status,
        is_free=not may_be_paid(status),
    )


def _key(env: Mapping[str, str], name: str) -> str:
    key = env.get(name, "")
    if not key:
        raise ModelError(f"{name} is not set", is_free=True)
    if not key.isascii() or not key.isprintable():
        # Such a key breaks inside the HTTP layer, with an error that may quote it.
        raise ModelError(f"{name} holds characters that no key has, such as a line break", is_free=True)
    return key


_clients: dict[tuple[asyncio.AbstractEventLoop, Service, str], tuple[Client, AsyncGenerator[None, None]]] = {}


async def client_of(service: Service, env: Mapping[str, str]) -> Client:
    """Return the client of a service as an environment has it. Raises ModelError when there is none to be had."""
    return await _client(service.reached_by(env), _key(env, service.key_name))


async def _client(service: Service, key: str) -> Client:
    """Return the client of this service and key; the running event loop closes it at its end."""
    index = (asyncio.get_running_loop(), service, key)
    if index not in _clients:
        try:
            client = new_client(service, key)
        except (ImportError, OSError, ValueError) as error:
            told = beginning_of(str(error), LONGEST_MESSAGE)
            raise ModelError(f"provider {service.provider}: {told}", is_free=True) from error
        closing = _closing(client, index)
        _clients[index] = client, closing
        await anext(closing)
    return _clients[index][0]


async def _closing(client: Client, index: tuple[asyncio.AbstractEventLoop, Service, str]) -> AsyncGenerator[None, None]:
    """Close a client when the event loop shuts down its async generators, as `asyncio.run` does."""
    try:
        yield
    finally:
        del _clients[index]
        await client.close()


def _reply(body: bytes) -> Reply:
    """Read a message as the service sent it, field by field: the SDK's own types are not checked."""
    try:
        message = orjson.loads(body)
    except ValueError as error:
        # A proxy's page, most likely: the next call may get through.
        raise ModelError(f"the reply is not JSON: {_excerpt(body)}", retryable=True) from error
    return reply_of(message)


def reply_of(message: object, price_share: float = 1.0) -> Reply:
    """Read a parsed message. Raises ModelError for an error, and for what is no message."""
    if isinstance(message, dict) and message.get("type") == "error":
        raise error_in_good_order(message)
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise ModelError(f"the reply is not a message: {_excerpt(orjson.dumps(message))}")
    model, said = _text(message.get("model")), message.get("usage")
    usage = known_usage(said) if isinstance(said, dict) else Usage()
    return Reply(
        text="".join(
            block["text"]
            for block in message["content"]
            if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
        ),
        stop_reason=_text(message.get("stop_reason")),
        model=model,
        usage=usage,
        cost_usd=_share(prices.cost_usd(model, usage), price_share),
        content=tuple(block for block in message["content"] if isinstance(block, dict)),
        price_share=price_share,
    )


def _share(cost_usd: float | None, price_share: float) -> float | None:
    return None if cost_usd is None else cost_usd * price_share


def error_in_good_order(message: Mapping[str, Any]) -> ModelError:
    """Return what an error means that came with HTTP 200: of a gateway, or of one request of a batch."""
    error = message.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    told = error.get("message") if isinstance(error, dict) else error
    return ModelError(
        beginning_of(f"the service failed: {kind}: {told}", LONGEST_MESSAGE),
        retryable=kind in PASSING_ERRORS,
        overloaded=kind in OVERLOADED_ERRORS,
    )


def _excerpt(body: bytes) -> str:
    return repr(beginning_of(body.decode(errors="replace"), LONGEST_EXCERPT))


def _text(written: object) -> str | None:
    return written if isinstance(written, str) else None
