"""Lays out where a report's numbers come from, and what was taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from keval.counted import counted
from keval.exports._blocks import Cell, Quote, Section, Table
from keval.readable import count, cut
from keval.reports.model import AgentInfo, DatasetInfo, Header, JudgeInfo, LogSource, ReportedServer, Retraction

_NOT_RECORDED = "not recorded in the input"


def source(header: Header) -> Section:
    """Return what was read, who answered and judged, and what is needed to do it again."""
    return Section("Source", (Table((), tuple(_rows(header))),))


def retractions(found: Sequence[Retraction]) -> Section | None:
    """Return what was taken back and why, so that nobody wonders where it is."""
    rows = tuple(
        (counted(each.events, each.type), Quote(cut(each.reason)) if each.reason else "none given", each.author or "")
        for each in found
    )
    return Section("Retracted", (Table(("what", "reason", "by"), rows),)) if rows else None


def _rows(header: Header) -> Iterator[tuple[Cell, ...]]:
    if header.files:
        yield "log" if len(header.files) == 1 else "logs", ", ".join(header.files)
    yield from _of_logs(header, "agent", lambda source: _actor(source.agent) if source.agent else _NOT_RECORDED)
    if header.models:
        yield "models that answered", ", ".join(header.models)
    names = [judge.name for judge in header.judges]
    for judge in header.judges:
        version = f", version {judge.judge_id[:8]}" if names.count(judge.name) > 1 else ""
        calibration = f"; {judge.calibration}" if judge.calibration else ""
        yield "judge", f"{_actor(judge)}{version}{calibration}"
    for server in header.servers:
        yield "MCP server", _server(server)
    yield from _of_logs(header, "dataset", lambda source: _dataset(source.dataset) if source.dataset else _NOT_RECORDED)
    if header.first_time and header.last_time:
        yield "time of the events", f"{header.first_time} to {header.last_time}"
    kinds_of_event = ("run", "response", "judgment", "failure")
    told = [counted(getattr(header, f"{kind}s"), kind) for kind in kinds_of_event]
    if header.retracted:
        told.append(f"{count(header.retracted)} retracted")
    yield "events", ", ".join(told)
    yield from _of_logs(header, "seed", lambda source: _NOT_RECORDED if source.seed is None else str(source.seed))


def _of_logs(header: Header, what: str, show: Callable[[Header | LogSource], str]) -> Iterator[tuple[Cell, ...]]:
    """Yield one line where all logs say the same, else one for each log."""
    if len({show(source) for source in header.logs}) <= 1:
        yield what, show(header.logs[0] if header.logs else header)
        return
    for source in header.logs:
        yield what, f"{source.log}: {show(source)}"


def _actor(actor: AgentInfo | JudgeInfo) -> str:
    kind = actor.name if actor.name == actor.type else f"{actor.name} ({actor.type})"
    if actor.model is None:
        return kind if isinstance(actor, JudgeInfo) else f"{kind}, no model named"
    return f"{kind}, model {actor.model}"


def _dataset(dataset: DatasetInfo) -> str:
    return f"{dataset.path}, {counted(dataset.samples, 'sample')}, sha256 {dataset.sha256[:12]}"


def _server(server: ReportedServer) -> str:
    """Return what a server said of itself, as far as it did."""
    said = " ".join(part for part in (server.server_name, server.version) if part)
    tools = "tools unknown" if server.tools is None else counted(len(server.tools), "tool")
    named = f" ({', '.join(server.tools)})" if server.tools else ""
    return f"{server.name}: {said or 'version unknown'}, {tools}{named}" + (
        f"; when it was asked last: {cut(server.error)}" if server.error else ""
    )
