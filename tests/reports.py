"""Reports for the tests of exports: a small one, and one in which every text is hostile."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, TypeVar

from keval.reports.changed_scores import ChangedScore, ChangedScores
from keval.reports.details import Case, ConditionSamples, Details, SampleDifferences, SampleValues, ShownAnswer
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable
from keval.reports.model import (
    AgentInfo,
    Claim,
    ConditionClaims,
    ConditionSummary,
    DatasetInfo,
    FailureGroup,
    Header,
    JudgeInfo,
    Report,
    ReportedServer,
    ReportWarning,
    Retraction,
    ServerUse,
    Total,
)
from keval.reports.sentences import Headline

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "[bold]loud[/bold] [link=http://evil]x[/link]",
    "a|b||c\\|d",
    "one\ntwo\r\n\n# three",
    "right\u202eot left\u2066",
    "`code` ``more`` ~~gone~~ **strong** _em_ $x$",
    "![i](http://evil/i.png) [l](javascript:alert(1)) https://evil.example www.evil.example @everyone",
    '=HYPERLINK("http://evil")',
    "line\u2028separator \x00 \x85",
)


Part = TypeVar("Part", ConditionScore, Difference, ConditionSummary, Report)


def _changed(part: Part, changes: Mapping[str, Any]) -> Part:
    return dataclasses.replace(part, **changes)


def score(condition: str, **changes: object) -> ConditionScore:
    """Return a score of one condition."""
    return _changed(
        ConditionScore(
            condition=condition,
            condition_id=f"{condition}-id",
            agent_id="agent-id",
            mean=3.5,
            ci_lower=2.25,
            ci_upper=4.75,
            ci_level=0.95,
            ci_method="t",
            n_samples=6,
            n_responses=18,
            n_judgments=17,
            planned=18,
            scored=17,
            agent_failed=1,
            not_measured=0,
            not_done=0,
            failed={"timeout": 1},
            sd_within_sample=0.5,
            sd_between_samples=1.0,
            se=0.4,
            mean_complete_case=3.625,
            mean_lower=3.5,
            mean_upper=3.5,
            reasons={},
        ),
        changes,
    )


def difference(condition: str, **changes: object) -> Difference:
    """Return a difference to the baseline."""
    return _changed(
        Difference(
            baseline="baseline",
            condition=condition,
            difference=0.375,
            ci_lower=0.125,
            ci_upper=0.625,
            ci_level=0.95,
            ci_method="t",
            sd_difference=0.25,
            se=0.1,
            n_paired=6,
            n_dropped=0,
            wins=5,
            ties=1,
            losses=0,
            conclusion="higher",
            qualification=None,
            reasons={},
        ),
        changes,
    )


def summary(condition: str, **changes: object) -> ConditionSummary:
    """Return what one condition did and cost."""
    return _changed(
        ConditionSummary(
            name=condition,
            condition_id=f"{condition}-id",
            agent_id="agent-id",
            planned=18,
            completed=17,
            failed={"timeout": 1},
            not_done=0,
            mean_duration_ms=1250.0,
            median_duration_ms=1000.0,
            p90_duration_ms=2000.0,
            p99_duration_ms=4000.0,
            agent_cost_usd=Total(0.1234, 15, 3),
            agent_cost_per_answer_usd=0.0082,
            judge_cost_usd=Total(0.5, 17, 0),
            tokens={"input_tokens": Total(12345.0, 17, 0)},
            tool_calls=3,
            tool_calls_failed=1,
            servers=(),
            answers_searched=16,
            answers_with_leakage=2,
        ),
        changes,
    )


def small_report(**changes: object) -> Report:
    """Return a report of two conditions and one metric."""
    docs = ServerUse("docs", tasks=18, connected=18, responses=17, responses_using=12, called=3, failed=1)
    report = Report(
        mock=False,
        banner=None,
        warnings_first=(ReportWarning("incomplete", "INCOMPLETE: 2 of 36 planned answers are not done"),),
        headlines=(
            Headline(
                "with_docs",
                "baseline",
                "with_docs scored higher than baseline.",
                ("It did.",),
                "with_docs vs baseline: completeness +0.38 [+0.12, +0.62] higher",
                ("What the line leaves open.",),
            ),
        ),
        read_with_care="Read with care: 6 samples, so intervals are wide.",
        header=Header(
            name="docs-server",
            version="1",
            agent=AgentInfo("claude", "claude", "claude-sonnet-5"),
            models=("claude-sonnet-5-20260901",),
            judges=(JudgeInfo("strict", "rubric", "claude-opus-5", "judge-id"),),
            dataset=DatasetInfo("questions.jsonl", 6, "0123456789abcdef" * 4),
            first_time="2026-11-20T11:00:00.000Z",
            last_time="2026-11-20T11:10:00.000Z",
            seed=0,
            runs=1,
            responses=34,
            judgments=34,
            failures=2,
            retracted=2,
            files=("run.jsonl",),
            servers=(ReportedServer("docs", "docs-server", "1.4", ("search", "read"), None),),
        ),
        conditions=(summary("baseline", tool_calls=0, tool_calls_failed=0), summary("with_docs", servers=(docs,))),
        metrics=(
            MetricTable(
                judge="strict",
                judge_id="judge-id",
                metric="completeness",
                min=1,
                max=5,
                scores=(
                    score("baseline", sd_within_sample=None, reasons={"sd_within_sample": "one repetition"}),
                    score("with_docs", mean=3.875, ci_upper=5.25),
                ),
                differences=(difference("with_docs"),),
            ),
        ),
        changed_scores=(
            ChangedScores(
                "with_docs",
                "baseline",
                (ChangedScore("merge-logs", "strict", "judge-id", "completeness", 3.0, 2.25, -0.75),),
                (ChangedScore("own-failures", "strict", "judge-id", "completeness", 1.0, 4.5, 3.5),),
            ),
        ),
        claims=(
            ConditionClaims("baseline", 17, 0, ()),
            ConditionClaims("with_docs", 17, 2, (Claim("The tower is 330 m high.", 2), Claim("It is red.", 1))),
        ),
        failures=(FailureGroup("with_docs", "generate", "timeout", 1, "no answer: 600 s in all"),),
        warnings=(ReportWarning("few_samples", "fewer than 30 samples: intervals are wide, approximate"),),
        retractions=(Retraction("response", 2, "the key was wrong", "ana"),),
        notes=("A mean is the mean of the samples' means.",),
    )
    return _changed(report, changes)


def hostile_report(text: str) -> Report:
    """Return a report in which every text that comes out of a log is the given one."""
    server = ServerUse(text, tasks=1, connected=1, responses=1, responses_using=1, called=1, failed=0)
    return small_report(
        warnings_first=(ReportWarning("incomplete", text),),
        headlines=(Headline(text, text, text, (text,), text, (text,)),),
        read_with_care=text,
        header=Header(
            name=text,
            version=text,
            agent=AgentInfo(text, text, text),
            models=(text,),
            judges=(JudgeInfo(text, text, text, text),),
            dataset=DatasetInfo(text, 1, text),
            first_time=text,
            last_time=text,
            seed=0,
            runs=1,
            responses=1,
            judgments=1,
            failures=1,
            retracted=1,
            files=(text,),
            servers=(ReportedServer(text, text, text, (text,), text),),
        ),
        conditions=(summary(text, failed={text: 1}, servers=(server,)),),
        metrics=(
            MetricTable(
                judge=text,
                judge_id=text,
                metric=text,
                min=0,
                max=1,
                scores=(score(text, failed={text: 1}, mean=None, reasons={"mean": text}),),
                differences=(difference(text, baseline=text, qualification=text),),
            ),
        ),
        changed_scores=(ChangedScores(text, text, (), (ChangedScore(text, text, text, text, 0, 1, 1),)),),
        claims=(ConditionClaims(text, 1, 1, (Claim(text, 1),)),),
        failures=(FailureGroup(text, text, text, 1, text),),
        warnings=(ReportWarning("other", text),),
        retractions=(Retraction("response", 1, text, text),),
        notes=(text,),
    )


def sample_values(numbers: dict[str, float], shown: Container[str] | None = None) -> SampleValues:
    """Return a number of each of some samples, and the names of those that are shown, by default all."""
    named = sorted(numbers.items(), key=lambda item: (item[1], item[0]))
    values = Counter(number for _, number in named)
    return SampleValues(tuple(values.items()), tuple(each for each in named if shown is None or each[0] in shown))


def small_details(text: str = "own-failures", judge: str = "judge-id", metric: str = "completeness") -> Details:
    """Return the details of the small report, in which every text that comes out of a log is the given one."""
    means = {"baseline": {"a": 1.0, text: 3.0}, "with_docs": {text: 2.25, "a": 4.5}}
    answers = tuple(
        ShownAnswer(name, 1, text, ((text, text), ("Answer", text)), (("Step 1: tool call", text),)) for name in means
    )
    return Details(
        tuple(
            ConditionSamples(judge, metric, f"{name}-id", "agent-id", sample_values(found), ((1.0, 3), (5.0, 14)))
            for name, found in means.items()
        ),
        (SampleDifferences(judge, metric, "with_docs", "baseline", sample_values({text: -0.75, "a": 3.5})),),
        text,
        (("keval", text),),
        tuple(dict.fromkeys((text, "a"))),
        0,
        (Case(text, "with_docs", "baseline", (("Question", text),), answers),),
    )


Scores = dict[str, dict[str, Any]]


def table(found: Difference, metric: str = "completeness", scores: Scores | None = None, **changes: Any) -> MetricTable:  # noqa: ANN401 - any field
    """Return a metric's table of one difference."""
    said = scores or {}
    names = (found.baseline, found.condition)
    made = tuple(score(name, **({"agent_failed": 0, "failed": {}} | said.get(name, {}))) for name in names)
    fixed: dict[str, Any] = {"judge": "rubric", "judge_id": "judge-id", "min": 1, "max": 5}
    return MetricTable(metric=metric, scores=made, differences=(found,), **(fixed | changes))


def compared(conclusion: str, effect: tuple[float | None, float | None, float | None], **changes: Any) -> Difference:  # noqa: ANN401 - any field
    """Return a difference with its interval."""
    found = dict(zip(("difference", "ci_lower", "ci_upper"), effect, strict=True))
    return difference("with_docs", conclusion=conclusion, **found, **changes)
