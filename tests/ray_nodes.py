"""A Ray cluster of several nodes on this machine, in a process of its own, whose nodes can be killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CORES = 1
"""Of each node; what Ray counts with, whatever the machine has. There is a worker for each."""

HEALTH = {
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "3",
}
"""Lets Ray notice within seconds that a node is gone: it refuses connections, one that is only slow does not."""


class Nodes:
    """The nodes of a cluster, by the order in which they were added."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address = self._said()
        self.folder = Path(self._said())
        """Where Ray writes its logs, and what travels."""

    def add(self) -> None:
        """Add a node."""
        self._do("add")

    def kill(self, place: int) -> None:
        """Kill all processes of a node, by its place among those that are left."""
        self._do(f"kill {place}")

    def _do(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        assert self._said() == "done"

    def _said(self) -> str:
        assert self._process.stdout is not None
        while not (line := self._process.stdout.readline()).startswith("nodes: "):
            assert line, "the cluster has ended"
        return line.removeprefix("nodes: ").strip()


@contextmanager
def nodes(number: int, env: Mapping[str, str]) -> Iterator[Nodes]:
    """Run a cluster with a head that works nothing and so many nodes that do, with this environment."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ray_nodes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**env, **HEALTH, "RAY_USAGE_STATS_ENABLED": "0"},
    )  # fmt: skip
    try:
        found = Nodes(process)
        for _ in range(number):
            found.add()
        yield found
    finally:
        process.communicate("end\n")
        assert process.returncode == 0


def main() -> None:
    """Do what lines of stdin say."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))  # its sockets have names that must not be long
    # Ray notes the address of its newest cluster beside the folder of its own, which is there after its first start.
    os.environ["RAY_TMPDIR"] = str(folder)
    (folder / "ray").mkdir()
    from ray.cluster_utils import Cluster

    store = 80 * 2**20
    head = {"num_cpus": 0, "object_store_memory": store, "include_dashboard": False, "temp_dir": str(folder)}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    added = []
    _say(cluster.address)
    _say(str(folder))
    for line in sys.stdin:
        if line == "end\n":
            break
        if line == "add\n":
            added.append(cluster.add_node(num_cpus=CORES, object_store_memory=store, include_dashboard=False))
        else:
            cluster.remove_node(added.pop(int(line.removeprefix("kill "))), allow_graceful=False)
        _say("done")
    cluster.shutdown()  # type: ignore[no-untyped-call]  # Ray has no types for it
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # Ray's threads have nothing left to do


def _say(text: str) -> None:
    sys.stdout.write(f"nodes: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
