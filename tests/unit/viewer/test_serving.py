"""`keval view` serves on this machine until it is told to end, and a run goes on beside it."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from keval import cli
from keval.errors import EnvironmentLacksError
from keval.processes.loopback_server import ServerThread
from keval.viewer.serving import served
from tests.viewing import small_log


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return small_log(Path("run.jsonl"))


def opened(address: str) -> tuple[str, str]:
    """Return where an address leads, and the page there."""
    browser = urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor(CookieJar()), urllib.request.ProxyHandler({})
    )
    with browser.open(address) as page:
        return page.url, page.read().decode()


@pytest.mark.slow
def test_the_address_leads_to_the_page_that_was_named(log: Path) -> None:
    """On loopback, and the token is gone from it."""
    with served([log], print, port=0, page="/samples?kind=timeout", skip_invalid=False) as address:
        assert address.startswith("http://127.0.0.1:")
        url, page = opened(address)
    assert url.endswith("/samples?kind=timeout")
    assert "1 sample<" in page


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(log: Path) -> None:
    """And what to do."""
    other = ServerThread(lambda *_: None)  # type: ignore[arg-type] # nobody asks it
    try:
        taken = int(other.url.rpartition(":")[2])
        with (
            pytest.raises(EnvironmentLacksError, match="--port 0 takes a free one"),
            served([log], print, port=taken, page="/", skip_invalid=False),
        ):
            pass
    finally:
        other.stop()


@pytest.mark.parametrize("page", ["//evil.example", "samples", "http://evil.example", ""])
def test_another_place_is_no_page(page: str, log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is served for it."""
    assert cli.run(["view", str(log), "--open", page]) == 2
    assert "a page is a path" in capfd.readouterr().err


@contextmanager
def viewing(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Give a process that serves, and the address that it printed."""
    command = [sys.executable, "-m", "keval", "view", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_it_is_told(number: signal.Signals, log: Path) -> None:
    """With success, at once, and with nothing but what it said at the start; the log is as it was."""
    before = log.read_bytes()
    with viewing() as (process, address):
        assert "run.jsonl" in opened(address)[1]
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert err.splitlines() == [
        "keval: reading run.jsonl, the newest log of this folder",
        "keval: this address opens run.jsonl once, in one browser; Ctrl-C ends it",
    ]
    assert log.read_bytes() == before
    assert [*Path().iterdir()] == [log]
