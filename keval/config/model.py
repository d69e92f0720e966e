"""What a config says: the dataset, the agent, the conditions, the judges and how the work is done.

It is kept as written, `${VAR}` included: identities, logs and reports are made from that. Only the
agent and the judges, which are built, hold resolved values. `reader.py` reads one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from keval import ids
from keval.agents import Agent
from keval.config import plugin_options
from keval.datasets import Layout
from keval.documents.mapping import has, way_out
from keval.errors import PluginError
from keval.ids import canonical
from keval.judges import Judge, Metric
from keval.models.prices import Prices
from keval.processes.local_files import LocalFile
from keval.processes.workspace_template import Template
from keval.retry import Retry
from keval.sampling import ALL, Sampling
from keval.secrets.variables import Secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from keval.config.formulas import ComputedMetric
    from keval.ids import JsonObject


LARGEST_SCORE = 1e15
"""The end of the longest scale, in both directions; beyond, sums of squares get lost in rounding."""


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    """Where the samples are, and how the records there become samples."""

    path: Path
    """The file as it can be opened from where the command runs."""
    written: str
    layout: Layout = field(default_factory=Layout)


Keep = Literal["none", "failed", "all"]
"""Which workspaces stay when their task is over."""


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """The folders in which the agent works."""

    template: Template | None = None
    """What each begins with; None: they are empty."""
    keep: Keep = "none"
    keep_in: str | None = None
    """Where those stay that are kept, relative to the config; None: a folder named after the config."""


@dataclass(frozen=True)
class AgentConfig:
    """The agent, and its options as written."""

    name: str
    type: str
    agent: Agent = field(repr=False)
    options: JsonObject
    files: tuple[LocalFile, ...] = ()
    """The local files that the agent's command names."""
    workspace: WorkspaceConfig = field(default_factory=WorkspaceConfig)

    @property
    def model(self) -> str | None:
        """The model as written, else the plug-in's default."""
        model: str | None = self.options.get("model", self.agent.model_name)
        return model

    @cached_property
    def agent_id(self) -> str:
        """The identity of the agent: its type, model, options, local files and what it finds; never its name."""
        options = plugin_options.identity(type(self.agent), self.options)
        template = self.workspace.template
        found = [] if template is None else [f"workspace {template.content}"]
        return ids.agent_id(self.type, self.model, options, [*(file.sha256 for file in self.files), *found])

    def described(self) -> JsonObject:
        """Return the agent's entry in a `run` event."""
        return {
            "name": self.name,
            "type": self.type,
            "model": self.model,
            "agent_id": self.agent_id,
            "options": self.options,
            "files": [file.as_event_field() for file in self.files],
            **({} if self.agent.reports_tool_calls else {"reports_tool_calls": False}),
            **({} if self.workspace.template is None else {"workspace": self.workspace.template.described()}),
        }


@dataclass(frozen=True, slots=True)
class Gates:
    """What an answer has to fulfil beside being there."""

    require_mcp_tool_use: bool = False
    require_mcp_tool_success: bool = False
    retry_gates: bool = False
    """Whether an answer that does not is asked for again."""

    def as_written(self) -> JsonObject:
        """Return the gates as events and identities hold them; what is newer is there only where it is set."""
        required = {
            "require_mcp_tool_use": self.require_mcp_tool_use,
            "require_mcp_tool_success": self.require_mcp_tool_success,
        }
        return required | ({"retry_gates": True} if self.retry_gates else {})


@dataclass(frozen=True)
class Condition:
    """The unit of comparison: a named system prompt plus MCP servers."""

    name: str
    system_prompt: str
    mcp_servers: Mapping[str, JsonObject]
    """The servers' configs as written, by name."""
    gates: Gates
    tools: tuple[str, ...]
    """Built-in tools of the agent, the same in all conditions."""
    servers_found: Mapping[str, JsonObject] = field(default_factory=dict)
    """What each server turned out to be, once it was asked (`identification.identify`)."""

    @cached_property
    def condition_id(self) -> str:
        """The identity of the condition: its content, and what its servers turned out to be; never its name."""
        servers = {name: [written, self.servers_found.get(name)] for name, written in self.mcp_servers.items()}
        return ids.condition_id(self.system_prompt, servers, self.gates.as_written(), self.tools)

    def described(self) -> JsonObject:
        """Return what a `run` event says of the condition, its number of tasks apart."""
        return {
            "condition_id": self.condition_id,
            "system_prompt": self.system_prompt,
            "mcp_servers": list(self.mcp_servers),
            "gates": self.gates.as_written(),
            "tools": list(self.tools),
        }


@dataclass(frozen=True)
class JudgeConfig:
    """A judge, and its parameters as written."""

    name: str
    type: str
    judge: Judge = field(repr=False)
    replicates: int
    parameters: JsonObject
    only_for: JsonObject = field(default_factory=dict)
    """Of the samples that the judge is for: a field's value, or a list of values, by the field; empty: all samples.

    Of a field that is a list each element is a value of it.
    """
    sampling: Sampling = ALL
    """Which tasks it judges; like `replicates` it makes no other judge."""

    def __post_init__(self) -> None:
        """Raise PluginError for a judge whose metrics no event can hold."""
        for metric in self.judge.metrics:
            if not metric.name or not -LARGEST_SCORE <= metric.min < metric.max <= LARGEST_SCORE:
                scale = f"{metric.min!r} to {metric.max!r}"
                raise PluginError(
                    f"judge {self.type}: the metric {metric.name!r} has the scale {scale}; a metric has a name, "
                    f"and a scale from a smaller to a larger number within ±{LARGEST_SCORE:g}"
                )
            if metric.pass_from is not None and not metric.min <= metric.pass_from <= metric.max:
                raise PluginError(
                    f"judge {self.type}: the metric {metric.name!r} passes from {metric.pass_from!r}, which is outside "
                    f"its scale, {metric.min:g} to {metric.max:g}"
                )

    @property
    def model(self) -> str | None:
        """The model as written, else the plug-in's default."""
        model: str | None = self.parameters.get("model", self.judge.model_name)
        return model

    def not_for(self, sample: JsonObject) -> str | None:
        """Return why no metric of the judge applies to a sample, None if the judge is for it."""
        for name, wanted in self.only_for.items():
            there, sought = (value if isinstance(value, list) else [value] for value in (sample.get(name), wanted))
            if not any(_is_same(value, each) for value in there for each in sought):
                return f"the judge is not for this sample: {_found_there(sample, name)}"
        return None

    def asks_about(self, sample: JsonObject) -> bool:
        """Return whether the judge is asked about answers to a sample: if not, its judgments cost nothing."""
        return self.not_for(sample) is None and not self.judge.lacks_golden_answer(self.judge.given(sample))

    def judgments_of(self, tasks: int) -> int:
        """Return how many judgments of so many responses, or pairs of them, are to be expected."""
        return self.sampling.of(tasks) * self.replicates

    @property
    def baseline(self) -> str | None:
        """The condition that a judge of pairs names to compare with."""
        return getattr(self.judge, "baseline", None)

    def unknown_baseline(self, conditions: Iterable[str]) -> str | None:
        """Return what is wrong if the baseline that the judge names is not one of the conditions, else None."""
        there = list(conditions)
        if self.baseline is None or self.baseline in there:
            return None
        return f"judge {self.name}: the baseline {self.baseline!r} is not a condition (there are: {', '.join(there)})"

    @cached_property
    def sample_fields(self) -> tuple[str, ...] | None:
        """The fields of a sample that decide on a judgment: what the judge is given, and what it is chosen by."""
        given = self.judge.sample_fields
        return None if given is None else (*given, *(name for name in self.only_for if name not in given))

    @cached_property
    def judge_id(self) -> str:
        """The identity of the judge: its type, model, options, texts, metrics with their scales, and samples."""
        parameters = {
            "options": plugin_options.identity(type(self.judge), self.parameters),
            "texts": self.judge.texts(),
            "metrics": [_scale(metric) for metric in self.judge.metrics],
            **({"only_for": self.only_for} if self.only_for else {}),
        }
        return ids.judge_id(self.type, self.model, parameters)

    def described(self) -> JsonObject:
        """Return the judge's entry in a `run` event, from which it can be built again."""
        models = list(dict.fromkeys(self.judge.calls))
        return {
            "name": self.name,
            "type": self.type,
            "model": self.model,
            **({"models": models} if len(models) > 1 else {}),
            **({"unit": self.judge.unit} if self.judge.unit == "pair" else {}),
            "judge_id": self.judge_id,
            "replicates": self.replicates,
            **self.sampling.as_event_field(),
            **({"only_for": self.only_for} if self.only_for else {}),
            "parameters": self.parameters,
            "texts": dict(self.judge.texts()),
            "metrics": [_described(metric) for metric in self.judge.metrics],
        }


def _found_there(sample: JsonObject, name: str) -> str:
    """Return what a sample has where a judge wants a field; a name with dots may have been meant as a path."""
    if name in sample:
        return f"its {name} is {canonical(sample[name]).decode()}"
    if not has(sample, name):
        return f"it has no field {name}"
    made, makes_it = way_out(name, sample)
    return f"its {name} stands inside a field, and only_for names a field: {makes_it} in the dataset makes {made} one"


def _is_same(value: object, wanted: object) -> bool:
    """Return whether two JSON values are the same; to Python true is 1."""
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _scale(metric: Metric) -> JsonObject:
    """Return what of a metric changes a judgment, and so is part of the judge's identity."""
    return {"name": metric.name, "min": metric.min, "max": metric.max}


def _described(metric: Metric) -> JsonObject:
    """Return a metric as a `run` event holds it, with what readers want to know of it."""
    return {
        **_scale(metric),
        "type": metric.type,
        "pass_from": metric.pass_from,
        "label": metric.label,
        "description": metric.description,
    }


@dataclass(frozen=True, slots=True)
class Execution:
    """How the work is done; nothing here changes what is measured."""

    repetitions: int = 3
    max_concurrent: int = 5
    timeout_s: float = 600
    idle_timeout_s: float | None = None
    seed: int = 0
    retry: Retry = field(default_factory=Retry)
    budget_usd: float | None = None
    daily_budget_usd: float | None = None


@dataclass(frozen=True, kw_only=True)
class Config:
    """All that a run needs to know."""

    path: Path
    """The absolute path of the file; what it names is relative to its folder."""
    name: str
    version: str
    datasets: tuple[DatasetConfig, ...]
    """One, or several with names."""
    agent: AgentConfig
    mcp_servers: Mapping[str, JsonObject]
    conditions: tuple[Condition, ...]
    judges: tuple[JudgeConfig, ...]
    metrics: tuple[ComputedMetric, ...]
    """Those that are computed from the judges' scores."""
    execution: Execution
    prices: Prices
    """The shipped prices, and those of the config in place of theirs."""
    as_written: JsonObject = field(repr=False)
    sha256: str
    """Hash of the file's bytes, as `sha256sum` prints it."""
    secrets: Secrets
    environ: Mapping[str, str] = field(repr=False)
    """Where variables are looked up."""

    def sampled(self, rate: float | None) -> Config:
        """Return the config with judges that judge this share of all tasks; None leaves each its own."""
        if rate is None:
            return self
        sampling = Sampling(rate, self.execution.seed)
        return replace(self, judges=tuple(replace(judge, sampling=sampling) for judge in self.judges))

    @property
    def baseline(self) -> str:
        """The name of the condition that all others are compared with."""
        return str(self.as_written.get("baseline", self.conditions[0].name))

    @property
    def scales(self) -> list[tuple[str, str, str, float, float]]:
        """Of each metric the judge's name and id, its own name, and its least and greatest score."""
        found = ((judge.name, judge.judge_id, metric) for judge in self.judges for metric in judge.judge.metrics)
        return [(name, judge_id, metric.name, metric.min, metric.max) for name, judge_id, metric in found]

    def missing_variables(self, *sections: str) -> list[str]:
        """Return all variables that the config, or some of its top-level keys, names and that are not set."""
        part = {key: value for key, value in self.as_written.items() if not sections or key in sections}
        return self.secrets.missing(part)
