"""How many files this process may have open."""

from __future__ import annotations

import resource

OTHERS = 256
"""Files that are open besides, at most."""


def allow(files: int) -> None:
    """Let this process open so many files, as far as the system lets it: most shells begin with a limit of 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files + OTHERS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft not in {resource.RLIM_INFINITY, hard} and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
