"""Says how much memory a command may take: what the machine, its container and the shell's limits leave."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keval.errors import EnvironmentLacksError

LEAST = 128 * 2**20
"""Bytes that DuckDB gets in any case: with less it reads nothing."""

LEAST_ADDRESSES = 1536 * 2**20
"""Bytes of addresses that DuckDB and numpy have to find, of which they use few; with fewer they end the process."""

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class _Files:
    """Where a control group says what it may take and takes; names differ between the versions of control groups."""

    limit: str
    used: str
    cache: str
    """The line of memory.stat with the bytes of files that were read and that the kernel drops when it needs room."""


_V1 = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Files("memory.max", "memory.current", "inactive_file")


def for_queries() -> int:
    """Return the bytes that DuckDB may take: half of what is available, for it does not count all that it takes."""
    return max(available() // 2, LEAST)


def available() -> int:
    """Return the bytes that this process can still take, by the strictest of all limits."""
    import psutil

    bounds = [psutil.virtual_memory().available]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        bounds.append(soft - psutil.Process().memory_info().vms)
    return max(min([*bounds, *left_in_cgroups(CGROUPS, OWN_CGROUPS)]), 0)


def check_addresses() -> None:
    """Raise EnvironmentLacksError where a limit of this shell would end the process in the middle of a query.

    What the libraries then end it with may be an exit code that means something else, or nothing but a signal.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY and soft < LEAST_ADDRESSES:
        raise EnvironmentLacksError(
            f"not enough memory to read a log: this shell allows {soft >> 20:,} MiB (`ulimit -v`), and it takes "
            f"{LEAST_ADDRESSES >> 20:,} MiB of addresses; raise the limit"
        )


def left_in_cgroups(root: Path, own: Path) -> Iterator[int]:
    """Yield the bytes that each control group of this process leaves; one without a limit says nothing.

    `root` is the folder of all groups, `own` the file that names this process's. A log that was read stays in memory as
    long as nobody needs the room, so it does not count as used.
    """
    for folder, files in _cgroups(root, own):
        try:
            limit, used = ((folder / name).read_text().strip() for name in (files.limit, files.used))
        except OSError:
            continue
        if limit.isdigit() and used.isdigit():
            yield int(limit) - max(int(used) - _droppable(folder, files.cache), 0)


def _droppable(folder: Path, name: str) -> int:
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)


def _cgroups(root: Path, own: Path) -> Iterator[tuple[Path, _Files]]:
    """Yield the folders of this process's memory groups up to the root, with the names of their files."""
    if not own.exists():
        return
    for line in own.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, files = root, _V2
        elif "memory" in controllers.split(","):
            top, files = root / "memory", _V1
        else:
            continue
        group = Path(path.lstrip("/"))
        for part in (group, *group.parents):
            yield top / part, files
