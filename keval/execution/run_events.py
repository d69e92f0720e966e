"""Makes the `run` event of a command, and what stands beside it: the plan, and the samples that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from keval.config.model import JudgeConfig
from keval.events import event
from keval.execution.plan import plan_events
from keval.execution.preparation import Prepared
from keval.execution.sample_changes import changed_samples, sample_changes
from keval.ids import JsonObject
from keval.logs.history import History
from keval.logs.redaction import redacted
from keval.processes import environment


def is_recorded(prepared: Prepared, past: History) -> bool:
    """Return whether a log holds all that a run would write of this config, dataset and model service."""
    mock = prepared.mock_url is not None
    newest = past.newest_run(prepared.config.name, mock=mock)
    if newest is None or newest is not past.newest_generate or not past.has_plan(prepared.plan_id):
        return False  # a report is of the config that ran last
    conditions = {name: condition["condition_id"] for name, condition in newest["conditions"].items()}
    recorded = (newest["config_sha256"], (newest["dataset"] or {}).get("sha256"), newest["plan_id"], conditions)
    return recorded == (
        prepared.config.sha256,
        prepared.dataset.sha256,
        prepared.plan_id,
        {condition.name: condition.condition_id for condition in prepared.config.conditions},
    ) and not any(changed_samples(past, prepared.samples))


def run_records(prepared: Prepared, past: History, run_id: str) -> Iterator[JsonObject]:
    """Yield what a run writes after its `run` event: its plan, if the log lacks it, and the samples that changed."""
    if not past.has_plan(prepared.plan_id):
        yield from plan_events(prepared.plan_id, prepared.question_ids, run_id)
    if prepared.log is not None:
        yield from sample_changes(prepared.log, past, prepared.samples, run_id)


def run_event(prepared: Prepared, command: str, run_id: str) -> JsonObject:
    """Return the `run` event of a command that generates: what is to be done, with what."""
    config = prepared.config
    tasks = len(prepared.samples) * config.execution.repetitions
    written = event(
        "run",
        run_id,
        run_id,
        command=command,
        config=config.as_written,
        config_sha256=config.sha256,
        config_name=config.name,
        dataset={
            "path": config.dataset.written,
            "sha256": prepared.dataset.sha256,
            "samples": len(prepared.samples),
        },
        agent=config.agent.described(),
        conditions={condition.name: condition.described() | {"tasks": tasks} for condition in config.conditions},
        judges=[judge.described() for judge in config.judges],
        mcp_servers={name: info.as_event_field() for name, info in prepared.servers.items()},
        seed=config.execution.seed,
        repetitions=config.execution.repetitions,
        plan_id=prepared.plan_id,
        environment=environment.fingerprint(config.path.parent),
        mock=prepared.mock_url is not None,
    )
    return redacted(written, config.secrets)


def judge_run_event(judges: Sequence[JudgeConfig], run_id: str, *, mock: bool) -> JsonObject:
    """Return the `run` event of a `judge` command: its judges, and nothing of an agent."""
    return bare_run_event("judge", run_id) | {"judges": [judge.described() for judge in judges], "mock": mock}


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
