"""Shuts the own process in, before it runs code that nobody trusts: with what the system offers, and no program.

Each measure works by itself, so that one that the system lacks takes no other away; what was achieved is returned.
Namespaces take the network and the sight of other processes, Landlock takes the files, limits take the rest.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import struct
from pathlib import Path
from typing import Any

NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
"""Namespaces, as Linux calls them."""

SET_PDEATHSIG, SET_DUMPABLE, SET_NO_NEW_PRIVS = 1, 4, 38
"""What Linux calls what a process may ask of it."""

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, the same on every architecture."""

READ = 1 << 0 | 1 << 2 | 1 << 3
"""Landlock's rights to execute, to read a file and to list a folder."""

RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights of Landlock that concern files, by the first version that has them."""

WITH_NETWORK, WITH_SCOPES = 4, 6
"""The versions of Landlock that can refuse connections, and signals to processes outside."""


def hide() -> None:
    """Let no other process of this user look into this one."""
    _libc().prctl(SET_DUMPABLE, 0, 0, 0, 0)


def shut_in(settings: dict[str, Any]) -> list[str]:
    """Shut this process in, and return what it has lost: `user`, `network`, `processes`, `files`.

    Its folder is the one in which it works. Settings: `readable` (folders that it may read), `drop_to` (a user's
    number, or None), and the limits `memory_bytes`, `file_bytes`, `processes` and `seconds`. The process that returns
    may be a child of the one that called, which then waits for it.
    """
    libc, lost = _libc(), []
    os.setsid()
    os.environ.clear()
    if settings["drop_to"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["drop_to"]] * 3)
        os.setresuid(*[settings["drop_to"]] * 3)
        libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)  # or its own files in /proc would be another user's
        lost.append("user")
    libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    user, group = os.getuid(), os.getgid()
    own_namespaces = libc.unshare(NEW_USER | NEW_NET | NEW_PID | NEW_IPC) == 0
    if own_namespaces:
        _keep_names(user, group)
        lost += ["network", "processes"]
        child = os.fork()
        if child:  # the first process of the new namespace: when it ends, all others in there do
            os.closerange(3, 4096)
            os.waitpid(child, 0)
            os._exit(0)
        libc.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if _landlocked(libc, settings):
        lost.append("files")
    _limit(settings, own_namespaces=own_namespaces)
    return lost


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _keep_names(user: int, group: int) -> None:
    """Let user and group be in the new namespace what they were: what has no name in it cannot own a file."""
    for name, content in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError):
            Path(f"/proc/self/{name}").write_text(content, encoding="ascii")


def _limit(settings: dict[str, Any], *, own_namespaces: bool) -> None:
    seconds = int(settings["seconds"]) + 1
    limits = {
        resource.RLIMIT_AS: settings["memory_bytes"],
        resource.RLIMIT_FSIZE: settings["file_bytes"],
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    # Outside a namespace of its own all processes of the user count, whoever started them.
    if own_namespaces or settings["drop_to"] is not None:
        limits[resource.RLIMIT_NPROC] = settings["processes"]
    for limit, value in limits.items():
        _, hard = resource.getrlimit(limit)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (most, most))


def _landlocked(libc: ctypes.CDLL, settings: dict[str, Any]) -> bool:
    """Take all files from this process but its own folder, which it may write, and what it may read."""
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    rights = RIGHTS[max(first for first in RIGHTS if first <= version)]
    network = 3 if version >= WITH_NETWORK else 0
    scopes = 3 if version >= WITH_SCOPES else 0
    attributes = struct.pack("QQQ", rights, network, scopes)
    size = 24 if scopes else 16 if network else 8
    rules = libc.syscall(CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    for folder in settings["readable"]:
        _allow(libc, rules, folder, READ)
    _allow(libc, rules, os.devnull, READ & ~(1 << 3) | 1 << 1)
    _allow(libc, rules, ".", rights)
    locked = bool(libc.syscall(RESTRICT_SELF, rules, 0) == 0)
    os.close(rules)
    return locked


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    rule = struct.pack("=Qi", rights, place)
    libc.syscall(ADD_RULE, rules, 1, ctypes.c_char_p(rule), 0)
    os.close(place)
