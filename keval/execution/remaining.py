"""What a command has to generate, and what is said of it before it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keval.config.model import JudgeConfig
from keval.execution.stopping import Stopping
from keval.ids import JsonObject
from keval.preparation.changes import changes, no_longer_counted
from keval.preparation.config_past import ConfigPast
from keval.preparation.request import Request
from keval.preparation.tasks import TaskList, work_list
from keval.preparation.work_ahead import RECORDED_ANEW, generation_ahead, nothing_to_generate


@dataclass(frozen=True, kw_only=True)
class Remaining:
    """The tasks that a command does, of those that a config asks for and the log has no response to."""

    about: ConfigPast
    request: Request
    stopping: Stopping | None
    missing: TaskList
    """All that are not done, whether or not the user chose them."""
    tasks: TaskList
    """Those that are to be done."""
    failed_before: int
    """Tasks that failed in earlier runs and are not tried again."""

    @classmethod
    def of(cls, about: ConfigPast, request: Request, stopping: Stopping | None) -> Remaining:
        """Look up what is left to do. Raises UsageError for a sample or condition that is chosen and not there."""
        if stopping is not None:
            missing, failed_before = stopping.remaining, stopping.failed_before
        else:
            skipped, failed_before = "", 0
            if not request.fresh:
                skipped, failed_before = about.skipped(retry_failed=request.retry_failed)
            missing = work_list(about.prepared.config, about.prepared.samples, skipped)
        tasks = _chosen(missing, about, request)
        return cls(
            about=about, request=request, stopping=stopping,
            missing=missing, tasks=tasks, failed_before=failed_before,
        )  # fmt: skip

    def told(self, judges: Sequence[JudgeConfig], *, recorded: bool) -> Iterator[str]:
        """Yield what the user is to know of it.

        `judges` judge the answers; `recorded`: all is as in the log's newest run.
        """
        newest = self.about.past.newest_run(self.about.prepared.config.name, mock=self.about.mock)
        if self.request.chosen:
            yield self._told_of_choice()
        if not recorded and self.stopping is None and (gone := no_longer_counted(newest, self.about)) is not None:
            yield gone
        yield from self._told_of_others(newest)
        yield from self._told_of_tasks(judges, recorded=recorded)

    def _told_of_choice(self) -> str:
        """Return what becomes of the tasks that the user did not choose."""
        chosen, missing = len(self.tasks), len(self.missing)
        left = missing - chosen
        told = f"{chosen:,} of {missing:,} missing tasks {'is' if chosen == 1 else 'are'} chosen"
        if not left:
            return told
        others = "one stays planned, and counts" if left == 1 else f"{left:,} stay planned, and count"
        return f"{told}; the other {others} as not done"

    def _told_of_others(self, newest: JsonObject | None) -> Iterator[str]:
        """Yield what changed since the newest run of tasks that are not done now, if anything did."""
        if len(self.tasks) == len(self.missing):
            return
        left = sorted(set(self.missing.numbers).difference(self.tasks.numbers))
        if (changed := changes(newest, self.about, left)) is not None:
            yield changed.told_of_others()

    def _told_of_tasks(self, judges: Sequence[JudgeConfig], *, recorded: bool) -> Iterator[str]:
        """Yield how many tasks are to be done and what they cost, or why there are none."""
        if self.tasks:
            given_up = None if self.request.chosen else self.failed_before
            may_stop = self.stopping is not None and not self.request.complete
            chosen = self.request.chosen
            yield from generation_ahead(self.about, self.tasks, judges, given_up, may_stop=may_stop, chosen=chosen)
        elif self.stopping is not None and (self.stopping.is_stopped or self.stopping.tasks):
            if recorded and not self.stopping.must_end:  # else it is said at the end
                yield self.stopping.told_again()
        elif self.failed_before or not self.request.chosen:
            yield nothing_to_generate(self.failed_before) + ("" if recorded else f"; {RECORDED_ANEW}")
        elif not recorded:
            yield RECORDED_ANEW


def _chosen(missing: TaskList, about: ConfigPast, request: Request) -> TaskList:
    """Return the tasks that the user chose of those that are missing."""
    if not request.chosen:
        return missing
    taken = {sample["id"] for sample in about.prepared.samples}
    ids = [sample["id"] for read in about.prepared.datasets for sample in read.samples]
    return request.chosen.of_tasks(missing, [name for name in ids if name not in taken])
