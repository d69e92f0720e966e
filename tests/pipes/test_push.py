"""`keval push`, as a process: what is in a folder or in object storage afterwards, whatever happens meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import response_event, run_event, write_log
from tests.object_store import SECRET, object_store

KILLED = """
import os, signal, sys
from pathlib import Path
from keval.logs import push

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(*{"copied": (push.os, "fsync", killed), "whole": (push, "_name", killed)}[sys.argv[1]])
push.push(Path("run.jsonl"), "store")
"""


def names(folder: Path) -> list[str]:
    """Return the names of all that is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def run(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = [sys.executable, "-m", "keval", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two logs, and the folder `store`."""
    (tmp_path / "store").mkdir()
    write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    write_log(tmp_path / "other.jsonl", [run_event(), response_event("q2")])
    return tmp_path


@pytest.mark.parametrize("moment", ["copied", "whole"])
def test_a_push_that_is_killed_leaves_nothing_under_the_name(folder: Path, moment: str) -> None:
    """After kill -9 the same command copies the log, and removes what was left."""
    done = subprocess.run([sys.executable, "-c", KILLED, moment], cwd=folder, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    (left,) = names(folder / "store")
    assert left.startswith("run.jsonl.kvtask-")
    assert run(folder, "push", "run.jsonl", "store").returncode == 0
    assert names(folder / "store") == ["run.jsonl", "run.jsonl.sha256"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Return the environment in which s3:// is a store on loopback with the bucket `bucket`."""
    with object_store(tmp_path_factory.mktemp("home")) as environment:
        make = "import boto3; boto3.client('s3').create_bucket(Bucket='bucket')"
        subprocess.run([sys.executable, "-c", make], env=environment, check=True, timeout=120)
        yield environment


@pytest.mark.slow
@pytest.mark.xdist_group("object_store")
def test_a_log_goes_to_object_storage_and_is_read_from_there(folder: Path, store: dict[str, str]) -> None:
    """It is there with its checksum, is left as it is the second time, and replaced by no other; sql reads it."""
    first, again = (run(folder, "push", "run.jsonl", "s3://bucket/runs/", environment=store) for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.endswith("  s3://bucket/runs/run.jsonl\n")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    assert again.stderr == "keval: s3://bucket/runs/run.jsonl: was there already, with the same content\n"
    other = run(folder, "push", "other.jsonl", "s3://bucket/runs/run.jsonl", environment=store)
    assert (other.returncode, other.stdout) == (2, "")
    query = ("sql", "s3://bucket/runs/*.jsonl", "-f", "csv", "SELECT log, sample_id FROM responses")
    read = run(folder, *query, environment=store)
    assert (read.returncode, read.stdout) == (0, "log,sample_id\ns3://bucket/runs/run.jsonl,q1\n"), read.stderr


@pytest.mark.slow
@pytest.mark.xdist_group("object_store")
def test_a_store_that_refuses_is_told_without_the_secret(folder: Path, store: dict[str, str]) -> None:
    """No bucket, no credentials and nobody there end with 4, in one line that names the address."""
    lacking = {name: value for name, value in store.items() if not name.startswith("AWS_SECRET")}
    nowhere = store | {"AWS_ENDPOINT_URL": f"http://{SECRET}@127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}
    for bucket, environment in (("none", store), ("bucket", lacking), ("bucket", nowhere)):
        done = run(folder, "push", "run.jsonl", f"s3://{bucket}/new.jsonl", environment=environment)
        assert (done.returncode, done.stdout) == (4, ""), done.stderr
        assert done.stderr.startswith(f"keval: s3://{bucket}/new.jsonl: ")
        assert done.stderr.count("\n") == 1
        assert SECRET not in done.stderr
