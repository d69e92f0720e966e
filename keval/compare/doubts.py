"""Says what stands between several logs that are compared: what forbids it, and what else differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from shlex import quote

from keval.compare.side import Side
from keval.errors import InputError
from keval.reports.metric_tables import MetricTable
from keval.reports.model import AgentInfo, Header, JudgeInfo, LogSource, ReportWarning
from keval.reports.number_warnings import SMALL_NUMBERS, small_numbers
from keval.stats.declared import Declared

FAVOURING = {"answered_after_failures"}
"""Warnings of one log that a comparison begins with: a log whose failures were tried again has better means than one
whose failures were not, be the agents the same."""


def _why_without_scores(side: Side) -> str:
    """Return why a log has no scores, and what makes some."""
    if any(condition.completed for condition in side.report.conditions):
        return f"nothing is judged; keval judge {quote(side.label)} -j JUDGE.yaml judges it"
    return f"nothing is answered; keval run CONFIG -o {quote(side.label)} asks for what is missing"


def check_comparable(sides: Sequence[Side]) -> None:
    """Raise InputError where the numbers of two logs do not measure the same, with what would make them do so."""
    mocked = [side.label for side in sides if side.report.mock]
    real = [side.label for side in sides if not side.report.mock]
    if mocked and real:
        raise InputError(
            f"{', '.join(mocked)}: a stand-in answered or judged; {', '.join(real)}: a real model did",
            "a rehearsal is not compared with a run: keval run CONFIG without --mock answers it by the real model",
        )
    first, *others = sides
    for other in others:
        known, found = _judges(first), _judges(other)
        if not known or not found:
            lacking = other if known else first
            raise InputError(f"{lacking.label}: {_why_without_scores(lacking)}")
        if not known & found:
            names = (f"{side.label}: {', '.join(map(_judge, side.report.header.judges))}" for side in (first, other))
            raise InputError(
                f"no judge has scored both logs ({'; '.join(names)})",
                "scores of two judges are not compared; one judge for both: "
                f"keval judge {quote(first.label)} -j JUDGE.yaml && keval judge {quote(other.label)} -j JUDGE.yaml",
            )


def _judges(side: Side) -> set[str]:
    return {table.judge_id for table in side.report.metrics if any(score.n_judgments for score in table.scores)} | {
        table.judge_id for table in side.report.metrics if table.computed is not None
    }


def _judge(judge: JudgeInfo) -> str:
    return f"{judge.name} {judge.judge_id[:8]}" + (f" ({judge.model})" if judge.model else "")


def declared_by_all(sides: Sequence[Side]) -> Declared | None:
    """Return what all logs declare; None where they declare different things."""
    first, *others = (side.declared for side in sides)
    is_same = all((set(other.primary), other.margin) == (set(first.primary), first.margin) for other in others)
    return first if is_same else None


def differing(sides: Sequence[Side], samples: Sequence[str]) -> Iterator[ReportWarning]:
    """Yield what differs between the logs beside what is compared; `samples` says which samples do."""
    for text in samples:
        yield ReportWarning("different_samples", text)
    if declared_by_all(sides) is None:
        yield ReportWarning(
            "different_declarations",
            "the configs declare different primary metrics or margins under `comparison`; neither counts here",
        )
    agents = {side.label: side.report.header.agent for side in sides}
    if len(set(agents.values())) > 1:
        each = (f"{label}: {_agent(agent)}" for label, agent in agents.items())
        yield ReportWarning("different_agents", f"the agents differ ({'; '.join(each)})")
    models = {side.label: side.report.header.models for side in sides}
    if len({frozenset(found) for found in models.values()}) > 1:
        each = (f"{label}: {', '.join(found) or 'unknown'}" for label, found in models.items())
        yield ReportWarning("different_models", f"other models answered ({'; '.join(each)})")
    shared = set.intersection(*map(_judges, sides))
    for side in sides:
        for judge in side.report.header.judges:
            if judge.judge_id not in shared:
                yield ReportWarning(
                    "judge_of_one_log", f"{side.label}: judge {_judge(judge)} has not scored all logs; it is left out"
                )
        for table in side.report.metrics:
            if table.computed is not None and table.judge_id not in shared:
                told = f"{table.metric} is not computed alike in all logs ({table.computed})"
                yield ReportWarning("metric_of_one_log", f"{side.label}: {told}; it is left out")
    yield from _conditions(sides)


def _agent(agent: AgentInfo | None) -> str:
    if agent is None:
        return "unknown"
    return f"{agent.name}, model {agent.model}" if agent.model else agent.name


def _conditions(sides: Sequence[Side]) -> Iterator[ReportWarning]:
    """Yield which conditions of one name are not the same, or were answered by another version of the agent."""
    by_name: dict[str, list[tuple[str, str, str, tuple[str, ...]]]] = {}
    for side in sides:
        for condition in side.report.conditions:
            servers = tuple(sorted(use.server for use in condition.servers))
            known = (side.label, condition.condition_id, condition.agent_id, servers)
            by_name.setdefault(condition.name, []).append(known)
    for name, found in by_name.items():
        if len({servers for *_, servers in found}) > 1:
            each = (f"{label}: {', '.join(servers) or 'none'}" for label, _, _, servers in found)
            yield ReportWarning("different_servers", f"{name}: its MCP servers differ ({'; '.join(each)})")
        elif len({condition_id for _, condition_id, _, _ in found}) > 1:
            yield ReportWarning(
                "different_conditions",
                f"{name}: its prompt, gates, tools, or what its servers turned out to be, is not the same in all logs",
            )
        if len({agent_id for _, _, agent_id, _ in found}) > 1:
            yield ReportWarning("different_agent_versions", f"{name}: answered by agents of different options or files")


def first_of_each(sides: Sequence[Side]) -> Iterator[ReportWarning]:
    """Yield what is to be read first of each log, with its name: also what favours one log over another."""
    for side in sides:
        favoured = [warning for warning in side.report.warnings if warning.code in FAVOURING]
        yield from _named(side, (*side.report.warnings_first, *favoured))


def rest_of_each(sides: Sequence[Side]) -> Iterator[ReportWarning]:
    """Yield all other warnings of each log, with its name; of small numbers those of the comparison speak."""
    told_elsewhere = FAVOURING | SMALL_NUMBERS
    for side in sides:
        yield from _named(side, [warning for warning in side.report.warnings if warning.code not in told_elsewhere])


def _named(side: Side, warnings: Iterable[ReportWarning]) -> Iterator[ReportWarning]:
    for warning in warnings:
        yield replace(warning, text=f"{side.label}: {warning.text}")


def small(sides: Sequence[Side], tables: Sequence[MetricTable]) -> Iterator[ReportWarning]:
    """Yield what is too small of the metrics that are compared: also how few samples two logs have in common."""
    programs = {table.judge_id for table in tables}.difference(*(side.asking_models for side in sides))
    yield from small_numbers(tables, programs)


def header(sides: Sequence[Side]) -> Header:
    """Return where the numbers of all logs come from; what differs is unknown here, and named in a warning."""
    headers = [side.report.header for side in sides]
    agents, datasets = {found.agent for found in headers}, {found.dataset for found in headers}
    seeds = {found.seed for found in headers}
    times = [time for found in headers for time in (found.first_time, found.last_time) if time is not None]
    return Header(
        name=" and ".join(side.label for side in sides),
        version=None,
        agent=agents.pop() if len(agents) == 1 else None,
        models=tuple(dict.fromkeys(model for found in headers for model in found.models)),
        judges=tuple({judge.judge_id: judge for found in headers for judge in found.judges}.values()),
        dataset=datasets.pop() if len(datasets) == 1 else None,
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        seed=seeds.pop() if len(seeds) == 1 else None,
        runs=sum(found.runs for found in headers),
        responses=sum(found.responses for found in headers),
        judgments=sum(found.judgments for found in headers),
        failures=sum(found.failures for found in headers),
        retracted=sum(found.retracted for found in headers),
        files=tuple(dict.fromkeys(file for found in headers for file in found.files)),
        servers=tuple(dict.fromkeys(server for found in headers for server in found.servers)),
        logs=tuple(
            LogSource(side.label, side.report.header.agent, side.report.header.dataset, side.report.header.seed)
            for side in sides
        ),
    )
