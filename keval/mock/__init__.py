"""A loopback stand-in for the Messages API: the same protocol, and no model behind it.

It serves mock runs of a config (`--mock`) and the tests. Everything around it is real: the SDKs,
the CLI of the agent, MCP servers.
"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Self

from keval.errors import UsageError
from keval.mock import faults
from keval.mock.journal import Journal, Recorded, Requests
from keval.processes.environment import MOCK_KEY

if TYPE_CHECKING:
    from types import TracebackType

    from keval.processes.loopback_server import ServerThread

__all__ = ["Mock", "Recorded", "Requests"]


class Mock:
    """The server, as a context manager: there when the context begins, gone when it ends.

    `latency_ms` is how long each message takes to begin. `errors` is which share of the messages
    fails how (see `faults`), drawn with `seed`; `retry_after_s` is what a 429 or 529 asks to wait.
    The last `keep` requests are kept. Raises UsageError for a value that makes no sense.
    """

    def __init__(
        self,
        latency_ms: float = 0,
        errors: str = "",
        seed: int = 0,
        *,
        retry_after_s: float = 0,
        keep: int = 1000,
    ) -> None:
        for name, value in (("latency_ms", latency_ms), ("retry_after_s", retry_after_s), ("keep", keep)):
            if not 0 <= value < float("inf"):
                raise UsageError(f"mock {name}: {value} is not a number from 0 on")
        self._latency_s = latency_ms / 1000
        self._retry_after_s = retry_after_s
        self._faults = faults.parse(errors, seed)
        self._journal = Journal(keep)
        self._held = Event()
        self._bugs: list[Exception] = []
        self._server: ServerThread | None = None

    def start(self) -> Self:
        """Start the server; when this returns it answers."""
        from keval.mock.api import MessagesApi
        from keval.mock.batches import Batches
        from keval.processes.loopback_server import ServerThread

        if self._server is None:
            batches = Batches(self._faults, self._held)
            api = MessagesApi(self._journal, self._faults, self._latency_s, self._retry_after_s, self._bugs, batches)
            self._server = ServerThread(api.app())
        return self

    def stop(self) -> None:
        """Stop the server at once; requests that wait for an answer are broken off.

        Raises what went wrong in the mock itself, if anything did.
        """
        if self._server is not None:
            self._server.stop()
            self._server = None
        if self._bugs:
            raise self._bugs[0]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def hold_batches(self) -> None:
        """Let no batch end until they are released."""
        self._held.set()

    def release_batches(self) -> None:
        """Let batches end again."""
        self._held.clear()

    @property
    def base_url(self) -> str:
        """Where it listens, such as `http://127.0.0.1:40123`."""
        if self._server is None:
            raise RuntimeError("the mock is not running; use it in a with statement")
        return self._server.url

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that lead SDKs and the CLI to it."""
        return {"ANTHROPIC_BASE_URL": self.base_url, "ANTHROPIC_API_KEY": MOCK_KEY}

    @property
    def requests(self) -> Requests:
        """Counters of all requests so far; also after the end."""
        return self._journal.requests()

    @property
    def recorded(self) -> list[Recorded]:
        """The last requests, oldest first; also after the end."""
        return self._journal.recorded()
