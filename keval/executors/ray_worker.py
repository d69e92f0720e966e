"""Does the work of a command in another process, perhaps on another machine: what a worker of a cluster runs.

A worker reads the config that travelled with its folder, takes secrets from its own environment, and says what it
has become: the command that made it compares that with what it is itself. Nothing here imports Ray.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import keval
from keval.agents import Answer
from keval.config.model import Config, JudgeConfig
from keval.config.reader import judge_from_description, load, recorded
from keval.errors import KevalError
from keval.executors.config_executor import config_executor
from keval.executors.executor import Executor
from keval.executors.in_process import InProcess, judge_caller_of
from keval.executors.specs import AnswerSpec, JudgeSpec, Outcome
from keval.ids import JsonObject
from keval.judges import Judgment
from keval.preparation.keys import judge_env
from keval.preparation.prepared import unread
from keval.preparation.readiness import set_up
from keval.processes import environment, local_files, machine, servers, tree
from keval.processes.packed_folder import packed
from keval.secrets.variables import Secrets

SECRET = "secret "  # noqa: S105 - the beginning of names
"""How the name of what is a secret begins, among what has to be the same."""


class Assignment(NamedTuple):
    """What a worker does the work of: plain data without the value of any secret."""

    salt: bytes
    """What the values of secrets are hashed with, so that they can be compared."""
    at_once: int = 1
    """How many tasks, and as many judgments, a worker does at once."""
    log_mark: str | None = None
    """What stands for the log: who is killed leaves processes that bear it (`tree.log_mark`); None: a pipe."""
    mock_url: str | None = None
    config: str | None = None
    """The config's file, in the folder where the worker runs; None: only judges work."""
    with_judges: bool = True
    """Whether the judges of the config work, too."""
    judges: tuple[JsonObject, ...] = ()
    """Without a config: the judges as a `run` event has them."""
    recorded_config: JsonObject | None = None
    """Without a config: the config that the log recorded, for its prices."""


class Ready(NamedTuple):
    """What a worker says of itself when it can work, or why it cannot."""

    host: str
    identity: Mapping[str, str]
    """What has to be the same here and there, by what people call it."""
    problem: str | None = None


class Worker:
    """Does one spec per call; many calls run at once on one event loop."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._executor: Executor | None = None

    async def begin(self) -> Ready:
        """Make everything ready; a second time it is asked for the same."""
        _forget_folder()
        try:
            machine.raise_limit()
            if self._assignment.log_mark is not None:
                await tree.end_orphans(self._assignment.log_mark)
            self._executor, identity = _executor_of(self._assignment)
        except KevalError as error:
            return Ready(socket.gethostname(), {}, str(error))
        return Ready(socket.gethostname(), identity)

    async def ping(self) -> None:
        """Show that the event loop turns."""

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Ask the agent once."""
        return await self._work().answer(spec)

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Ask one judge once."""
        return await self._work().judge(spec)

    async def release(self, workspace: str) -> None:
        """Begin to remove the folder of an outcome that is written down."""
        self._work().release(Path(workspace))

    async def folder(self, workspace: str) -> bytes:
        """Return a folder that is to be kept, packed. Raises OSError."""
        return await asyncio.to_thread(packed, Path(workspace))

    async def close(self) -> None:
        """End what the agent keeps from task to task; judges may still be at work."""
        await self._work().close()

    async def end(self) -> list[str]:
        """End what tasks left running, when none is in flight; return the names of these processes."""
        return await tree.end_unmarked()

    def _work(self) -> Executor:
        if self._executor is None:
            raise LookupError("a worker was given work before it had begun")
        return self._executor


def _executor_of(assignment: Assignment) -> tuple[Executor, Mapping[str, str]]:
    """Return who does an assignment in this process, and what this process is. Raises KevalError."""
    if assignment.config is not None:
        return _of_config(assignment, load(Path(assignment.config), with_datasets=False))
    secrets = Secrets(os.environ)
    judges = [judge_from_description(each, secrets=secrets) for each in assignment.judges]
    _, prices = recorded(assignment.recorded_config, lambda _: None)
    env = judge_env(judges, secrets, assignment.mock_url, os.environ)
    executor = InProcess(None, judge_caller_of(judges, env, environment.allowed(os.environ), prices))
    return executor, identity_of(judges, secrets, assignment.salt)


def _of_config(assignment: Assignment, config: Config) -> tuple[Executor, Mapping[str, str]]:
    prepared = unread(config, assignment.mock_url, None)
    set_up(prepared, assignment.at_once)
    judges = config.judges if assignment.with_judges else ()
    mark = {} if assignment.log_mark is None else tree.mark(assignment.log_mark)
    executor = config_executor(prepared, judges, mark)
    return executor, identity_of(judges, config.secrets, assignment.salt, config)


def identity_of(
    judges: Iterable[JudgeConfig], secrets: Secrets, salt: bytes, config: Config | None = None
) -> dict[str, str]:
    """Return what has to be the same in the command and in its workers, by what people call it.

    Of a secret it is a hash that is slow to make: each value that a worker hands out is looked for in what comes back,
    so the command has to know the same one.
    """
    return {
        "keval": f"{environment.keval_version()} {source_sha256()[:12]}",
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
        **{f"judge {judge.name}": judge.judge_id for judge in judges},
        **({} if config is None else _of_agent(config)),
        **{f"{SECRET}{name}": _hashed("\n".join(secrets.known[name]), salt) for name in sorted(secrets.secret_names)},
    }


def _of_agent(config: Config) -> dict[str, str]:
    folder = config.path.parent
    commands = [servers.command_of(config.secrets.resolve(server)) for server in config.mcp_servers.values()]
    files = [*config.agent.files, *(file for command in commands for file in local_files.named_by(command, folder))]
    return {
        f"agent {config.agent.name}": config.agent.agent_id,
        **{f"file {file.name}": file.sha256 for file in files},
    }


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """Return the names of what is another here and there; a secret may be known to one of them only."""
    found = []
    for name, value in ours.items():
        default = value if name.startswith(SECRET) else None
        if theirs.get(name, default) != value:
            found.append(name)
    return found


@cache
def source_sha256() -> str:
    """Return the hash of the code that runs: two versions may bear one number."""
    folder = Path(keval.__file__).parent
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".sql", ".json", ".yaml"} and path.is_file():
            found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _hashed(value: str, salt: bytes) -> str:
    return hashlib.scrypt(value.encode(errors="surrogatepass"), salt=salt, n=2**14, r=8, p=1).hex()


def _forget_folder() -> None:
    """Import nothing from the folder that travelled: a file there may be called as a module is."""
    here = Path.cwd()
    sys.path[:] = [place for place in sys.path if place and Path(place) != here]
