"""Makes the judgments that cost nothing, where a budget has ended all else: they fit into any budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from keval.config.model import JudgeConfig
from keval.errors import Warn
from keval.execution.jobs import Backlog
from keval.execution.progress import Progress
from keval.execution.session import Request, Session
from keval.execution.unjudged import Unjudged
from keval.logs.past import of_log
from keval.projections.sql_file import load


@asynccontextmanager
async def stopped_with(stop: asyncio.Event) -> AsyncIterator[asyncio.Event]:
    """Give an event that is set when the user stops, and that a budget may set without it."""
    own = asyncio.Event()

    async def follow() -> None:
        await stop.wait()
        own.set()

    following = asyncio.ensure_future(follow())
    try:
        yield own
    finally:
        following.cancel()


async def judge_for_free(  # noqa: PLR0913, PLR0917 - what both commands that judge know of their work
    session: Session,
    log: Path,
    judges: Sequence[JudgeConfig],
    request: Request,
    progress: Progress,
    warn: Warn,
    stop: asyncio.Event,
) -> None:
    """Make what is missing by judges that cost nothing, if a budget was reached, until `stop` is set.

    The jobs were planned before the budget was: it has taken them from the judges.
    """
    free = [judge for judge in judges if judge.judge_id in session.ledger.free and judge.judge.unit == "response"]
    if not session.ledger.refused or not free or stop.is_set():
        return
    with of_log(log, warn, skip_invalid=request.skip_invalid) as found:
        planned = load("execution", "planned_responses", everything=str(request.judge_all))
        missing = Unjudged(found, free, mock=request.mock).missing(request.chosen.of_responses(planned))
        async with stopped_with(stop) as own:
            await replace(session, stop=own).judging(progress).work_off(Backlog(found.log, missing, free))
