"""The mock as its clients meet it: the real SDK over real sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message

from keval.errors import UsageError
from keval.mock import Mock
from keval.processes.environment import MOCK_KEY

MODEL = "claude-sonnet-5"
QUESTION = "What is the default rate limit?"
BODY: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": QUESTION}]}
SEARCH = {
    "name": "search",
    "description": "Search the docs.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


@pytest.fixture
async def client(mock: Mock) -> AsyncIterator[AsyncAnthropic]:
    """Connect the real SDK to the mock."""
    async with connected(mock) as sdk:
        yield sdk


def connected(mock: Mock, timeout: float = 10) -> AsyncAnthropic:
    """Return a client that tries once."""
    return AsyncAnthropic(base_url=mock.base_url, api_key="mock", max_retries=0, timeout=timeout)


def send(mock: Mock, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict[str, Any]]:
    """Send a request without the SDK; return status and JSON."""
    connection = http.client.HTTPConnection(urlsplit(mock.base_url).netloc, timeout=10)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")
    finally:
        connection.close()


def nested(levels: int) -> list[Any]:
    """Return a list in a list, and so on."""
    return [nested(levels - 1)] if levels > 1 else []


async def streamed(client: AsyncAnthropic, **body: Any) -> Message:  # noqa: ANN401 - passed on to the SDK
    """Return the message that a stream adds up to."""
    async with client.messages.stream(**{**BODY, **body}) as stream:
        return await stream.get_final_message()


async def test_a_plain_message_has_text_and_usage(client: AsyncAnthropic) -> None:
    """Without tools the stand-in says that it does not know, in words of the question."""
    message = await client.messages.create(**BODY)
    assert message.content[0].type == "text"
    assert message.content[0].text == "I am sorry, but I have no information about default, rate, limit."
    assert (message.model, message.stop_reason) == (MODEL, "end_turn")
    assert message.usage.input_tokens > 5
    assert message.usage.output_tokens == len(message.content[0].text) // 4
    assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (0, 0)


async def test_the_same_request_gets_the_same_message(client: AsyncAnthropic) -> None:
    """Nothing in a reply depends on time or chance."""
    assert await client.messages.create(**BODY) == await client.messages.create(**BODY)


async def test_a_stream_adds_up_to_the_plain_message(client: AsyncAnthropic) -> None:
    """Streaming changes how an answer travels and nothing else."""
    plain, stream = await client.messages.create(**BODY), await streamed(client)
    assert stream.content[0].type == plain.content[0].type == "text"
    assert stream.content[0].text == plain.content[0].text
    assert (stream.usage, stream.stop_reason) == (plain.usage, plain.stop_reason)


async def test_a_long_text_comes_in_several_deltas(client: AsyncAnthropic) -> None:
    """A client sees the text grow."""
    long = [{"role": "user", "content": " ".join(f"word{number}" + "x" * 50 for number in range(9))}]
    async with client.messages.stream(**{**BODY, "messages": long}) as stream:
        pieces = [piece async for piece in stream.text_stream]
    assert len(pieces) > 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_tool_is_called_and_its_result_is_the_answer(client: AsyncAnthropic, stream: bool) -> None:
    """The whole round: question, tool call, tool result, answer."""

    async def ask(messages: list[dict[str, Any]]) -> Message:
        body = BODY | {"messages": messages, "tools": [SEARCH]}
        return await streamed(client, **body) if stream else await client.messages.create(**body)

    messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
    called = await ask(messages)
    call = called.content[0]
    assert call.type == "tool_use"
    assert (called.stop_reason, call.name, call.input) == ("tool_use", "search", {"query": QUESTION})

    result = {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": "Cats sleep. The default rate limit is 60 a minute.",
    }
    messages += [{"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
    answer = await ask(messages)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "The default rate limit is 60 a minute."
    assert answer.stop_reason == "end_turn"


async def test_a_reply_ends_where_max_tokens_says(client: AsyncAnthropic) -> None:
    """A reply that is too long is cut off like a model's."""
    message = await client.messages.create(**BODY | {"max_tokens": 2})
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 2)
    assert message.content[0].type == "text"
    assert message.content[0].text == "I am sor"


async def test_tokens_are_counted_as_a_message_counts_them(client: AsyncAnthropic) -> None:
    """What counting says beforehand is what the message then reports."""
    counted = await client.messages.count_tokens(model=MODEL, messages=BODY["messages"])
    message = await client.messages.create(**BODY)
    assert counted.input_tokens == message.usage.input_tokens


async def test_models_are_listed_and_any_is_known(client: AsyncAnthropic) -> None:
    """A mock run works with whatever model a config names."""
    assert MODEL in [model.id async for model in client.models.list()]
    assert (await client.models.retrieve("some-model")).id == "some-model"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ("400", anthropic.BadRequestError),
        ("401", anthropic.AuthenticationError),
        ("403", anthropic.PermissionDeniedError),
        ("404", anthropic.NotFoundError),
        ("413", anthropic.ContentTooLargeError),
        ("429", anthropic.RateLimitError),
        ("500", anthropic.InternalServerError),
        ("529", anthropic.OverloadedError),
    ],
)
async def test_an_http_error_is_the_sdks_own(fault: str, raised: type[anthropic.APIStatusError]) -> None:
    """The SDK takes an injected error for the API's, in a stream as well."""
    with Mock(errors=f"{fault}:1", retry_after_s=7) as failing:
        async with connected(failing) as client:
            with pytest.raises(raised) as plain:
                await client.messages.create(**BODY)
            with pytest.raises(raised):
                await streamed(client)
    assert isinstance(plain.value.body, dict)
    assert plain.value.body["type"] == "error"
    waits = plain.value.response.headers.get("retry-after")
    assert waits == ("7" if fault in {"429", "529"} else None)
    assert failing.requests.by_outcome == {fault: 2}


async def test_a_cut_answer_ends_in_the_middle() -> None:
    """The connection closes before the body is whole; the beginning has arrived."""
    with Mock(errors="cut:1") as failing:
        async with connected(failing) as client:
            with pytest.raises(anthropic.APIConnectionError):
                await client.messages.create(**BODY)
            events = aiter(await client.messages.create(**BODY, stream=True))
            seen = [(await anext(events)).type, (await anext(events)).type]
            with pytest.raises(httpx2.RemoteProtocolError):
                await anext(events)
    assert seen == ["message_start", "content_block_start"]


async def test_garbage_is_no_answer_though_its_status_is_200() -> None:
    """A web page comes instead of JSON or events; the SDK passes it on as it is."""
    with Mock(errors="garbage:1") as failing:
        async with connected(failing) as client:
            page: object = await client.messages.create(**BODY)
            assert isinstance(page, str)
            assert page.startswith("<!doctype html>")
            assert [event async for event in await client.messages.create(**BODY, stream=True)] == []


async def test_a_hanging_request_ends_when_the_client_leaves() -> None:
    """The client's own timeout is what ends it, and the next request is answered as ever."""
    with Mock(errors="hang:1") as hanging:
        async with connected(hanging, timeout=0.05) as client:
            with pytest.raises(anthropic.APITimeoutError):
                await client.messages.create(**BODY)
            assert (await client.models.retrieve(MODEL)).id == MODEL


@pytest.mark.parametrize("options", [{"errors": "hang:1"}, {"latency_ms": 60_000}])
async def test_the_end_does_not_wait_for_requests(options: dict[str, Any]) -> None:
    """Requests that hang or take long are broken off when the mock stops."""
    mock = Mock(**options).start()
    async with connected(mock, timeout=60) as client:
        asking = asyncio.create_task(client.messages.create(**BODY))
        while mock.requests.most_at_once == 0:  # noqa: ASYNC110 - the mock lives in another thread
            await asyncio.sleep(0.001)
        began = time.perf_counter()
        mock.stop()
        assert time.perf_counter() - began < 2
        with pytest.raises(anthropic.APIConnectionError):
            await asking


async def test_latency_of_one_request_does_not_delay_another() -> None:
    """Requests wait side by side, each as long as it should."""
    with Mock(latency_ms=100) as slow:
        async with connected(slow) as client:
            began = time.perf_counter()
            await asyncio.gather(*(client.messages.create(**BODY) for _ in range(5)))
            took = time.perf_counter() - began
    assert took >= 0.1
    assert slow.requests.most_at_once > 1


@pytest.mark.slow
async def test_which_requests_fail_follows_from_the_seed() -> None:
    """The same seed gives the same failures in the same order, another seed others."""

    async def outcomes(seed: int) -> list[str]:
        with Mock(errors="429:0.3,500:0.2", seed=seed) as failing:
            async with connected(failing) as client:
                for _ in range(30):
                    await asyncio.gather(client.messages.create(**BODY), return_exceptions=True)
        return [request.outcome for request in failing.recorded]

    first = await outcomes(1)
    assert set(first) == {"ok", "429", "500"}
    assert first == await outcomes(1)
    assert first != await outcomes(2)


async def test_requests_are_counted_and_kept() -> None:
    """Counters hold everything, by path and outcome; the record holds the last ones."""
    with Mock(keep=2) as mock:
        async with connected(mock) as client:
            await client.messages.create(**BODY)
            await client.messages.create(**BODY | {"tools": [SEARCH]})
            await client.models.retrieve(MODEL)
        status, stats = send(mock, "GET", "/stats")
    assert mock.requests.total == 4
    assert mock.requests.by_path == {"POST /v1/messages": 2, "GET /v1/models/{id}": 1, "GET /stats": 1}
    assert mock.requests.by_outcome == {"ok": 4}
    assert mock.requests.by_kind == {"no_information": 1, "tool_call": 1}
    assert (status, stats["total"], stats["by_outcome"]) == (200, 3, {"ok": 3})
    assert [request.path for request in mock.recorded] == [f"/v1/models/{MODEL}", "/stats"]
    assert mock.recorded[0].headers["authorization"] == "Bearer mock"


async def test_the_record_holds_what_was_sent(mock: Mock, client: AsyncAnthropic) -> None:
    """A test can look up what a client really asked."""
    await client.messages.create(**BODY)
    assert mock.recorded[-1].method == "POST"
    assert mock.recorded[-1].body == BODY


def test_without_any_key_a_request_is_refused(mock: Mock) -> None:
    """The API answers 401 in its own shape; a bearer token is a key too."""
    status, error = send(mock, "POST", "/v1/messages", BODY)
    assert status == 401
    assert error == {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    assert send(mock, "POST", "/v1/messages?beta=true", BODY, Authorization="Bearer x")[0] == 200


def test_a_wrong_key_is_refused_everywhere() -> None:
    """When all calls are to be answered with 401, so is the question which models there are."""
    with Mock(errors="401:1") as mock:
        assert send(mock, "GET", "/v1/models", **{"x-api-key": "k"})[0] == 401
    with Mock(errors="401:0.9") as mock:
        assert send(mock, "GET", "/v1/models", **{"x-api-key": "k"})[0] == 200


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/messages"), ("POST", "/v1/batches"), ("DELETE", "/x")])
def test_an_unknown_address_is_404_in_the_apis_shape(mock: Mock, method: str, path: str) -> None:
    """Whatever else is asked for does not exist."""
    status, error = send(mock, method, path, **{"x-api-key": "k"})
    assert (status, error["type"], error["error"]["type"]) == (404, "error", "not_found_error")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_root_answers_a_probe(mock: Mock, method: str) -> None:
    """A client that only wants to know whether someone is there learns it without a key."""
    assert send(mock, method, "/") == (200, {})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": ""}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 1}]}]}, "messages.0.content.0.text"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": 1}]}]}, "content.0.content"),
        ({"tools": [{"name": "t", "input_schema": {"type": "objekt"}}]}, "tools.0.input_schema.type"),
        ({"output_config": {"format": {"type": "json_schema", "schema": {"$ref": "#/$defs/x"}}}}, "#/$defs/x"),
        ({"system": 5}, "system"),
        ({"metadata": nested(300)}, "nested too deeply"),
    ],
)
def test_a_request_that_the_api_would_not_take_is_refused(mock: Mock, change: dict[str, Any], said: str) -> None:
    """A mock run shows a malformed request as the real service would."""
    status, error = send(mock, "POST", "/v1/messages", BODY | change, **{"x-api-key": "k"})
    assert (status, error["error"]["type"]) == (400, "invalid_request_error")
    assert said in error["error"]["message"]


@pytest.mark.parametrize("limit", ["x", "0", "-1", "1001", "1" * 5000])
def test_a_list_of_batches_has_a_length_that_the_api_takes(mock: Mock, limit: str) -> None:
    """Another one is refused, as the service does."""
    status, error = send(mock, "GET", f"/v1/messages/batches?limit={limit}", **{"x-api-key": "k"})
    assert (status, error["error"]["message"][:6]) == (400, "limit:")


@pytest.mark.parametrize("request_", [{"custom_id": "a"}, {"custom_id": "a", "params": 1}, "text"])
def test_a_batch_of_what_is_no_request_is_refused(mock: Mock, request_: object) -> None:
    """Each has its params."""
    status, error = send(mock, "POST", "/v1/messages/batches", {"requests": [request_]}, **{"x-api-key": "k"})
    assert (status, error["error"]["message"]) == (400, "requests.0.params: Field required")


def test_a_body_that_is_no_json_is_refused(mock: Mock) -> None:
    """Not even JSON: the same kind of error."""
    assert send(mock, "POST", "/v1/messages", "just a text", **{"x-api-key": "k"})[0] == 400


def test_what_breaks_the_mock_itself_is_raised_when_it_stops() -> None:
    """A fault of the stand-in is no finding about the client."""
    mock = Mock().start()
    send(mock, "PUT", "/tools", {"mcp__docs__search": "no marks, as keval itself would never send"})
    tools = [SEARCH | {"name": "mcp__docs__search"}]
    status, error = send(mock, "POST", "/v1/messages", BODY | {"tools": tools}, **{"x-api-key": "k"})
    assert (status, error["error"]["message"][:18]) == (500, "the mock is broken")
    with pytest.raises(AttributeError):
        mock.stop()


def test_nothing_is_left_after_the_end() -> None:
    """The port is closed and the thread is gone; what was counted can still be read."""
    with Mock() as mock:
        send(mock, "GET", "/")
        address = urlsplit(mock.base_url)
        assert "keval-server" in {thread.name for thread in threading.enumerate()}
    assert address.hostname == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port or 0), timeout=1)
    assert mock.requests.total == 1
    with pytest.raises(RuntimeError, match="not running"):
        _ = mock.base_url


def test_a_mock_that_has_stopped_can_start_again() -> None:
    """Its counters go on."""
    mock = Mock()
    for _ in range(2):
        with mock:
            send(mock, "GET", "/")
    assert mock.requests.total == 2


def test_several_mocks_run_side_by_side() -> None:
    """Each has its own port and its own counters."""
    with Mock() as one, Mock(errors="429:1") as other:
        send(one, "GET", "/")
        assert one.base_url != other.base_url
        assert (one.requests.total, other.requests.total) == (1, 0)


def test_the_environment_leads_clients_to_it(mock: Mock) -> None:
    """What SDKs and the CLI read is there, and no key of value."""
    assert mock.env == {"ANTHROPIC_BASE_URL": mock.base_url, "ANTHROPIC_API_KEY": MOCK_KEY}


@pytest.mark.parametrize("options", [{"latency_ms": -1}, {"retry_after_s": float("inf")}, {"errors": "x"}])
def test_an_impossible_option_is_a_usage_error(options: dict[str, Any]) -> None:
    """It is refused before anything starts."""
    with pytest.raises(UsageError):
        Mock(**options)


def test_it_is_silent_and_leaves_signals_alone() -> None:
    """Nothing reaches stdout or stderr, whatever happens, and Ctrl-C stays the program's own."""
    script = (
        "import http.client, signal\n"
        "from urllib.parse import urlsplit\n"
        "from keval.mock import Mock\n"
        "before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)\n"
        "with Mock(errors='cut:1') as mock:\n"
        "    c = http.client.HTTPConnection(urlsplit(mock.base_url).netloc)\n"
        f"    c.request('POST', '/v1/messages', {json.dumps(BODY)!r}, {{'x-api-key': 'k'}})\n"
        "    try:\n"
        "        c.getresponse().read()\n"
        "    except http.client.IncompleteRead:\n"
        "        c.close()\n"
        "    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_importing_the_mock_loads_no_server() -> None:
    """A command that may need the mock pays for it only when it does."""
    script = "import sys, keval.mock; sys.exit(bool({'uvicorn', 'starlette', 'anthropic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_it_answers_hundreds_of_requests_a_second(mock: Mock) -> None:
    """A mock run is not held up by the mock; the bound is far below what it does (some thousands)."""
    connection = http.client.HTTPConnection(urlsplit(mock.base_url).netloc, timeout=10)
    body = json.dumps(BODY)
    began = time.perf_counter()
    for _ in range(200):
        connection.request("POST", "/v1/messages", body, {"x-api-key": "k"})
        assert connection.getresponse().read()
    took = time.perf_counter() - began
    connection.close()
    assert 200 / took > 100
