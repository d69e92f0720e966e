"""Every Eval Ever: one record per condition, with a file of its answers, for the shared base of evaluation results.

A condition is what the schema calls a model under a generation config: the schema knows neither conditions nor
repetitions, so both stand in `additional_details` and `metadata`, whose values are texts. The schema wants to be told
whether each answer is correct: it is if its score passes, and where a metric has no threshold, if it is the highest.
Source of the schema: evalevalai/every_eval_ever on GitHub, versions 0.2.1 and 0.3.0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal
from uuid import UUID

import orjson

from keval.formats import Format, Source, part_of_path
from keval.formats._eee_instances import instances, result_id
from keval.ids import JsonObject
from keval.plugins import option
from keval.projections import rows
from keval.projections.sql_file import literal, load
from keval.reports.metric_tables import ConditionScore, MetricTable, statistic
from keval.reports.model import AgentInfo, ConditionSummary, JudgeInfo
from keval.reports.sentences import judge_name

UNKNOWN = "unknown"
MOCK = "keval-mock"
"""What answers of the stand-in are told to be by: they say nothing of the model in whose place it stood."""


@dataclass(frozen=True, kw_only=True)
class EveryEvalEver(Format):
    """Writes data/NAME/DEVELOPER/MODEL/UUID.json beside UUID_samples.jsonl, for each condition."""

    schema_version: Literal["0.3.0", "0.2.1"] = field(default="0.3.0", metadata=option("The version of the schema."))
    organization: str = field(default=UNKNOWN, metadata=option("Who publishes the results.", example="Example Inc."))
    relationship: Literal["first_party", "third_party", "collaborative", "other"] = field(
        default="other", metadata=option("What the publisher is to the makers of the model.")
    )

    def write(self, source: Source, folder: Path) -> Iterator[Path]:
        """Write the two files of each condition that has answers."""
        for condition in source.report.conditions:
            if condition.completed:
                yield from self._write(_Condition(source, condition), folder)

    def _write(self, about: _Condition, folder: Path) -> Iterator[Path]:
        place = Path("data", *map(part_of_path, (about.evaluation, about.developer, about.model)))
        samples = place / f"{about.uuid}_samples.jsonl"
        (folder / place).mkdir(parents=True, exist_ok=True)
        rows, sha256 = 0, hashlib.sha256()
        with (folder / samples).open("wb") as file:
            of_models = {judge.judge_id: bool(judge.models) for judge in about.source.report.header.judges}
            for row in instances(about.source.connection, about.summary, self._shared(about), of_models):
                if not self._is_newest:
                    del row["evaluation_result_id"]
                line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
                file.write(line)
                sha256.update(line)
                rows += 1
        record = self._record(about)
        record["detailed_evaluation_results"] = {
            "format": "jsonl", "file_path": samples.as_posix(), "hash_algorithm": "sha256",
            "checksum": sha256.hexdigest(), "total_rows": rows,
        }  # fmt: skip
        path = folder / place / f"{about.uuid}.json"
        path.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        yield folder / samples
        yield path

    @property
    def _is_newest(self) -> bool:
        return self.schema_version == "0.3.0"

    def _shared(self, about: _Condition) -> JsonObject:
        """Return what all rows of a condition's answers have in common."""
        version = self.schema_version if self._is_newest else f"instance_level_eval_{self.schema_version}"
        return {
            "schema_version": version,
            "evaluation_id": about.evaluation_id,
            "model_id": about.model_id,
            "evaluation_name": about.evaluation,
        }

    def _record(self, about: _Condition) -> JsonObject:
        header = about.source.report.header
        return {
            "schema_version": self.schema_version,
            "evaluation_id": about.evaluation_id,
            "evaluation_timestamp": header.first_time,
            "retrieved_timestamp": about.retrieved,
            "source_metadata": {
                "source_name": about.evaluation,
                "source_type": "evaluation_run",
                "source_organization_name": self.organization,
                "evaluator_relationship": self.relationship,
            },
            "eval_library": {"name": "keval", "version": about.source.version},
            "model_info": _model_info(about.model),
            "evaluation_results": [
                self._result(about, table, score)
                for table in about.source.report.metrics
                for score in table.scores
                if (score.condition_id, score.agent_id) == about.summary.key and score.mean is not None
            ],
        }

    def _result(self, about: _Condition, table: MetricTable, score: ConditionScore) -> JsonObject:
        dataset, tables = about.source.report.header.dataset, about.source.report.metrics
        result: JsonObject = {
            "evaluation_name": about.evaluation,
            "source_data": {
                "dataset_name": Path(dataset.path).name if dataset else UNKNOWN,
                "source_type": "other",
                "additional_details": {"sha256": dataset.sha256, "samples": str(dataset.samples)} if dataset else {},
            },
            "metric_config": _metric(table, tables, about.judge(table.judge_id), is_newest=self._is_newest),
            "score_details": {
                "score": score.mean,
                "details": {"scored": str(score.scored), "agent_failed": str(score.agent_failed)},
                "uncertainty": _uncertainty(score),
            },
            "generation_config": {"additional_details": about.details},
        }
        return {"evaluation_result_id": result_id(table.judge_id, table.metric)} | result if self._is_newest else result


@dataclass(frozen=True)
class _Condition:
    """One condition, and how the schema names it."""

    source: Source
    summary: ConditionSummary

    @property
    def evaluation(self) -> str:
        return self.source.report.header.name or UNKNOWN

    @cached_property
    def model(self) -> str:
        """The model that answered, as the service names it, else as the config does; of several the agent's name.

        It is never that of a mock.
        """
        if self.source.report.mock:
            return MOCK
        models = [row["model"] for row in self._ask("answered_by")]
        if len(models) == 1:
            return str(models[0])
        return self.agent.name if models else self.agent.model or self.agent.name

    @cached_property
    def agent(self) -> AgentInfo:
        """The agent as the answers name it: of a run that is not described, or not the newest, the header has none."""
        (row,) = self._ask("answering_agent")
        return AgentInfo(**row["agent"])

    def _ask(self, name: str) -> Iterator[JsonObject]:
        ids = {"condition_id": literal(self.summary.condition_id), "agent_id": literal(self.summary.agent_id)}
        return rows(self.source.connection, load("formats", name, **ids))

    @property
    def developer(self) -> str:
        return _developer(self.model)

    @property
    def model_id(self) -> str:
        return f"{self.developer}/{self.model}"

    @property
    def retrieved(self) -> str:
        """The time of the log's last event, in seconds since 1970: the same log gives the same files."""
        last = self.source.report.header.last_time
        return UNKNOWN if last is None else str(int(datetime.fromisoformat(last).timestamp()))

    @property
    def evaluation_id(self) -> str:
        return f"{self.evaluation}/{self.summary.name}/{self.model_id}/{self.retrieved}"

    @property
    def uuid(self) -> UUID:
        digest = hashlib.sha256("/".join((self.evaluation_id, *self.summary.key)).encode()).digest()
        return UUID(bytes=digest[:16], version=4)

    @property
    def details(self) -> dict[str, str]:
        servers = {each.server for each in self.summary.servers}
        return {
            "condition": self.summary.name,
            "condition_id": self.summary.condition_id,
            "agent_id": self.summary.agent_id,
            "agent_type": self.agent.type,
            "mock": str(self.source.report.mock).lower(),
            **{
                f"mcp_server_{each.name}": f"{each.server_name or UNKNOWN} {each.version or UNKNOWN}"
                for each in self.source.report.header.servers
                if each.name in servers
            },
        }

    def judge(self, judge_id: str) -> JudgeInfo | None:
        return next((each for each in self.source.report.header.judges if each.judge_id == judge_id), None)


def _developer(model: str) -> str:
    return "anthropic" if model.startswith("claude-") else UNKNOWN


def _model_info(model: str) -> JsonObject:
    known = "closed_weights" if _developer(model) == "anthropic" else UNKNOWN
    deployed = "externally_managed" if _developer(model) == "anthropic" else UNKNOWN
    return {
        "name": model,
        "id": f"{_developer(model)}/{model}",
        "developer": _developer(model),
        "additional_details": {"deployment_type": deployed, "model_availability": known},
    }


def _metric_ids(tables: Sequence[MetricTable]) -> dict[tuple[str, str], str]:
    """Return the id of each metric, by those of its judge and its name; of equal ones each has the judge's."""
    plain = [f"keval.{table.judge}.{table.metric}" for table in tables]
    return {
        (table.judge_id, table.metric): name
        if plain.count(name) == 1
        else f"keval.{table.judge}.{table.judge_id}.{table.metric}"
        for table, name in zip(tables, plain, strict=True)
    }


def _metric(
    table: MetricTable, tables: Sequence[MetricTable], judge: JudgeInfo | None, *, is_newest: bool
) -> JsonObject:
    models: Sequence[str] = judge.models if judge else ()
    metric_id = _metric_ids(tables)[table.judge_id, table.metric]
    named: Mapping[str, object] = {"metric_id": metric_id, "metric_name": table.metric}
    return {
        **(named if is_newest else {}),
        "evaluation_description": f"{table.metric}, judged by {judge_name(table, tables)}",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": table.min,
        "max_score": table.max,
        **({"llm_scoring": _scoring(table, models)} if models else {}),
        "additional_details": {"judge_id": table.judge_id},
    }


def _scoring(table: MetricTable, models: Sequence[str]) -> JsonObject:
    return {
        "judges": [{"model_info": _model_info(model)} for model in models],
        "input_prompt": f"in the run event of judge {table.judge_id}",
        **({"aggregation_method": "average"} if len(models) > 1 else {}),
    }


def _uncertainty(score: ConditionScore) -> JsonObject:
    # As the interval: where samples of one cluster differ more than those of several, it rests on that over samples.
    se = max((se for se in (score.se, statistic(score, "se_clustered")) if se is not None), default=None)
    return {
        **({} if se is None else {"standard_error": {"value": se, "method": "analytic"}}),
        **(
            {}
            if score.ci_lower is None or score.ci_upper is None
            else {
                "confidence_interval": {
                    "lower": score.ci_lower, "upper": score.ci_upper,
                    "confidence_level": score.ci_level, "method": score.ci_method,
                }
            }
        ),
        **({} if score.sd_between_samples is None else {"standard_deviation": score.sd_between_samples}),
        "num_samples": score.n_samples,
    }  # fmt: skip
