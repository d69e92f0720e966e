from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

import httpx2
import pytest

from keval.processes import web_connections
from tests.web_service import Reply, serving


async def asked(client: httpx2.AsyncClient, url: str) -> str:
    return (await client.post(url, content=b"x")).text


@pytest.mark.slow
async def test_each_request_in_flight_has_a_connection_and_the_next_ones_use_them_again() -> None:
    """As many are open as were ever needed at once, whatever the number of requests."""
    together = threading.Barrier(150)

    with serving(lambda _: Reply(str(together.wait(30)))) as service:
        async with httpx2.AsyncClient(mounts=web_connections.mounts(), timeout=60) as client:
            for _ in range(2):
                said = await asyncio.gather(*(asked(client, service.url) for _ in range(150)))
                assert sorted(map(int, said)) == list(range(150))
        assert len(service.connections) == 150


async def test_a_request_that_is_broken_off_gives_its_connection_back() -> None:
    """Neither a cancelled request nor a connection that the service closes stands in the way of the next."""
    go = threading.Event()
    replies = [Reply("late"), Reply(status=0), Reply("in time")]

    def reply(_: object) -> Reply:
        said = replies.pop(0)
        if said.body == "late":
            go.wait(30)
        return said

    with serving(reply) as service:
        async with httpx2.AsyncClient(mounts=web_connections.mounts(), timeout=60) as client:
            waiting = asyncio.create_task(asked(client, service.url))
            while len(service.asked) < 1:  # noqa: ASYNC110 - the service lives in other threads
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            go.set()
            with pytest.raises(httpx2.RemoteProtocolError):
                await asked(client, service.url)
            assert await asked(client, service.url) == "in time"


@pytest.mark.parametrize(
    "env",
    [{}, {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}],
)
async def test_loopback_is_reached_whatever_the_proxy(monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str]) -> None:
    """A proxy of the environment knows nothing of this machine."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with serving(lambda _: Reply("here")) as service:
        async with httpx2.AsyncClient(mounts=web_connections.mounts()) as client:
            assert await asked(client, service.url) == "here"


async def test_other_addresses_are_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the environment, as ever."""
    with serving(lambda asked: Reply(asked.path)) as service:
        monkeypatch.setenv("http_proxy", service.url)
        async with httpx2.AsyncClient(mounts=web_connections.mounts()) as client:
            assert await asked(client, "http://far.example/away") == "http://far.example/away"
