"""The workers of one command on a Ray cluster: one for each core, and another in the place of one that is lost.

A worker is an actor that Ray neither restarts nor asks twice: what was in flight there fails, and whoever decides
tries it again. Ray is imported only where a cluster is used (extra `ray`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keval.errors import EnvironmentLacksError, InterruptError, UsageError, Warn
from keval.executors.ray_worker import Assignment, Ready, Worker, differences
from keval.processes import tree

LOCAL = "local"
"""The address of a Ray that is started on this machine for one command."""

BEGIN_S = 60.0
"""A worker that has not begun by then is given up: Ray may have placed it on a node that is gone."""

PATIENCE_S = 300.0
"""How long to wait for the first worker."""

PING_EVERY_S = 10.0
"""How often a worker is asked whether it is there."""

SILENT_S = 120.0
"""A worker that does not answer for so long is given up: it may be frozen."""

PAUSE_S = 1.0
"""How long to wait before starting another worker in place of one that did not start."""

WATCH_EVERY_S = 0.2
"""How often to check whether there are workers."""

OTHER_CALLS = 10
"""Calls of a worker at once beside its items, such as pings."""

REACH_S = 10.0
"""How long a cluster may take to answer a connection."""

CONNECTIONS = "3"
"""How often Ray tries to be connected to a cluster: each time takes up to 40 s where something else listens."""

END_S = 10.0
"""How long a worker may take to end what is cancelled."""

NEVER_SENT = (".env", ".env.*")
"""What no worker gets of the config's folder, beside the log: secrets are in the environment of each node."""


class WorkerLostError(Exception):
    """A worker, its node or what it had made is gone."""


@dataclass(eq=False)
class RemoteWorker:
    """A worker as the command sees it."""

    actor: Any
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    host: str = "?"

    async def call(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever the method returns
        """Let the worker do something. Raises WorkerLostError, and what the method raises."""
        import ray

        try:
            reference = getattr(self.actor, method).remote(*arguments)
        except ray.exceptions.RayActorError as error:
            raise self._lost(error) from error
        try:
            return await reference
        except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
            raise self._lost(error) from error
        except asyncio.CancelledError:
            ray.cancel(reference)  # what the agent has started is ended there
            await tree.to_the_end(_ended(reference))
            raise

    def _lost(self, error: Exception) -> WorkerLostError:
        self.lost.set()
        said = str(error).partition("\n")[0]
        return WorkerLostError(f"the worker on {self.host} was lost: {said}")


def _nobody() -> RemoteWorker:
    """Return a worker that there is not."""
    nobody = RemoteWorker(None)
    nobody.lost.set()
    return nobody


async def _ended(reference: Awaitable[object]) -> None:
    """Wait until a call that was cancelled has ended, whatever came of it."""
    import ray

    with suppress(ray.exceptions.RayError, TimeoutError):
        async with asyncio.timeout(END_S):
            await reference


WorkerPlace = tuple[int, int, RemoteWorker]
"""Room for one item: its number at the worker, the number of the worker, and the worker."""

KINDS = ("answer", "judge")
"""The kinds of work; each has places of its own at each worker."""


class Cluster:
    """The workers that do an assignment; whoever has work asks for a place at one of them."""

    def __init__(self, assignment: Assignment, identity: Mapping[str, str], size: int, warn: Warn) -> None:
        self._assignment = assignment
        self._identity = identity
        """What each worker has to be (`ray_worker.identity_of`)."""
        self._size = size
        self._warn = warn
        self._workers: dict[RemoteWorker, int] = {}
        """Those that can work, and the number of each."""
        self._made = 0
        self._free: dict[str, asyncio.PriorityQueue[WorkerPlace]] = {kind: asyncio.PriorityQueue() for kind in KINDS}
        """Free places by the kind of work: the first ones of all workers before their second ones."""
        self._no_place: WorkerPlace = (-1, 0, _nobody())
        """Wakes those who wait for a place when there will be none; a queue can hold it twice, as it is the same."""
        self._given_up = asyncio.Event()
        self._why: Exception = EnvironmentLacksError("the cluster has no free core")
        """Why there is no worker."""
        self._keeping: list[asyncio.Task[None]] = []
        self._watching: asyncio.Task[None] | None = None

    async def place(self, kind: str) -> WorkerPlace:
        """Wait for a free place for a kind of work. Raises EnvironmentLacksError if no worker is to be had."""
        if self._watching is None:
            self._keeping = [asyncio.create_task(self._keep()) for _ in range(self._size)]
            self._watching = asyncio.create_task(self._watch())
        while not self._given_up.is_set():
            place = await self._free[kind].get()
            if not place[2].lost.is_set():
                return place
        self._free[kind].put_nowait(self._no_place)  # for the next one who waits
        raise self._why

    def give_back(self, kind: str, place: WorkerPlace) -> None:
        """Let others have a place."""
        if not place[2].lost.is_set():
            self._free[kind].put_nowait(place)

    async def close(self) -> None:
        """Let each worker end what its agent keeps; judges go on."""
        for worker in list(self._workers):
            with suppress(WorkerLostError):
                await worker.call("close")

    async def _watch(self) -> None:
        """Give up when nobody can work any more: each worker was refused, or none could be had for too long."""
        since = time.monotonic()
        while True:
            failed = [error for task in self._keeping if task.done() and (error := task.exception()) is not None]
            if failed or all(task.done() for task in self._keeping):
                self._why = next((each for each in failed if isinstance(each, Exception)), self._why)
                break
            if self._workers:
                since = time.monotonic()
            elif time.monotonic() - since > PATIENCE_S:
                self._why = EnvironmentLacksError(f"no worker of the Ray cluster is ready: {self._why}")
                break
            await asyncio.sleep(WATCH_EVERY_S)
        self._given_up.set()
        for free in self._free.values():
            free.put_nowait(self._no_place)

    async def _keep(self) -> None:
        """Keep one worker, and another one when it is lost; returns if one was refused."""
        import ray

        options = {"max_concurrency": len(KINDS) * self._assignment.at_once + OTHER_CALLS, "num_cpus": 1}
        remote = ray.remote(Worker).options(**options, max_restarts=0, max_task_retries=0)
        while True:
            worker = RemoteWorker(remote.remote(self._assignment))
            try:
                ready = await self._ready(worker)
                if ready is None:
                    await asyncio.sleep(PAUSE_S)
                    continue
                if (problem := self._problem(ready)) is not None:
                    self._refuse(problem)
                    return
                worker.host = ready.host
                self._offer(worker)
                await _until_lost(worker)
            except asyncio.CancelledError:  # the command ends
                if worker in self._workers:
                    await tree.to_the_end(self._end(worker))
                raise
            finally:
                self._workers.pop(worker, None)
                worker.lost.set()
                with suppress(ray.exceptions.RayError):
                    ray.kill(worker.actor)

    def _refuse(self, problem: str) -> None:
        """Say why workers cannot be used: once, however many have this problem."""
        if str(self._why) != problem:
            self._warn(problem)
        self._why = EnvironmentLacksError(problem)

    async def _end(self, worker: RemoteWorker) -> None:
        """Let a worker end what tasks have left running there, and say what that was."""
        with suppress(WorkerLostError, TimeoutError):
            async with asyncio.timeout(END_S):
                names = await worker.call("end")
            if names:
                self._warn(f"{worker.host}: ended what tasks had left running: {', '.join(names)}")

    async def _ready(self, worker: RemoteWorker) -> Ready | None:
        """Return what a worker says of itself, None if it did not begin."""
        try:
            async with asyncio.timeout(BEGIN_S):
                ready: Ready = await worker.call("begin")
        except TimeoutError:
            return None
        except (WorkerLostError, OSError) as error:  # OSError: the folder that travelled went with a node that is lost
            self._why = EnvironmentLacksError(str(error))
            return None
        return ready

    def _problem(self, ready: Ready) -> str | None:
        """Return why a worker cannot be used."""
        told, other = ready.problem, differences(self._identity, ready.identity)
        if told is None and other:
            told = f"not the same there as here: {', '.join(other)}"
        if told is None and self._assignment.mock_url is not None and ready.host != socket.gethostname():
            told = "the mock is on this machine only"
        return None if told is None else f"the worker on {ready.host} cannot work: {told}"

    def _offer(self, worker: RemoteWorker) -> None:
        """Let others have all places at a worker."""
        self._made += 1
        self._workers[worker] = self._made
        for free in self._free.values():
            for number in range(self._assignment.at_once):
                free.put_nowait((number, self._made, worker))


async def _until_lost(worker: RemoteWorker) -> None:
    """Return when a worker is lost."""
    while not worker.lost.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(PING_EVERY_S):
                await worker.lost.wait()
                return
        with suppress(WorkerLostError):
            try:
                async with asyncio.timeout(SILENT_S):
                    await worker.call("ping")
            except TimeoutError:
                return


@contextmanager
def connected(address: str, folder: Path | None, leave_out: Sequence[str]) -> Iterator[int]:
    """Be connected to a Ray cluster, or to one on this machine for as long as this is entered; yield its cores.

    `folder` travels to each worker, without what git or Ray ignore there and the names to `leave_out`. Raises
    UsageError, EnvironmentLacksError.
    """
    if address.startswith("ray://"):
        raise UsageError(f"{address}: keval is no Ray client; run it on a node of the cluster, with --address auto")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address != LOCAL:
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", CONNECTIONS)
    try:
        import ray
    except ImportError as error:
        raise EnvironmentLacksError("Ray is not installed; `pip install 'keval[ray]'`") from error
    _check_reachable(address)
    environment = {} if folder is None else {"working_dir": str(folder), "excludes": [*NEVER_SENT, *leave_out]}
    dashboard = False if address == LOCAL else None
    with redirect_stdout(sys.stderr):  # Ray prints what it has to say; stdout is for events and reports
        try:
            with _signals_kept():
                ray.init(
                    address,
                    runtime_env=environment,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    include_dashboard=dashboard,
                )
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            raise EnvironmentLacksError(f"Ray cluster {address}: {error}{_token_hint(error)}") from error
        try:
            yield _cores(ray.nodes())  # type: ignore[no-untyped-call]  # Ray has no types for it
        finally:
            ray.shutdown()


def _token_hint(error: Exception) -> str:
    """Return what may be missing where a cluster did not take a connection: Ray sends its token only when told to."""
    if not isinstance(error, ConnectionError) or "RAY_AUTH_MODE" in os.environ:
        return ""
    return "; is it Ray's? If it asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN, see `ray get-auth-token`"


def _check_reachable(address: str) -> None:
    """Raise EnvironmentLacksError where nobody listens: Ray itself asks again for a minute or two."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), REACH_S).close()
    except OSError as error:
        told = f"{error.strerror or error}; name the address that `ray start --head` printed, such as 10.0.0.1:6379"
        raise EnvironmentLacksError(f"Ray cluster {address}: {told}") from error


def _cores(nodes: Sequence[Mapping[str, Any]]) -> int:
    """Return the cores of a cluster's living nodes, at least one: another node may come."""
    return max(1, int(sum(node["Resources"].get("CPU", 0) for node in nodes if node["Alive"])))


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Leave it to keval what an interrupt does, and let it end the wait for Ray, which the event loop cannot."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, SystemExit):  # the latter is what Ray makes of SIGTERM
        raise InterruptError("interrupted; the same command does what is missing") from None
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
