"""Fixtures that keep every test on this machine and away from the keys and settings of its user."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from keval.processes.orphans import adopted
from tests.chromium import started
from tests.fork_server import ForkServer
from tests.started_commands import Start, starting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from keval.mock import Mock

# No test is timed: a slow machine is no mistake. Fixtures that examples share hold nothing that one could spoil.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.register_profile("few", untimed, max_examples=20)  # make test
settings.register_profile("many", untimed, max_examples=40)  # make test-slow has them look further
settings.load_profile("few")

# A shell starts what is in the background deaf to Ctrl-C, and so would be all that these tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

FOREIGN = ("ANTHROPIC_", "CLAUDE", "AWS_", "GOOGLE_", "KEVAL_")

ROOT = Path(__file__).parent.parent

NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody serves: a process that would leave this machine fails at once."""


LONGEST_ID = 60
"""Characters of a text by which a test is named: each worker sends all names, and processes get it as a variable."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by how a long text begins, and what is short as pytest does."""
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_ID:
        return None
    return f"{val[:LONGEST_ID]!a}, {len(val)} in all"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker has it left when the others are done; else the order is random."""
    items.sort(key=lambda item: "pipes" not in item.path.parts and item.get_closest_marker("xdist_group") is None)


def pytest_collection_finish() -> None:
    """Let Python never again look for cycles in all tests and what they import, which is a sixth of their time."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let cycles be found that tests left: pytest tells what was not closed."""
    gc.unfreeze()


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a path: a unix socket
    host = str(address[0])
    return host in {"localhost", ""} or ip_address(host.partition("%")[0]).is_loopback


@pytest.fixture(autouse=True)
def _no_task_of_another_test() -> Iterator[None]:
    """Forget the tasks that a test began and never ended: an orphan of the next one might be theirs."""
    yield
    for token in list(adopted._tasks):  # noqa: SLF001 - only tests begin tasks that they do not end
        adopted.end_task(token)


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that connects to, or looks up, anything but loopback."""
    connect, connect_ex, lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded(original: Callable[..., object]) -> Callable[..., object]:
        def connecting(self: socket.socket, address: object) -> object:
            assert _is_loopback(address), f"a test would connect to {address}"
            return original(self, address)

        return connecting

    def looking_up(host: object, *arguments: object, **options: object) -> object:
        name = host.decode() if isinstance(host, bytes) else host
        assert name in {None, "", "localhost"} or ip_address(str(name)).is_loopback, f"a test would look up {name}"
        return lookup(host, *arguments, **options)  # type: ignore[arg-type] # passed through as it came

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", looking_up)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return new folders, in one of their own: pytest looks through all folders beside the one that it makes."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    """Give each test a home of its own and none of the keys that this machine may hold."""
    for name in os.environ:
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, NOWHERE)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")


Keval = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def fork_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Start the process that forks commands."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    with ForkServer({**environment, "HOME": str(tmp_path_factory.mktemp("forks"))}) as server:
        yield server


@pytest.fixture
def keval(tmp_path: Path, fork_server: ForkServer) -> Keval:
    """Return a function that runs the real command in a scratch folder and returns its outcome."""

    def run(*arguments: str | Path, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return fork_server.run(list(map(str, arguments)), cwd or tmp_path, os.environ, stdin)

    return run


@pytest.fixture
def start(tmp_path: Path, fork_server: ForkServer) -> Iterator[Start]:
    """Return a function that starts commands in a scratch folder, which ask a mock, and end what it started."""
    with starting(fork_server, tmp_path) as begin:
        yield lambda mock, *arguments: begin({**os.environ, **mock.env}, *arguments)


@pytest.fixture(scope="session")
def shell_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a newcomer's shell: this keval first in the path, and no keys."""
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(tmp_path_factory.mktemp("home")),
        "COLUMNS": "100",
        "NO_PROXY": "127.0.0.1,localhost",
    }


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, shell_environment: dict[str, str]) -> Path:
    """Return a folder like a checkout in which `make demo` ran; it takes a while, so tests share it and copy it.

    Those that do are marked with xdist_group("demo"): one process runs them all.
    """
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "examples", folder / "examples")
    command = ["keval", "run", "examples/quickstart/eval.yaml", "--mock", "--output", "demo.jsonl", "--quiet"]
    done = subprocess.run(
        command, cwd=folder, env=shell_environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    """Serve the Messages API without faults, to whatever asks a model."""
    from keval.mock import Mock

    with Mock() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium."""
    with started() as opened:
        yield opened
