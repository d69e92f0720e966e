"""Places at the workers of a Ray cluster, without a cluster."""

from __future__ import annotations

import asyncio

import pytest

from keval.errors import EnvironmentLacksError
from keval.executors.ray_cluster import Cluster
from keval.executors.ray_worker import Assignment


async def test_whoever_asks_for_a_place_when_there_are_no_workers_is_told_so() -> None:
    """Also those who come when all has been given up, however many they are."""
    cluster = Cluster(Assignment(salt=b""), {}, 0, lambda _: None)
    waiting = [asyncio.create_task(cluster.place(kind)) for kind in ("answer", "answer", "judge")]
    await asyncio.wait(waiting)
    for late in (*waiting, cluster.place("answer"), cluster.place("judge"), cluster.place("judge")):
        with pytest.raises(EnvironmentLacksError):
            await late
