"""Object storage on loopback: a process that speaks the protocol of S3, and the environment in which it is meant."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = """
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
input()
"""

SECRET = "object-store-secret"  # noqa: S105 - of no real store


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """Run a store while entered; yield the environment of a command that uses it, with a home of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NO_PROXY": "127.0.0.1",
        "AWS_ACCESS_KEY_ID": "object-store-key",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            yield {**environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        finally:
            server.kill()
