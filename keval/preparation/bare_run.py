"""Makes the `run` event of a command that asks neither agent nor, by a config, judges."""

from __future__ import annotations

from pathlib import Path

from keval.events import event
from keval.ids import JsonObject
from keval.processes import environment


def bare_run_event(command: str, run_id: str) -> JsonObject:
    """Return the `run` event of a command that has no config; judges and mock are for the caller to fill in."""
    return event(
        "run",
        run_id,
        run_id,
        command=command,
        config=None,
        config_sha256=None,
        config_name=None,
        dataset=None,
        agent=None,
        conditions=None,
        judges=[],
        mcp_servers={},
        seed=None,
        repetitions=None,
        plan_id=None,
        environment=environment.fingerprint(Path.cwd()),
        mock=False,
    )
