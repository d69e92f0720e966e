"""The folders in which an agent works: one for each attempt, and which of them stay when it is over.

A folder is made new for each attempt, as the config's template has it. It is removed when the answer is safe in the
log, unless the config keeps it, or a judge of the same command is to look at it first.

It may hold thousands of files, so it is copied and removed in threads.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from keval.config.model import Keep
from keval.ids import JsonObject
from keval.processes import temporary, tree
from keval.processes.workspace_template import Template

MOST_REMOVED = 4
"""Folders that are removed at once, while others are made: threads are left in which these are copied."""


class Workspaces:
    """Makes and removes the folders of one executor."""

    def __init__(self, template: Template | None = None) -> None:
        self._template = template
        self._made: dict[Path, ExitStack] = {}
        self._removing: set[asyncio.Future[object]] = set()
        self._base: Path | None = None
        """What all folders are copies of, once there is one."""
        self._base_stack = ExitStack()
        self._making_base = asyncio.Lock()

    async def new(self) -> Path:
        """Make a folder; where many are being removed, wait for one, or there would be ever more of them.

        Raises EnvironmentLacksError and OSError.
        """
        while len(self._removing) >= MOST_REMOVED:
            await asyncio.wait(self._removing, return_when=asyncio.FIRST_COMPLETED)
        with ExitStack() as made:
            workspace = made.enter_context(temporary.folder())
            if self._template is not None:
                base = await self._copied(self._template)
                copying = asyncio.to_thread(shutil.copytree, base, workspace, symlinks=True, dirs_exist_ok=True)
                await tree.to_the_end(copying)
            self._made[workspace] = made.pop_all()
        return workspace

    async def _copied(self, template: Template) -> Path:
        async with self._making_base:
            if self._base is None:
                with ExitStack() as made:
                    base = made.enter_context(temporary.folder())
                    await tree.to_the_end(asyncio.to_thread(template.put_into, base))
                    self._base_stack, self._base = made.pop_all(), base
            return self._base

    def remove(self, workspace: Path) -> None:
        """Begin to remove a folder; a second time there is nothing to remove."""
        if (made := self._made.pop(workspace, None)) is not None:
            self._begin_removing(made)

    def _begin_removing(self, made: ExitStack) -> None:
        if (removing := _in_thread(made.close)) is not None:
            self._removing.add(removing)
            removing.add_done_callback(self._removing.discard)

    async def move(self, workspace: Path, place: Path) -> None:
        """Move a folder to where it stays; it is whole there or not there at all. Raises OSError.

        A second time there is nothing to move.
        """
        if workspace not in self._made:
            return
        with whole_or_not_at_all(place) as part:
            await tree.to_the_end(asyncio.to_thread(shutil.move, workspace, part))
        self.remove(workspace)

    async def close(self) -> None:
        """Remove what new folders are copied from, until all is gone; another one would begin anew."""
        self._base = None
        self._begin_removing(self._base_stack.pop_all())
        if self._removing:
            await asyncio.wait(self._removing)


def _in_thread(remove: Callable[[], object]) -> asyncio.Future[object] | None:
    """Remove something in a thread, while the event loop goes on; None if it is removed already.

    Whatever becomes of the command, the threads of its event loop end before it does.
    """
    try:
        return asyncio.get_running_loop().run_in_executor(None, remove)
    except RuntimeError:  # there is no thread to be had
        remove()
        return None


@contextmanager
def whole_or_not_at_all(place: Path) -> Iterator[Path]:
    """Give a path beside a place where a folder is to be made, which takes the place then. Raises OSError.

    Of one that could not be made nothing is left: on a disk that is full it would keep the room.
    """
    part = place.with_name(f"{place.name}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.rename(place)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise


@dataclass(frozen=True)
class Kept:
    """Where the folders of one run stay whose answers are in the log."""

    keep: Keep = "none"
    folder: Path = Path()
    """Where those stay that the config keeps."""
    until_judged: Path | None = None
    """Where the others wait that a judge of this command looks at; None if none does."""
    _waiting: Counter[str] = field(default_factory=Counter, repr=False)
    """How many judgments of a response are to be made yet, by its id."""

    def recorded(self, response_id: str, *, failed: bool) -> Path | None:
        """Return where the folder of a task stays for good, as its event says, or None."""
        keeps = self.keep == "all" or (failed and self.keep == "failed")
        return self.folder / response_id if keeps else None

    def place(self, response_id: str, *, failed: bool) -> Path | None:
        """Return where the folder of a task is to be moved, None if it is to be removed."""
        recorded = self.recorded(response_id, failed=failed)
        if recorded is None and self.until_judged is not None and not failed:
            return self.until_judged / response_id
        return recorded

    def of(self, response: JsonObject) -> Path | None:
        """Return the folder in which the agent worked for a response, if it is there."""
        kept = response.get("workspace")
        places = [Path(kept)] if kept else []
        if self.until_judged is not None:
            places.append(self.until_judged / response["id"])
        return next((place for place in places if place.is_dir()), None)

    def wait_for(self, response_id: str, judgments: int) -> None:
        """Take note of how many judgments of a response are to be made by those who look at its folder."""
        if self.until_judged is None:
            return
        self._waiting[response_id] += judgments
        self._remove_if_done(response_id)

    def judged(self, response_id: str) -> None:
        """Take note of a judgment that was made, or has failed."""
        self._waiting[response_id] -= 1
        self._remove_if_done(response_id)

    def _remove_if_done(self, response_id: str) -> None:
        if self._waiting[response_id] <= 0:
            del self._waiting[response_id]
            if self.until_judged is not None:
                _in_thread(partial(shutil.rmtree, self.until_judged / response_id, ignore_errors=True))
