"""An application served on a loopback port, a free one unless it is named, by a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from concurrent.futures import Future

import uvicorn
from starlette.types import ASGIApp


class ServerThread:
    """Serves from its creation until `stop`; `url` is where. Raises OSError for a port that it cannot have."""

    def __init__(self, app: ASGIApp, port: int = 0) -> None:
        listener = _listen(port)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        started: Future[asyncio.AbstractEventLoop] = Future()
        self._server = _Uvicorn(app, started)
        self._thread = threading.Thread(target=self._run, args=[listener, started], name="keval-server", daemon=True)
        self._thread.start()
        self._loop = started.result()

    def stop(self) -> None:
        """Close all connections and the port, and wait until the thread is gone."""
        self._loop.call_soon_threadsafe(self._server.leave.set)
        self._thread.join()

    def _run(self, listener: socket.socket, started: Future[asyncio.AbstractEventLoop]) -> None:
        with listener:
            try:
                asyncio.run(self._server.serve(sockets=[listener]))
            except BaseException as error:
                if started.done():
                    raise
                started.set_exception(error)  # the thread that waits for the start raises it


class _Uvicorn(uvicorn.Server):
    """Runs until told to leave and then leaves at once: whoever still waits for an answer gets none."""

    def __init__(self, app: ASGIApp, started: Future[asyncio.AbstractEventLoop]) -> None:
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            interface="asgi3",
            access_log=False,
            log_config=None,
            log_level=logging.CRITICAL + 1,
            timeout_keep_alive=600,  # an idle client must not meet a connection that is just being closed
        )
        super().__init__(config)
        self.leave = asyncio.Event()
        self._started = started

    async def main_loop(self) -> None:
        self._started.set_result(asyncio.get_running_loop())
        await self.leave.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _listen(port: int) -> socket.socket:
    # asyncio switches off Nagle's algorithm only on a socket that names TCP; with it an answer takes 40 ms longer
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # A port that was closed a moment ago may be had again.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        listener.close()
        raise
    listener.listen(1024)
    return listener
