"""Says how much memory a command may take: what the machine, its container and the shell's limits leave."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

LEAST = 128 * 2**20
"""Bytes that DuckDB gets in any case: with less it reads nothing."""

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


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
    return max(min(*bounds, *_left_in_cgroups(), bounds[0]), 0)


def _left_in_cgroups() -> Iterator[int]:
    """Yield what each control group of this process leaves; one without a limit says nothing."""
    for folder, names in _cgroups():
        try:
            limit, used = ((folder / name).read_text().strip() for name in names)
        except OSError:
            continue
        if limit.isdigit() and used.isdigit():
            yield int(limit) - int(used)


def _cgroups() -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield the folders of this process's memory groups up to the root, with the files of limit and use."""
    if not OWN_CGROUPS.exists():
        return
    for line in OWN_CGROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = CGROUPS, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = CGROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        group = Path(path.lstrip("/"))
        for part in (group, *group.parents):
            yield root / part, names
