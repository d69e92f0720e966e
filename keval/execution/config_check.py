"""Looks before a run at everything that a config names, and connects to each MCP server: not a cent is spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keval.config.model import Config
from keval.config.until_section import Until
from keval.errors import EnvironmentLacksError, KevalError, UsageError, Warn
from keval.events import new_run_id
from keval.execution.budget import ledger
from keval.execution.identification import identify, offered
from keval.execution.stopping import stopping
from keval.logs import past
from keval.logs.costs import Spent
from keval.preparation.changes import no_longer_counted
from keval.preparation.config_doubts import config_doubts
from keval.preparation.config_past import ConfigPast, costs_so_far
from keval.preparation.dataset_doubts import doubts
from keval.preparation.estimate import Estimate, estimate
from keval.preparation.jobs import Backlog
from keval.preparation.pairs_ahead import pairs_there
from keval.preparation.prepared import Prepared, check_turns, prepare
from keval.preparation.readiness import (
    check_agent_keys,
    check_files,
    check_fits,
    check_judge_keys,
    check_program,
    check_tool_gates,
)
from keval.preparation.request import Request
from keval.preparation.run_events import is_recorded
from keval.preparation.sample_changes import sample_changes, told_of_samples
from keval.preparation.stopping_family import recorded_rule
from keval.preparation.stopping_remarks import remarks
from keval.preparation.tasks import work_list
from keval.preparation.unjudged import Unjudged
from keval.preparation.work_ahead import generation_ahead, judgments_ahead, nothing_to_generate
from keval.processes.servers import ServerInfo
from keval.projections.sql_file import load
from keval.scheduling import interrupt


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run of a config would meet."""

    prepared: Prepared
    servers: Mapping[str, ServerInfo]
    estimates: tuple[Estimate, ...]
    """What all calls cost, also those that were made already."""
    has_answers: bool
    """Whether the log holds answers, so that some calls may have been made."""
    ahead: tuple[str, ...]
    """What `keval run` would say that it does on the log; nothing where that is not known: see `check`."""
    errors: tuple[KevalError, ...]
    """What a run would fail of, in the order in which it looks: it ends with the first."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, each said once."""
        return tuple(dict.fromkeys(problem for error in self.errors for problem in error.problems))


def check(  # noqa: PLR0913 - each says of something else what the run would be asked
    config: Config,
    log: Path,
    warn: Warn,
    *,
    mock_url: str | None = None,
    skip_invalid: bool = False,
    until: Until | None = None,
) -> Findings:
    """Check a config and all that it names; estimates start from what a log's answers have cost.

    With the address of a mock it is checked for a mock run, which needs no keys; `until` is when a run is to stop.

    Raises InputError, EnvironmentLacksError and UsageError for what makes it impossible to look any further.
    """
    prepared = prepare(config, mock_url=mock_url, warn=warn)
    for told in (
        *config_doubts(prepared),
        *doubts(prepared.samples),
        *(() if until is None else remarks(recorded_rule(config, prepared.samples, until))),
    ):
        warn(told)
    lacking = list(_lacking(prepared))
    refused, servers = interrupt.ask(_asked(prepared, ask_keys=not lacking))
    unreachable = [
        EnvironmentLacksError(f"MCP server {info.name!r}: {info.error}") for info in servers.values() if info.error
    ]
    with past.of_log(log, warn, skip_invalid=skip_invalid) as found:
        identified = identify(prepared, servers, found.newest_run(config.name, mock=mock_url is not None))
        estimates = tuple(estimate(identified, costs_so_far(found, identified), config.judges))
        over = list(_over_budget(estimates, config, found.spent_today(mock=mock_url is not None), warn))
        # Of a run that stops when decided nobody knows how much it asks; a server that is down may be as it was.
        stops = until is not None or found.stopping_rule(config.name, mock=mock_url is not None) is not None
        over += (
            _not_as_begun(identified, found, Request(mock_url=mock_url, until=until))
            if stops and not unreachable
            else ()
        )
        is_known = found.connection is not None and not stops and not unreachable
        ahead = tuple(_ahead(ConfigPast.about(found, identified))) if is_known else ()
        has_answers = any(found.rows(load("execution", "any_response")))
    return Findings(identified, servers, estimates, has_answers, ahead, (*lacking, *refused, *unreachable, *over))


def _over_budget(estimates: Sequence[Estimate], config: Config, today: Spent, warn: Warn) -> Iterator[UsageError]:
    """Yield why a run could not hold its budget; and warn of one that it will reach, or that today has reached."""
    try:
        ledger(estimates, config.execution, today, warn)
    except UsageError as error:
        yield error
    total, budget = sum(item.cost_usd or 0.0 for item in estimates), config.execution.budget_usd
    if budget is not None and total > budget:
        warn(f"budget_usd is ${budget:.2f}, and the estimate of all calls, also those made already, ${total:.2f}")
    daily = config.execution.daily_budget_usd
    if daily is not None and today.usd >= daily:
        warn(f"daily_budget_usd {daily:g} is reached: ${today.usd:.4f} spent today (UTC); nothing will be asked for")
    elif daily is not None and today.usd + total > daily:
        warn(
            f"daily_budget_usd is ${daily:.2f}, of which ${today.usd:.4f} is spent today (UTC), and the estimate of "
            f"all calls, also those made already, ${total:.2f}"
        )


def _not_as_begun(prepared: Prepared, found: past.Past, request: Request) -> Iterator[UsageError]:
    """Yield why a run could not go on with what the log began to stop when decided, or begin it there."""
    try:
        stopping(prepared, found, request, lambda _: None)
    except UsageError as error:
        yield error


def _ahead(about: ConfigPast) -> Iterator[str]:
    """Yield what counts no more, what is asked again for what, and how much is asked for at which cost."""
    config = about.prepared.config
    skipped, failed = about.skipped(retry_failed=True)
    tasks = work_list(config, about.prepared.samples, skipped)
    newest = about.past.newest_run(config.name, mock=about.mock)
    recorded = is_recorded(about)
    gone = None if recorded else no_longer_counted(newest, about)
    if gone is not None:
        yield gone
    yield from generation_ahead(about, tasks, config.judges, failed) if tasks else (nothing_to_generate(failed),)
    changed = list(sample_changes(about, new_run_id()))
    if (corrected := told_of_samples(changed, about.past, config.judges)) is not None:
        yield corrected
    judges = [judge for judge in config.judges if judge.judge.unit == "response"]
    unjudged = Unjudged(about.past, judges, mock=about.mock, changing=changed)
    responses = about.run_responses(Request())
    backlog = Backlog(
        about.past.log, unjudged.missing(responses), judges, about.prepared.question_ids, about.prepared.samples
    )
    pairs = pairs_there(about, config.judges, Request(mock_url=about.prepared.mock_url), changed, recorded=recorded)
    yield from judgments_ahead(about, backlog, pairs)


def _lacking(prepared: Prepared) -> Iterator[KevalError]:
    for look in (
        check_fits,
        check_program,
        check_files,
        check_tool_gates,
        check_turns,
        lambda prepared: prepared.judge_env,
    ):
        try:
            look(prepared)
        except KevalError as error:
            yield error


async def _asked(prepared: Prepared, *, ask_keys: bool) -> tuple[list[KevalError], dict[str, ServerInfo]]:
    """Return the keys that a service refuses and the agent that cannot be reached, and what each server says."""
    refused: list[KevalError] = []
    for look in (check_agent_keys, check_judge_keys) if ask_keys else ():
        try:
            await look(prepared)
        except EnvironmentLacksError as error:
            refused.append(error)
    agent = prepared.config.agent
    if ask_keys and (why := await agent.agent.unreachable()) is not None:
        refused.append(EnvironmentLacksError(f"agent {agent.name}: {why}; is it running, and is its address right?"))
    return refused, await offered(prepared)
