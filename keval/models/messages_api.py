"""The one place where keval itself talks to a model: one question to the Messages API, one reply.

Address and key come from the environment mapping that the caller hands in; nothing is taken from
the environment of the process but its proxies and certificates, and a loopback address is never
asked through a proxy. The SDK does not retry: who asks decides that.
"""

from __future__ import annotations

import asyncio
import functools
import math
import operator
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING, Any

import orjson

from keval.models import prices
from keval.secrets.excerpts import beginning_of
from keval.usage import Usage

if TYPE_CHECKING:
    import anthropic

BASE_URL = "ANTHROPIC_BASE_URL"
"""Where the Messages API is; unset means the service's own address."""

SERVICE_URL = "https://api.anthropic.com"

RETRYABLE_STATUS = (408, 409, 429)
"""Beside every 5xx: what the service says when the same call may succeed later."""

OVERLOADED_STATUS = (429, 529)
"""What the service says when it wants fewer calls at once."""

KEY_CHECK_TIMEOUT_S = 10.0
"""How long the service may take to say whether it takes a key."""

LONGEST_MESSAGE = 400
"""Characters of a service's error message that are kept."""

LONGEST_EXCERPT = 100
"""Characters that are shown of a reply that is none."""


class ModelError(Exception):
    """The model could not be asked, or did not reply with a message.

    `retryable` says whether the same call may succeed later, `retry_after_s` what the service
    asked to wait, `overloaded` that it asked for fewer calls at once.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.overloaded = overloaded


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said once, and what that cost; None where the service did not say."""

    text: str
    stop_reason: str | None
    model: str | None
    """The model that really replied."""
    usage: Usage
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model with its inference parameters; those that are None are not sent."""

    name: str
    max_tokens: int
    temperature: float | None = None
    effort: str | None = None
    api_key_env: str = "ANTHROPIC_API_KEY"
    timeout_s: float = 120

    async def ask(
        self,
        env: Mapping[str, str],
        *,
        system: str,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send a conversation and return the reply; with `schema` its text is JSON of that shape.

        Raises ModelError.
        """
        import anthropic

        client = await _client(env.get(BASE_URL) or SERVICE_URL, _key(env, self.api_key_env))
        try:
            async with asyncio.timeout(self.timeout_s):
                raw = await client.messages.with_raw_response.create(**self._request(system, messages, schema))
                return _reply(await raw.read())
        except (TimeoutError, anthropic.APITimeoutError) as error:
            raise ModelError(f"no reply from {self.name} within {self.timeout_s:g} s", retryable=True) from error
        except anthropic.AnthropicError as error:
            raise model_error(error) from error

    def _request(
        self, system: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.name,
            "max_tokens": self.max_tokens,
            "system": system,
            "messages": [dict(message) for message in messages],
            "timeout": self.timeout_s,
        }
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


async def refusal(env: Mapping[str, str], api_key_env: str) -> str | None:
    """Ask the service, free of charge, whether it takes a key, and return its refusal if it does not.

    None also means that the service could not be asked, or answers such questions in another way:
    only a plain «no» is one.
    """
    import anthropic

    try:
        client = await _client(env.get(BASE_URL) or SERVICE_URL, _key(env, api_key_env))
        await client.models.list(limit=1, timeout=KEY_CHECK_TIMEOUT_S)
    except anthropic.AuthenticationError as error:
        return f"{api_key_env}: {_status_error(error).message}"
    except anthropic.AnthropicError:
        return None
    except ModelError as error:
        return error.message
    return None


def total(replies: Sequence[Reply]) -> tuple[Usage, float | None]:
    """Return tokens and cost in USD of one or more replies; one unknown makes the sum unknown."""
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    usage = functools.reduce(operator.add, (reply.usage for reply in replies))
    return usage, sum(costs) if len(costs) == len(replies) else None


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
    retryable = status in RETRYABLE_STATUS or status >= 500  # noqa: PLR2004 - 5xx: the service's own fault
    if retryable:
        advice = "the service failed or is busy"
    return ModelError(
        beginning_of(f"{advice} (HTTP {status}): {error.api_message or error.message}", LONGEST_MESSAGE),
        retryable=retryable,
        retry_after_s=_retry_after_s(error.response.headers),
        overloaded=status in OVERLOADED_STATUS,
    )


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, 10.2.3)."""
    written = headers.get("retry-after", "")
    try:
        seconds = float(written)
    except ValueError:
        date = parsedate_tz(written)
        if date is None:
            return None
        seconds = mktime_tz(date) - time.time()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _key(env: Mapping[str, str], name: str) -> str:
    key = env.get(name, "")
    if not key:
        raise ModelError(f"{name} is not set")
    if not key.isascii() or not key.isprintable():
        # Such a key breaks inside the HTTP layer, with an error that may quote it.
        raise ModelError(f"{name} holds characters that no key has, such as a line break")
    return key


_clients: dict[
    tuple[asyncio.AbstractEventLoop, str, str], tuple[anthropic.AsyncAnthropic, AsyncGenerator[None, None]]
] = {}


async def _client(base_url: str, key: str) -> anthropic.AsyncAnthropic:
    """Return the client of this address and key; the running event loop closes it at its end."""
    index = (asyncio.get_running_loop(), base_url, key)
    if index not in _clients:
        client = _new_client(base_url, key)
        closing = _closing(client, index)
        _clients[index] = client, closing
        await anext(closing)
    return _clients[index][0]


async def _closing(
    client: anthropic.AsyncAnthropic, index: tuple[asyncio.AbstractEventLoop, str, str]
) -> AsyncGenerator[None, None]:
    """Close a client when the event loop shuts down its async generators, as `asyncio.run` does."""
    try:
        yield
    finally:
        del _clients[index]
        await client.close()


def _new_client(base_url: str, key: str) -> anthropic.AsyncAnthropic:
    import anthropic

    direct = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
    client = anthropic.AsyncAnthropic(
        base_url=base_url,
        api_key=key,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(mounts=direct),
    )
    # The constructor merges ANTHROPIC_CUSTOM_HEADERS of the process into every call and has no argument against it.
    client._custom_headers = {}  # noqa: SLF001 - see above
    return client


def _reply(body: bytes) -> Reply:
    """Read a message as the service sent it, field by field: the SDK's own types are not checked."""
    try:
        message = orjson.loads(body)
    except ValueError as error:
        # A proxy's page, most likely: the next call may get through.
        raise ModelError(f"the reply is not JSON: {_excerpt(body)}", retryable=True) from error
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        raise ModelError(f"the reply is not a message: {_excerpt(body)}")
    model, usage = message.get("model"), _usage(message.get("usage"))
    return Reply(
        text="".join(
            block["text"]
            for block in message["content"]
            if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
        ),
        stop_reason=message.get("stop_reason"),
        model=model,
        usage=usage,
        cost_usd=prices.cost_usd(model, usage),
    )


def _excerpt(body: bytes) -> str:
    return repr(beginning_of(body.decode(errors="replace"), LONGEST_EXCERPT))


def _usage(written: object) -> Usage:
    counts = written if isinstance(written, dict) else {}

    def count(name: str) -> int | None:
        value = counts.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    return Usage(
        input_tokens=count("input_tokens"),
        output_tokens=count("output_tokens"),
        cache_read_input_tokens=count("cache_read_input_tokens"),
        cache_creation_input_tokens=count("cache_creation_input_tokens"),
    )
