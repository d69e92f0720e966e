"""Hands specs to the workers of a Ray cluster, and brings back what came of them.

What one worker had in flight when it was lost has failed, as it fails when a service breaks off: whoever decides
tries it again and counts the attempt.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from keval.agents import Answer
from keval.config.model import JudgeConfig
from keval.errors import UsageError, Warn
from keval.executors.answering import NOTHING
from keval.executors.executor import Executor
from keval.executors.ray_cluster import Cluster, RemoteWorker, WorkerLostError, connected
from keval.executors.ray_worker import Assignment, identity_of
from keval.executors.specs import AnswerSpec, JudgeSpec, Known, Outcome
from keval.executors.workspaces import whole_or_not_at_all
from keval.judges import Judge, Judgment
from keval.logs.past import Past
from keval.preparation.prepared import Prepared
from keval.processes import packed_folder, tree
from keval.retry import Failed
from keval.secrets.variables import Secrets

SALT_BYTES = 16


class Work(NamedTuple):
    """What workers are to do, and what they need for it."""

    assignment: Assignment
    identity: Mapping[str, str]
    """What each worker has to be, too."""
    folder: Path | None
    """What travels to them; None: nothing has to."""
    leave_out: Sequence[str]
    """What of it stays here, as patterns of gitignore."""
    at_once: int
    """Items at once on all of them."""


class RayExecutor:
    """Does the work on a cluster; judges that look at a folder do it here, where the folder is."""

    def __init__(self, cluster: Cluster, here: Executor) -> None:
        self._cluster = cluster
        self._here = here
        self._made_by: dict[Path, RemoteWorker] = {}
        """Which worker has a folder that is not released yet."""
        self._releasing: set[asyncio.Task[None]] = set()

    async def answer(self, spec: AnswerSpec) -> Outcome[Answer]:
        """Let a worker ask the agent once."""
        return await self._do("answer", spec, NOTHING, "infra_error")

    async def judge(self, spec: JudgeSpec) -> Outcome[Judgment]:
        """Let a worker ask one judge once."""
        if spec.case.workspace is not None:
            return await self._here.judge(spec)
        return await self._do("judge", spec, Judgment({}), "judge_error")

    async def _do(self, kind: str, spec: AnswerSpec | JudgeSpec, nothing: Known, blamed: str) -> Outcome[Known]:
        began = time.monotonic()
        place = await self._cluster.place(kind)
        worker = place[2]
        try:
            outcome: Outcome[Known] = await worker.call(kind, spec)
        except WorkerLostError as error:
            return Outcome(
                nothing, round((time.monotonic() - began) * 1000), Failed(blamed, str(error), retryable=True)
            )
        finally:
            self._cluster.give_back(kind, place)
        if outcome.workspace is not None:
            self._made_by[outcome.workspace] = worker
        return outcome

    def release(self, workspace: Path) -> None:
        """Let the worker that made a folder remove it; a second time there is nothing to remove."""
        worker = self._made_by.pop(workspace, None)
        if worker is not None:
            task = asyncio.create_task(_removed(worker, workspace))
            self._releasing.add(task)
            task.add_done_callback(self._releasing.discard)

    async def move(self, workspace: Path, place: Path) -> None:
        """Bring a folder here, where it stays. Raises OSError, also for one that was lost with its worker."""
        worker = self._made_by.get(workspace)
        if worker is None:
            return
        try:
            content: bytes = await worker.call("folder", str(workspace))
        except WorkerLostError as error:
            raise OSError(str(error)) from error
        with whole_or_not_at_all(place) as part:
            await tree.to_the_end(asyncio.to_thread(packed_folder.unpack, content, part))
        self.release(workspace)

    async def close(self) -> None:
        """End what the agents keep from task to task."""
        await asyncio.gather(*self._releasing)
        await self._cluster.close()


async def _removed(worker: RemoteWorker, workspace: Path) -> None:
    """Let a worker remove a folder; one that is lost has nothing that could be."""
    with suppress(WorkerLostError):
        await worker.call("release", str(workspace))


@contextmanager
def ray_executor(cluster: str, work: Work, here: Executor, warn: Warn) -> Iterator[RayExecutor]:
    """Give who does some work on the Ray cluster at an address; `here` does it in this process.

    Raises UsageError, EnvironmentLacksError.
    """
    with connected(cluster, work.folder, work.leave_out) as cores:
        size = min(cores, work.at_once)
        assignment = work.assignment._replace(at_once=math.ceil(work.at_once / size))
        yield RayExecutor(Cluster(assignment, work.identity, size, warn), here)


def work_of_config(prepared: Prepared, judges: Sequence[JudgeConfig]) -> Work:
    """Return what workers have to know to do the work of a config."""
    config, log = prepared.config, prepared.log
    folder, salt = config.path.parent, secrets.token_bytes(SALT_BYTES)
    stay = [log, *(dataset.path for dataset in config.datasets)]
    return Work(
        assignment=Assignment(
            salt=salt,
            log_mark=None if log is None else tree.log_mark(log),
            mock_url=prepared.mock_url,
            config=config.path.name,
            with_judges=bool(judges),
        ),
        identity=identity_of(judges, config.secrets, salt, config),
        at_once=config.execution.max_concurrent,
        folder=folder,
        leave_out=[name for path in stay if path is not None for name in _names(path, folder)],
    )


def work_of_judges(  # noqa: PLR0913 - what a worker has to know of it
    judges: Sequence[JudgeConfig],
    past: Past,
    given: Sequence[Path],
    known: Secrets,
    *,
    at_once: int,
    mock_url: str | None,
) -> Work:
    """Return what workers have to know to ask judges, so many at once, about the responses of a log.

    `given` are the files of judges that the user names. Raises UsageError where these lie in several folders.
    """
    folder, salt = _folder(judges, given), secrets.token_bytes(SALT_BYTES)
    described = tuple(judge.described() for judge in judges)
    return Work(
        assignment=Assignment(
            log_mark=tree.log_mark(past.log),
            salt=salt,
            judges=described,
            recorded_config=(past.newest or {}).get("config"),
            mock_url=mock_url,
        ),
        identity=identity_of(judges, known, salt),
        at_once=at_once,
        folder=folder,
        leave_out=[] if folder is None else _names(past.log, folder),
    )


def _folder(judges: Sequence[JudgeConfig], given: Sequence[Path]) -> Path | None:
    """Return the folder with the files that judges name; None if they name none."""
    if all(type(judge.judge).placed is Judge.placed for judge in judges):
        return None
    folders = {path.absolute().parent for path in given} or {Path.cwd()}
    if len(folders) > 1:
        raise UsageError("--executor ray sends one folder to its workers; put the files given with -j into one")
    return folders.pop()


def _names(path: Path, folder: Path) -> list[str]:
    """Return the patterns that mean a file and what lies beside it under its name, if it is in a folder."""
    real = path.absolute()
    return [f"/{real.relative_to(folder)}", f"/{real.relative_to(folder)}.*"] if real.is_relative_to(folder) else []
