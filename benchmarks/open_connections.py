"""Counts, while a command of this process runs, how many connections it has open and how many processes below it.

It looks once a second, so what is there for less time may not be seen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

from benchmarks.child import KEVAL

EVERY_S = 1.0
PROCESSES = "processes"


@contextmanager
def most_seen(ports: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Look while entered; yield the most connections to each port, by its name, and the most processes.

    The dict is filled when the context ends; processes are those below the command, which is the child of this
    process that runs keval.
    """
    most = dict.fromkeys((*ports, PROCESSES), 0)
    found: dict[str, int] = {}
    end = threading.Event()

    def look() -> None:
        while not end.wait(EVERY_S):
            for name, number in _seen(ports).items():
                most[name] = max(most[name], number)

    looking = threading.Thread(target=look, name="open-connections")
    looking.start()
    try:
        yield found
    finally:
        end.set()
        looking.join()
        found.update(most)


def _seen(ports: Mapping[str, int]) -> dict[str, int]:
    """Return what the command has open now; nothing if it has ended in the meantime."""
    for process in psutil.Process().children():
        try:
            if tuple(process.cmdline()[: len(KEVAL)]) != KEVAL:
                continue
            remote = [each.raddr.port for each in process.net_connections("tcp") if each.raddr]
            return {
                **{name: remote.count(port) for name, port in ports.items()},
                PROCESSES: len(process.children(recursive=True)),
            }
        except psutil.Error:
            continue
    return {}
