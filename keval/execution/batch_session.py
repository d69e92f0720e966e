"""Makes of a session one in which models answer in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from keval.execution.session import Session
from keval.executors.batch_events import KnownBatches
from keval.executors.batch_executor import AT_ONCE, BatchExecutor, Caller, Workers
from keval.executors.batching import AskerBatches, Pace
from keval.models.prices import BATCH_SHARE
from keval.scheduling.limiter import Limiter


def with_batches(
    session: Session,
    workers: Workers,
    callers: Sequence[Caller],
    known: KnownBatches,
    *,
    tell: Callable[[str], None],
) -> Session:
    """Return a session in which the models of these callers answer in batches, in a running event loop."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    batch_ids = set(known.batch_ids)
    batches = {
        caller.asker: AskerBatches(
            asker=caller.asker,
            name=caller.name,
            service=caller.service,
            run_id=session.run_id,
            append=session.sink.append,
            known=known.open,
            batch_ids=batch_ids,
            tell=tell,
            over=over,
            pace=Pace(),
        )
        for caller in callers
    }
    execution = session.execution
    limiter = Limiter(execution.max_concurrent, execution.retry)
    executor = BatchExecutor(workers, batches, limiter, over, session.run_id)
    execution = replace(execution, max_concurrent=AT_ONCE)
    return replace(session, executor=executor, execution=execution, again_costs=1 / BATCH_SHARE)
