"""Makes the `run` event of a command, and the plan that stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keval.config.model import Config, JudgeConfig
from keval.events import event
from keval.ids import JsonObject
from keval.logs.past import Past
from keval.logs.redaction import redacted
from keval.preparation.bare_run import bare_run_event
from keval.preparation.config_past import ConfigPast
from keval.preparation.plan_events import plan_events
from keval.preparation.prepared import Prepared
from keval.processes import environment
from keval.projections.sql_file import load


def is_recorded(about: ConfigPast) -> bool:
    """Return whether a log holds all that a run would write of this config, dataset and model service."""
    prepared, past = about.prepared, about.past
    newest = past.newest_run(prepared.config.name, mock=about.mock)
    if newest is None or not past.replaces_nothing(prepared.config.name, mock=about.mock):
        return False  # a report is of the config that ran last
    if not past.has_plan(prepared.plan_id):
        return False
    recorded = (newest["config_sha256"], (newest["dataset"] or {}).get("sha256"), newest["plan_id"])
    same = recorded == (prepared.config.sha256, prepared.dataset_sha256, prepared.plan_id)
    return same and has_the_same(newest, prepared.config, past) and not about.changed_samples


def has_the_same(run: JsonObject, config: Config, past: Past) -> bool:
    """Return whether a run had a config's agent, conditions, judges and repetitions.

    Files that the config names may have changed beside it, such as a rubric by the score from which an answer passes,
    of which a later `keval judge` may say something else; a command line says how often, and which share.
    """
    conditions = {name: condition["condition_id"] for name, condition in run["conditions"].items()}
    shares = {judge["judge_id"]: judge.get("sampling") for judge in run["judges"]}
    same = (run["agent"]["agent_id"], conditions, shares, run["repetitions"]) == (
        config.agent.agent_id,
        {condition.name: condition.condition_id for condition in config.conditions},
        {judge.judge_id: judge.sampling.as_event_field().get("sampling") for judge in config.judges},
        config.execution.repetitions,
    )
    return same and not thresholds_changed(past, config.judges)


def thresholds_changed(past: Past, judges: Sequence[JudgeConfig]) -> bool:
    """Return whether by judges that a log knows answers pass from other scores than it says.

    It goes by the newest run of each judge, also one of `keval judge`.
    """
    known = {(judge_id, metric): score for judge_id, metric, score in past.rows(load("projections", "thresholds"))}
    now = {
        (judge.judge_id, metric["name"]): metric["pass_from"]
        for judge in judges
        for metric in judge.described()["metrics"]
    }
    return any(known[key] != score for key, score in now.items() if key in known)


def plan_records(prepared: Prepared, past: Past, run_id: str) -> Iterator[JsonObject]:
    """Yield the plan of a run, if the log lacks it."""
    if not past.has_plan(prepared.plan_id):
        yield from plan_events(prepared.plan_id, prepared.question_ids, run_id)


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
        dataset=_dataset(prepared),
        agent=config.agent.described(),
        conditions={condition.name: condition.described() | {"tasks": tasks} for condition in config.conditions},
        judges=[judge.described() for judge in config.judges],
        **({"metrics": [metric.described() for metric in config.metrics]} if config.metrics else {}),
        mcp_servers={name: info.as_event_field() for name, info in prepared.servers.items()},
        seed=config.execution.seed,
        repetitions=config.execution.repetitions,
        plan_id=prepared.plan_id,
        environment=environment.fingerprint(config.path.parent),
        mock=prepared.mock,
    )
    return redacted(written, config.secrets)


def _dataset(prepared: Prepared) -> JsonObject:
    datasets = prepared.config.datasets
    written = {
        "path": ", ".join(dataset.written for dataset in datasets),
        "sha256": prepared.dataset_sha256,
        "samples": len(prepared.samples),
    }
    if len(datasets) == 1:
        return written
    parts = [
        {"name": dataset.layout.name, "path": dataset.written, "sha256": read.sha256}
        for dataset, read in zip(datasets, prepared.datasets, strict=True)
    ]
    return {**written, "parts": parts}


def judge_run_event(judges: Sequence[JudgeConfig], run_id: str, *, mock: bool) -> JsonObject:
    """Return the `run` event of a `judge` command: its judges, and nothing of an agent."""
    return bare_run_event("judge", run_id) | {"judges": [judge.described() for judge in judges], "mock": mock}
