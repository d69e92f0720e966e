import asyncio
import inspect
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import anthropic
import httpx2
import pytest

from keval.mock import Mock
from keval.models import messages_api, prices
from keval.models.messages_api import Model, ModelError, Reply
from keval.models.services import Service
from keval.usage import Usage

MODEL = Model(name="claude-opus-5", max_tokens=1000)
HELLO = [{"role": "user", "content": "What is the capital of France?"}]
REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/messages")


async def ask(env: Mapping[str, str], model: Model = MODEL, **arguments: Any) -> Reply:  # noqa: ANN401 - passed on
    """Ask one question."""
    return await model.ask(env, system="Be brief.", messages=HELLO, **arguments)


async def error_of(env: Mapping[str, str], model: Model = MODEL) -> ModelError:
    """Return the error that the question ends in."""
    with pytest.raises(ModelError) as caught:
        await ask(env, model)
    return caught.value


async def test_a_reply_has_text_model_tokens_and_cost(mock: Mock) -> None:
    """Everything that the service says about a call is kept."""
    reply = await ask(mock.env)
    assert "capital" in reply.text
    assert reply.stop_reason == "end_turn"
    assert reply.model == "claude-opus-5"
    assert reply.usage.input_tokens
    assert reply.usage.cache_read_input_tokens == 0
    assert reply.cost_usd == prices.cost_usd("claude-opus-5", reply.usage)
    assert reply.cost_usd


@pytest.mark.parametrize("prompt_cache", [True, False])
async def test_the_service_keeps_a_conversation_only_where_it_may(mock: Mock, *, prompt_cache: bool) -> None:
    """The one setting counts for the system prompt and for a conversation with tools."""
    model = Model(name="claude-opus-5", max_tokens=1000, prompt_cache=prompt_cache)
    tool = {"name": "search", "input_schema": {"type": "object"}}
    await model.ask(mock.env, system="Be brief.", messages=HELLO, tools=[tool])
    await model.ask(mock.env, system="Be brief.", messages=HELLO)
    assert ["cache_control" in str(asked.body) for asked in mock.recorded[-2:]] == [prompt_cache] * 2


async def test_only_what_is_set_is_sent(mock: Mock) -> None:
    """A parameter that is None would be refused by models that do not know it."""
    await ask(mock.env)
    body = mock.recorded[-1].body
    assert body == {"model": "claude-opus-5", "max_tokens": 1000, "system": "Be brief.", "messages": HELLO}
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    model = Model(name="claude-opus-4-5", max_tokens=100_000, temperature=0.5, effort="low")
    await ask(mock.env, model, schema=schema)
    body = mock.recorded[-1].body
    assert body["temperature"] == 0.5
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": schema}, "effort": "low"}


async def test_a_reply_that_is_cut_off_says_so(mock: Mock) -> None:
    """`stop_reason` comes from the service."""
    reply = await ask(mock.env, Model(name="claude-opus-5", max_tokens=1))
    assert reply.stop_reason == "max_tokens"


async def test_nothing_is_taken_from_the_environment_of_the_process(
    mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys, tokens, addresses and headers that lie around are neither needed nor sent, and loopback has no proxy."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_WEBHOOK_SIGNING_KEY"):
        monkeypatch.setenv(name, "stray-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer stray-secret\nX-Stray: stray-secret")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    model = Model(name="claude-opus-5", max_tokens=9, service=Service(api_key_env="JUDGE_KEY"))
    await ask({**mock.env, "JUDGE_KEY": "judges-key"}, model)
    headers = mock.recorded[-1].headers
    assert "judges-key" in headers.get("authorization", "") + headers.get("x-api-key", "")
    assert "stray-secret" not in str(headers)
    assert mock.env["ANTHROPIC_API_KEY"] not in str(headers)


@pytest.mark.parametrize(
    ("key", "said"),
    [(None, "is not set"), ("", "is not set"), ("sk-1\n", "no key has"), ("schlüssel", "no key has")],
)
async def test_a_missing_or_broken_key_is_named_and_never_shown(mock: Mock, key: str | None, said: str) -> None:
    """Another attempt would not help."""
    env = {name: value for name, value in mock.env.items() if name != "ANTHROPIC_API_KEY"}
    error = await error_of(env if key is None else env | {"ANTHROPIC_API_KEY": key})
    assert error.message.startswith("ANTHROPIC_API_KEY ")
    assert said in error.message
    assert not error.retryable
    if key:
        assert key not in error.message


@pytest.mark.parametrize(
    ("fault", "retryable", "overloaded", "said"),
    [
        ("400", False, False, "HTTP 400"),
        ("401", False, False, "the service refused the key (HTTP 401): invalid x-api-key"),
        ("403", False, False, "the key may not do this (HTTP 403)"),
        ("404", False, False, "does not know this model or address (HTTP 404)"),
        ("413", False, False, "HTTP 413"),
        ("429", True, True, "HTTP 429"),
        ("500", True, False, "HTTP 500"),
        ("529", True, True, "(HTTP 529): Overloaded"),
        ("cut", True, False, "cannot reach 127.0.0.1"),
        ("garbage", True, False, "the reply is not JSON: '<!doctype html>"),
    ],
)
async def test_each_failure_says_what_it_was_and_whether_to_try_again(
    fault: str, retryable: bool, overloaded: bool, said: str
) -> None:
    """The SDK itself tries once, so that each attempt is seen and counted."""
    with Mock(errors=f"{fault}:1", retry_after_s=7) as failing:
        error = await error_of(failing.env)
    assert said in error.message
    assert error.retryable == retryable
    assert error.overloaded == overloaded
    assert error.retry_after_s == (7 if overloaded else None)
    assert failing.requests.total == 1


async def test_a_service_that_does_not_reply_is_left_after_the_timeout() -> None:
    """The time is that of the whole call."""
    with Mock(errors="hang:1") as hanging:
        started = time.monotonic()
        error = await error_of(hanging.env, Model(name="claude-opus-5", max_tokens=9, timeout_s=0.2))
    assert error.message == "no reply from claude-opus-5 within 0.2 s"
    assert error.retryable
    assert time.monotonic() - started < 10


async def test_a_service_that_drips_is_left_after_the_timeout() -> None:
    """A byte now and then does not prolong the call."""

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" ")
            await asyncio.sleep(0.02)
        with suppress(OSError):
            await writer.wait_closed()  # else its socket may be open when the loop ends
        left.set()

    left = asyncio.Event()  # never set if a busy machine takes longer than the timeout to connect
    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        env = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "key"}
        error = await error_of(env, Model(name="m", max_tokens=9, timeout_s=1.5))
        await asyncio.wait_for(left.wait(), 30)
    assert error.message == "no reply from m within 1.5 s"


async def test_a_refused_connection_may_be_tried_again() -> None:
    """The message names the host and the cause."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = await error_of({"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "key"})
    assert error.retryable
    assert error.message.startswith("cannot reach 127.0.0.1: ")
    assert "onnect" in error.message


async def test_a_cancelled_call_ends_at_once() -> None:
    """Ctrl-C does not wait for the service."""
    with Mock(errors="hang:1") as hanging:
        call = asyncio.create_task(ask(hanging.env))
        while not hanging.requests.total:  # noqa: ASYNC110 - the mock lives in another thread
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_many_calls_at_once_share_their_connections(mock: Mock) -> None:
    """One client serves all calls with one address and key."""
    before = mock.requests.total
    replies = await asyncio.gather(*(ask(mock.env) for _ in range(50)))
    assert len(replies) == 50
    assert mock.requests.total == before + 50


@pytest.mark.slow
def test_nothing_is_left_open_when_the_loop_ends(mock: Mock) -> None:
    """Clients close with the event loop that used them: a child with all warnings as errors is silent."""
    script = (
        "import asyncio, gc, json, sys\n"
        "from keval.models.messages_api import Model\n"
        "async def main():\n"
        "    model = Model(name='claude-opus-5', max_tokens=9)\n"
        "    await model.ask(json.loads(sys.argv[1]), system='s', messages=[{'role': 'user', 'content': 'q'}])\n"
        "asyncio.run(main()); asyncio.run(main()); gc.collect()\n"
    )
    arguments = [sys.executable, "-W", "error::ResourceWarning", "-c", script, json.dumps(mock.env)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("named", "cost_usd"),
    [({"replied": 2e6}, 1.0), ({"asked": 2e6}, 1.0), ({"another": 2e6}, 0.5), ({"replied": 4e6, "asked": 2e6}, 1.0)],
)
def test_a_configs_own_price_is_that_of_the_name_that_it_knows(named: dict[str, float], cost_usd: float) -> None:
    """Be it what a gateway is asked for, or what it says has answered; a batch costs its share of it."""
    own = prices.load({name: {"input": price, "output": 0} for name, price in named.items()})
    reply = Reply("", "end_turn", "replied", Usage(1, 2, 0, 0), 0.5, price_share=0.5)
    assert messages_api.at_own_price(reply, "asked", own).cost_usd == cost_usd


def test_tokens_and_costs_of_replies_are_added_up() -> None:
    """One that is unknown makes its sum unknown, and only its."""
    known = Reply("", "end_turn", "m", Usage(1, 2, 3, 4), 0.5)
    unknown = Reply("", "end_turn", "m", Usage(10, None, 30, 40), None)
    assert messages_api.total([known, known]) == (Usage(2, 4, 6, 8), 1.0)
    assert messages_api.total([known, unknown]) == (Usage(11, None, 33, 44), None)


def all_errors(
    base: type[anthropic.AnthropicError] = anthropic.AnthropicError,
) -> Iterator[type[anthropic.AnthropicError]]:
    """Yield every error class of the SDK."""
    yield base
    for each in base.__subclasses__():
        yield from all_errors(each)


def made(kind: type[anthropic.AnthropicError]) -> anthropic.AnthropicError:
    """Return an error of the SDK as the SDK raises it."""
    if issubclass(kind, anthropic.APIStatusError):
        status = getattr(kind, "status_code", 500)
        return kind("failed", response=httpx2.Response(status, request=REQUEST), body=None)
    if issubclass(kind, anthropic.APIResponseValidationError):
        return kind(httpx2.Response(200, request=REQUEST), None)
    if issubclass(kind, anthropic.APIConnectionError):
        return kind(request=REQUEST)
    if issubclass(kind, anthropic.APIError):
        return kind("failed", REQUEST, body=None)
    _, *parameters = inspect.signature(kind.__init__).parameters.values()
    named = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    return kind(**{each.name: each.name for each in named if each.default is each.empty})


@pytest.mark.parametrize("kind", sorted(set(all_errors()), key=str))
def test_every_error_of_the_sdk_has_a_meaning(kind: type[anthropic.AnthropicError]) -> None:
    """Retried is what the service says may pass, and trouble on the way to it; nothing else."""
    error = messages_api.model_error(made(kind))
    passing = (
        anthropic.RequestTimeoutError,
        anthropic.ConflictError,
        anthropic.RateLimitError,
        anthropic.InternalServerError,
        anthropic.APIConnectionError,
        anthropic.RetryableError,
    )
    if kind is not anthropic.APIStatusError:
        assert error.retryable == issubclass(kind, passing)
    assert error.message


@pytest.mark.parametrize("status", [402, 405, 408, 409, 418, 422, 429, 499, 500, 502, 503, 504, 529, 599])
def test_a_status_without_a_class_of_its_own_goes_by_its_number(status: int) -> None:
    """408, 409, 429 and every 5xx may pass; 429, 503 and 529 ask for fewer calls."""
    response = httpx2.Response(status, request=REQUEST)
    error = messages_api.model_error(anthropic.APIStatusError("failed", response=response, body=None))
    assert error.retryable == (status in {408, 409, 429} or status >= 500)
    assert error.overloaded == (status in {429, 503, 529})


def retry_after_s(headers: dict[str, str]) -> float | None:
    """Return the wait that an answer with these headers asks for."""
    response = httpx2.Response(429, headers=headers, request=REQUEST)
    return messages_api.model_error(anthropic.RateLimitError("slow", response=response, body=None)).retry_after_s


def test_a_long_error_message_is_cut() -> None:
    """A service that answers with a page does not fill the log."""
    response = httpx2.Response(400, request=REQUEST)
    error = anthropic.BadRequestError("x" * 10_000, response=response, body=None)
    assert len(messages_api.model_error(error).message) < 500


async def test_nothing_is_sent_on_to_an_address_that_nobody_named() -> None:
    """A redirect is an error with the address in it: headers and what is asked stay with the service of the config."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response
    from starlette.routing import Route

    from keval.processes.loopback_server import ServerThread

    asked: list[str] = []

    async def send_on(request: Request) -> Response:
        asked.append(request.url.path)
        return RedirectResponse("/elsewhere", 307)

    routes = [Route(path, send_on, methods=["POST"]) for path in ("/v1/messages", "/elsewhere")]
    server = ServerThread(Starlette(routes=routes))
    try:
        model = Model(name="claude-sonnet-5", max_tokens=10)
        with pytest.raises(ModelError, match="sends on to /elsewhere, which is not followed") as error:
            await model.ask({"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}, system="", messages=[])
    finally:
        server.stop()
    assert asked == ["/v1/messages"]
    assert (error.value.retryable, error.value.is_free) == (False, True)


async def test_a_refused_key_is_told_before_the_run(mock: Mock) -> None:
    """A key that the service takes is no refusal, a missing one is, and an unreachable service cannot tell."""
    assert await messages_api.refusal(mock.env, Service()) is None
    assert await messages_api.refusal(mock.env, Service(api_key_env="OTHER_KEY")) == "OTHER_KEY is not set"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert (
            await messages_api.refusal({"ANTHROPIC_BASE_URL": nowhere, "KEY": "k"}, Service(api_key_env="KEY")) is None
        )


async def test_a_401_is_a_refusal_that_names_the_variable() -> None:
    """What is wrong is said by the name of the variable, never by its value."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from keval.processes.loopback_server import ServerThread

    async def refuse(_: Request) -> Response:
        body = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
        return JSONResponse(body, status_code=401)

    server = ServerThread(Starlette(routes=[Route("/v1/models", refuse)]))
    try:
        env = {"ANTHROPIC_BASE_URL": server.url, "KEY": "sk-wrong"}
        told = await messages_api.refusal(env, Service(api_key_env="KEY"))
    finally:
        server.stop()
    assert told is not None
    assert told.startswith("KEY: the service refused the key (HTTP 401)")
    assert "sk-wrong" not in told
