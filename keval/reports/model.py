"""Holds the content of a report: what `compose` makes and every export reads.

A report is content without form: plain immutable dataclasses that every export reads. Unknown is
None, never 0, and a reason stands beside it. All text may come from an agent, a judge or a server:
whoever renders it must not let it act (escape codes, markup, formulas).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keval.reports.changed_scores import ChangedScores
from keval.reports.details import Details
from keval.reports.groups import GroupedMetric
from keval.reports.metric_tables import MetricTable
from keval.reports.sentences import Headline

BANNER = "MOCK: the model was a stand-in; these numbers say nothing about a real model."


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """Something to know before trusting a number; `code` is stable, for programs."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """The agent as the newest run configured it."""

    name: str
    type: str
    model: str | None


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """A judge whose scores are in the report."""

    name: str
    type: str
    model: str | None
    """The model, or the names of several in one text."""
    judge_id: str
    models: tuple[str, ...] = ()
    """Each model that it asks; none for a program."""
    calibration: str | None = None
    """What people said of its verdicts, or that nobody did; None for a program, which is right or wrong by itself."""


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """The dataset of the newest run."""

    path: str
    samples: int
    sha256: str


@dataclass(frozen=True, slots=True)
class LogSource:
    """Where the numbers of one log come from, of several that are compared."""

    log: str
    agent: AgentInfo | None
    dataset: DatasetInfo | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class ReportedServer:
    """What an MCP server said of itself before the newest run."""

    name: str
    """Its name in the config."""
    server_name: str | None
    version: str | None
    tools: tuple[str, ...] | None
    error: str | None
    """Why it could not be asked, or does not offer what it must."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """Events of one type that somebody took back for one reason."""

    type: str
    events: int
    reason: str | None
    author: str | None


@dataclass(frozen=True, slots=True)
class Header:
    """Where the numbers come from."""

    name: str | None
    version: str | None
    agent: AgentInfo | None
    models: tuple[str, ...]
    """The models that really answered, as the service names them."""
    judges: tuple[JudgeInfo, ...]
    dataset: DatasetInfo | None
    first_time: str | None
    last_time: str | None
    """Time of the first and the last event, RFC 3339, UTC."""
    seed: int | None
    runs: int
    responses: int
    judgments: int
    failures: int
    """Events of each type in the log, older condition versions included."""
    retracted: int = 0
    """Events that somebody took back."""
    files: tuple[str, ...] = ()
    """The logs that were read, by the names they were given."""
    servers: tuple[ReportedServer, ...] = ()
    """The MCP servers of the newest run."""
    logs: tuple[LogSource, ...] = ()
    """Each log of a comparison; `agent`, `dataset` and `seed` are None where these differ."""


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over the items for which the number is known."""

    value: float | None
    """None when it is known for no item."""
    known: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ServerUse:
    """What became of one MCP server over all tasks of a condition, those that failed included."""

    server: str
    tasks: int
    """Responses and failed tasks in which the server was to be there."""
    connected: int | None
    """Of these, those in which it was connected; None if nobody knows of any."""
    responses: int
    """Responses in which the server was there."""
    responses_using: int
    """Of these, responses with at least one call of it."""
    called: int
    failed: int


@dataclass(frozen=True, slots=True)
class ConditionSummary:
    """What one condition did and cost; answers, durations, tokens and calls are those of its responses."""

    name: str
    condition_id: str
    agent_id: str
    planned: int | None
    """Samples x repetitions; None when no run event says so."""
    completed: int
    failed: Mapping[str, int]
    """Tasks whose last attempt failed, by kind of failure."""
    not_done: int | None
    mean_duration_ms: float | None
    median_duration_ms: float | None
    agent_cost_usd: Total
    """All attempts of the agent, failed ones too."""
    agent_cost_per_answer_usd: float | None
    """The mean over responses of known cost."""
    judge_cost_usd: Total
    tokens: Mapping[str, Total]
    """Input, output, cache read and cache creation tokens of the responses."""
    tool_calls: int | None
    """None for an agent that does not report them."""
    tool_calls_failed: int | None
    servers: tuple[ServerUse, ...]
    answers_searched: int
    """Answers whose golden answer is long enough to be looked for in what the tools returned."""
    answers_with_leakage: int
    """Of these, answers of which a tool returned the golden answer word for word."""
    p90_duration_ms: float | None = None
    p99_duration_ms: float | None = None
    """What 90 and 99 of 100 durations are no longer than, interpolated."""

    @property
    def key(self) -> tuple[str, str]:
        """The ids of condition and agent: answers of equal keys may be pooled."""
        return self.condition_id, self.agent_id


@dataclass(frozen=True, slots=True)
class Claim:
    """An unverified claim and the number of answers in which a judge found it."""

    text: str
    answers: int


@dataclass(frozen=True, slots=True)
class ConditionClaims:
    """All unverified claims of one condition, most frequent first."""

    condition: str
    answers_judged: int
    answers_with_claims: int
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one kind in one condition, and of one judge if they are a judge's, with one message as an example."""

    condition: str
    stage: str
    kind: str
    count: int
    example: str
    judge: str | None = None


@dataclass(frozen=True, slots=True)
class HouseScore:
    """One number made of several by weights, of one condition."""

    condition: str
    about: str
    """The judge and metric, or the trials."""
    parts: Mapping[str, float | None]
    """What it is made of, each from 0 to 1; None where it is not known."""
    value: float | None
    """None where a part is not known."""


@dataclass(frozen=True, slots=True)
class HouseScores:
    """House scores by one strategy: rules of thumb from which nothing is concluded."""

    strategy: str
    weights: Mapping[str, float]
    meaning: str
    """What the parts are."""
    scores: tuple[HouseScore, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report says, in the order in which it is to be read."""

    mock: bool
    banner: str | None
    """Stands on top of every format when a mock answered or judged."""
    warnings_first: tuple[ReportWarning, ...]
    """What must be read before any number."""
    headlines: tuple[Headline, ...]
    """What the comparisons show, in sentences."""
    read_with_care: str | None
    """What makes them doubtful, in one line."""
    header: Header
    conditions: tuple[ConditionSummary, ...]
    metrics: tuple[MetricTable, ...]
    changed_scores: tuple[ChangedScores, ...]
    """The samples that are worth reading first."""
    claims: tuple[ConditionClaims, ...]
    failures: tuple[FailureGroup, ...]
    warnings: tuple[ReportWarning, ...]
    retractions: tuple[Retraction, ...]
    """What was taken back, and why."""
    notes: tuple[str, ...]
    """How the numbers are made, and what the input does not hold."""
    groups: tuple[GroupedMetric, ...] = ()
    """The same numbers of groups of samples, where they were asked for."""
    house_scores: HouseScores | None = None
    """Rules of thumb, where they were asked for."""
    details: Details | None = None
    """Single samples, answers and the config, for a format that shows them; None for all others."""
