"""Properties of logs that are copied from object storage.

DuckDB is real, and so is the door that a Python file system opens in it; behind that is memory in place of S3.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from keval.commands.named_logs import paths_of
from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.events import encode
from keval.logs import remote, s3
from keval.logs.collect import collected
from tests.builders import response_event, run_event

LOG = b"".join(map(encode, (run_event(), response_event(text="é\u2028\\"))))
TIME = datetime(2026, 11, 20, 11, tzinfo=UTC)


class Store(MemoryFileSystem):  # type: ignore[misc]  # it ships no types
    """Object storage in memory, which counts what is read."""

    protocol = "s3"
    store: dict[str, Any] = {}  # noqa: RUF012 - as its base has it
    read = 0

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("s3://")))

    def open(self, *arguments: Any, **given: Any) -> Any:  # noqa: ANN401 - as its base
        Store.read += 1
        return super().open(*arguments, **given)

    def glob(self, path: str, **given: Any) -> list[str]:  # noqa: ANN401 - as its base
        return [found.removeprefix("/") for found in super().glob(path, **given)]

    def put(self, path: str, content: bytes, time: datetime = TIME) -> None:
        self.pipe_file(path, content)
        self.store[self._strip_protocol(path)].modified = time


@pytest.fixture
def said() -> list[str]:
    """Return what was told."""
    return []


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a home without extensions of DuckDB and without copies."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Return the store that s3:// means."""
    made = Store(skip_instance_cache=True)
    monkeypatch.setattr(s3, "filesystem", lambda: made)
    yield made
    Store.store.clear()


def test_a_copy_has_the_bytes_of_the_log_and_nobody_else_reads_it(store: Store, said: list[str]) -> None:
    """Each byte is as it was, and the file is its owner's alone, as its folder is."""
    store.put("s3://bucket/a b/run.jsonl", LOG)
    (copy,) = remote.fetched("s3://bucket/a b/run.jsonl", said.append)
    assert copy.read_bytes() == LOG
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert said == [f"s3://bucket/a b/run.jsonl: copied to {copy}"]


@pytest.mark.parametrize("ending", [b"", b'{"type":"torn'])
def test_a_large_log_is_copied_line_by_line(
    store: Store, said: list[str], monkeypatch: pytest.MonkeyPatch, ending: bytes
) -> None:
    """It is the same log; one that has no newline at its end has none in the copy, or cannot be read."""
    monkeypatch.setattr(remote, "AT_ONCE", 10)
    store.put("s3://bucket/run.jsonl", LOG.rstrip(b"\n"))
    (copy,) = remote.fetched("s3://bucket/run.jsonl", said.append)
    assert copy.read_bytes() == LOG.rstrip(b"\n")
    store.put("s3://bucket/odd.jsonl", LOG + (ending or b"\n\n"))
    with pytest.raises(InputError, match=r"s3://bucket/odd\.jsonl: (has \d+ bytes, of which|cannot be read)"):
        remote.fetched("s3://bucket/odd.jsonl", said.append)
    assert not list(copy.parent.parent.rglob("odd*"))


@pytest.mark.parametrize("address", ["s3://bucket/runs/*.jsonl", "s3://bucket/runs/run[1].jsonl"])
def test_a_wildcard_in_a_name_is_no_wildcard(store: Store, said: list[str], address: str) -> None:
    """What is copied of a log is that log, and no other one whose name its own would match; `*` alone is a pattern."""
    other = LOG.replace("é".encode(), "ö".encode())
    names = ("run[1].jsonl", "run1.jsonl", "what?.jsonl", "whats.jsonl", "a*b.jsonl", "a-b.jsonl")
    for name in names:
        store.put(f"s3://bucket/runs/{name}", LOG if set(name) & set("[?*") else other)
    for copy in remote.fetched(address, said.append):
        assert copy.read_bytes() == (LOG if set(copy.name) & set("[?*") else other)
    told = sorted(each.split(": ")[0] for each in said)
    assert told == (sorted(f"s3://bucket/runs/{name}" for name in names) if "*" in address else [address])


def test_a_copy_that_is_true_is_not_made_again(store: Store, said: list[str]) -> None:
    """It is taken as long as size and time are the same; of what was changed a new one is made."""
    store.put("s3://bucket/run.jsonl", LOG)
    remote.fetched("s3://bucket/run.jsonl", said.append)
    before = Store.read
    remote.fetched("s3://bucket/run.jsonl", said.append)
    assert (len(said), Store.read - before <= 1) == (1, True)  # DuckDB opens a file to learn its size
    store.put("s3://bucket/run.jsonl", LOG, TIME.replace(second=1))
    remote.fetched("s3://bucket/run.jsonl", said.append)
    store.put("s3://bucket/run.jsonl", LOG + LOG, TIME.replace(second=1))
    (copy,) = remote.fetched("s3://bucket/run.jsonl", said.append)
    assert (len(said), copy.read_bytes()) == (3, LOG + LOG)


def test_a_pattern_means_all_logs_that_match(store: Store, said: list[str]) -> None:
    """They come sorted, each called by its own address, in messages and in the column `log`."""
    for name in ("b", "a", "c"):
        store.put(f"s3://bucket/runs/{name}.jsonl", LOG if name < "c" else b"{oops\n")
    addresses = [f"s3://bucket/runs/{name}.jsonl" for name in "abc"]
    with collected(paths_of(addresses[:2]), said.append) as files:
        assert [file.name for file in files] == addresses[:2]
    with (
        pytest.raises(InputError, match=r"s3://bucket/runs/c\.jsonl"),
        collected(remote.fetched("s3://bucket/runs/*.jsonl", said.append), said.append),
    ):
        pass


@pytest.mark.parametrize("address", ["s3://bucket/none.jsonl", "s3://bucket/none/*.jsonl"])
def test_what_is_not_there_is_an_input_error(store: Store, said: list[str], address: str) -> None:
    """The address is named; no empty log is made of it."""
    store.put("s3://bucket/run.jsonl", LOG)
    with pytest.raises(InputError, match="no such file, or none that matches"):
        remote.fetched(address, said.append)


def test_without_an_extension_the_way_to_have_one_is_said(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is installed by itself; for S3 the extra is named, too. No password of the address is in the message."""
    monkeypatch.setattr(s3, "is_installed", lambda: False)
    for address, also in (("https://ada:secret@host/run.jsonl?secret", ""), ("s3://bucket/run.jsonl", "'keval[s3]'")):
        with pytest.raises(EnvironmentLacksError) as raised:
            remote.fetched(address, said.append)
        told = str(raised.value)
        assert "duckdb.sql('INSTALL httpfs')" in told
        assert f"DuckDB {duckdb.__version__} cannot read it" in told
        assert also in told
        assert "secret" not in told


def test_an_address_of_another_kind_is_refused(said: list[str]) -> None:
    """What can be read is listed."""
    with pytest.raises(UsageError, match=r"keval reads no ftp://, only .*, s3"):
        remote.fetched("ftp://host/run.jsonl", said.append)


HTTPFS = "import duckdb; duckdb.connect(config={'autoinstall_known_extensions': 'false'}).execute('LOAD httpfs')"


@pytest.mark.slow
def test_httpfs_reads_what_a_web_server_has(
    said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Where the extension is installed, a log is read from an address, and a page that is not there is told."""
    monkeypatch.undo()
    if subprocess.run([sys.executable, "-c", HTTPFS], capture_output=True, check=False).returncode:
        pytest.skip("DuckDB's extension httpfs is not installed here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "run.jsonl").write_bytes(LOG)
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(tmp_path), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        request.addfinalizer(server.kill)
        assert server.stdout is not None
        port = server.stdout.readline().split(" port ")[1].split()[0]
        (copy,) = remote.fetched(f"http://127.0.0.1:{port}/run.jsonl", said.append)
        assert copy.read_bytes() == LOG
        with pytest.raises(InputError, match="404"):
            remote.fetched(f"http://127.0.0.1:{port}/none.jsonl?signature", said.append)
        server.kill()
