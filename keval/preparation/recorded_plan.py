"""Says of a large log, without reading the dataset, whether all that a config asks for has been answered.

To read, check and hash 100,000 questions takes longer than all else of a command that finds nothing to do. They are
those of the log's newest run if its config and the dataset's file have not changed; that all of them were answered is
then a matter of counting. Whenever that is not certain the answer is no, and the dataset is read.
"""

from __future__ import annotations

from pathlib import Path

from keval import datasets
from keval.config.model import Config
from keval.ids import JsonObject
from keval.logs import index
from keval.logs.past import Past
from keval.preparation.prepared import Prepared, sha256_of_all
from keval.preparation.request import Request
from keval.preparation.run_events import has_the_same
from keval.processes import environment
from keval.processes.local_files import sha256_of
from keval.projections.sql_file import literal, load


def may_serve(log: Path | None, request: Request) -> bool:
    """Return whether a log is to be asked first: one with an index, which answers in no time."""
    return log is not None and not request.fresh and index.path_of(log).exists()


def is_same(config: Config, past: Past, request: Request) -> bool:
    """Return whether a config asks for what the log's newest run planned, its MCP servers apart."""
    newest = past.newest_run(config.name, mock=request.mock)
    if newest is None or not past.replaces_nothing(config.name, mock=request.mock):
        return False
    if past.skipped or not past.has_plan(newest["plan_id"]):
        return False
    recorded = (newest["config_sha256"], newest["environment"]["keval"])
    if recorded != (config.sha256, environment.keval_version()):
        return False
    return newest["dataset"] is not None and _is_same_dataset(config, newest["dataset"], request.limit)


def _is_same_dataset(config: Config, recorded: JsonObject, limit: int | None) -> bool:
    """Return whether the samples of a run are those of the files as they are now: the first ones of each."""
    try:
        if recorded["sha256"] != sha256_of_all([sha256_of(each.path) for each in config.datasets]):
            return False
        counts = [datasets.count(each.path, each.layout) for each in config.datasets]
    except OSError:
        return False  # what is wrong is said when it is read
    known = [count for count in counts if count is not None]
    limited = known if limit is None else [min(limit, count) for count in known]
    return len(known) == len(counts) and sum(limited) == recorded["samples"]


def is_done(prepared: Prepared, past: Past) -> bool:
    """Return whether all that `is_same` found planned has been answered, by the agent and conditions of now."""
    config, mock = prepared.config, prepared.mock
    newest = past.newest_run(config.name, mock=mock)
    if newest is None or not has_the_same(newest, config, past):
        return False
    ids = sorted({condition.condition_id for condition in config.conditions})
    sql = load(
        "preparation",
        "all_answered",
        run_id=literal(newest["run_id"]),
        plan_id=literal(newest["plan_id"]),
        agent_id=literal(config.agent.agent_id),
        condition_ids=", ".join(map(literal, ids)),
        repetitions=str(config.execution.repetitions),
        tasks=str(newest["dataset"]["samples"] * len(ids) * config.execution.repetitions),
        mock=str(mock),
    )
    return any(past.rows(sql))
