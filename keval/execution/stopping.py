"""A run that stops when it is decided: what it may ask, what the log holds of it already, and what it writes down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from keval.errors import UsageError, Warn
from keval.events import EncodedEvent, event
from keval.execution.budget import Ledger
from keval.execution.finished_samples import Decided, FinishedSamples, TaskPlace
from keval.execution.sample_feed import SampleFeed
from keval.execution.session import OnWritten, Session
from keval.failure_kinds import AGENT_FAILED, GATES
from keval.ids import JsonObject, digest
from keval.logs.costs import Cost, MeasuredCosts
from keval.logs.past import Past
from keval.preparation.config_past import ConfigPast
from keval.preparation.prepared import Prepared
from keval.preparation.request import Request
from keval.preparation.stopping_family import as_recorded, recorded_rule
from keval.preparation.tasks import TaskList, by_sample, drawn_order, grid_of
from keval.projections.sql_file import load
from keval.stats.recorded_rule import RecordedRule, changed, from_json, look_fields

Why = Literal["decided", "dataset", "budget", "interrupted"]


def refuse_without_judges(request: Request, past: Past, config_name: str) -> None:
    """Raise UsageError where responses are to be generated alone: what nobody judges is never decided."""
    if request.until is not None:
        raise UsageError(
            "until: only `keval run` stops when decided, as it judges meanwhile; leave `until` out, or use it"
        )
    if past.stopping_rule(config_name, mock=request.mock) is not None:
        raise UsageError(f"{past.log}: its runs stop when decided, which `keval run` does; -o LOG begins another log")


@dataclass
class Stopping:
    """What one command knows of the stopping rule."""

    prepared: Prepared
    """With its samples in the order in which they are asked."""
    rule: RecordedRule
    is_new: bool
    """Whether the log lacks the rule."""
    finished: FinishedSamples
    tasks: TaskList
    """Those that remain, were nothing decided."""
    failed_before: int
    ended: JsonObject | None
    """What the log says of how the last such run ended."""
    decided_before: Sequence[Decided] = ()
    """What the log's answers decide, whether or not it says so."""
    said: Mapping[str, JsonObject] = field(default_factory=dict)
    """The events that the log has of what is decided, by their ids: a crash may have come before one of them."""
    costs: MeasuredCosts = field(default_factory=MeasuredCosts)
    """What answers and judgments cost before this command."""
    feed: SampleFeed | None = None

    @property
    def must_end(self) -> bool:
        """Whether nothing is left to ask, and the log does not say so: a crash came between."""
        return (self.finished.is_decided or self.finished.is_complete) and self.ended is None

    @property
    def is_stopped(self) -> bool:
        """Whether all was decided before the dataset's end."""
        return self.finished.is_decided and not self.finished.is_complete

    @property
    def remaining(self) -> TaskList:
        """The tasks that may be asked."""
        is_over = self.finished.is_decided or self.finished.is_complete
        return replace(self.tasks, numbers=self.tasks.numbers[:0]) if is_over else self.tasks

    def record(self, run_id: str) -> Iterator[JsonObject]:
        """Yield the event of the rule, if the log lacks it, and those of what its answers decide."""
        if self.is_new:
            yield event(
                "until_rule",
                digest("until_rule", self.prepared.mock, self.prepared.plan_id, self.rule.rule_id),
                run_id,
                config_name=self.prepared.config.name,
                plan_id=self.prepared.plan_id,
                rule_id=self.rule.rule_id,
                mock=self.prepared.mock,
                rule=self.rule.as_json(),
            )
        yield from self._unsaid(self.decided_before, run_id)

    def begin(self, session: Session) -> SampleFeed:
        """Return what hands out the tasks of a session."""
        self.feed = SampleFeed(self.remaining, self.finished, session.execution.max_concurrent, session.stops.enough)
        return self.feed

    def noting(self, session: Session) -> OnWritten:
        """Return who takes note of what came of a task or a judging, and writes down what that decides."""

        def note(encoded: EncodedEvent) -> Awaitable[None] | None:
            before = self.finished.n
            self.finished.note(encoded.event)
            found = self.finished.advance()
            if self.feed is not None and self.finished.n > before:
                self.feed.moved()
            return self._write(found, session) if found else None

        return note

    async def end(self, session: Session, warn: Warn) -> None:
        """Write down how a session ended, and say it."""
        why = self._why(session)
        warn(self._told(why, session.ledger))
        run_id = session.run_id
        await session.sink.append(
            event(
                "until_end",
                digest("until_end", self.prepared.mock, self.prepared.plan_id, self.rule.rule_id, run_id),
                run_id,
                **self._of_rule(),
                why=why,
                n=self.finished.n,
                samples=self.rule.samples,
                asked=self.finished.asked,
                comparisons=[look_fields(*each, self.rule.samples) for each in self.finished.looks()],
            )
        )

    def told_again(self) -> str:
        """Return the sentence for the user where an earlier command ended the run: decided, unless it asked all."""
        asked_all = self.ended is not None and self.ended["why"] == "dataset"
        return self._told("dataset" if asked_all else "decided")

    def _why(self, session: Session) -> Why:
        if self.finished.is_complete:
            return "dataset"
        if self.finished.is_decided:
            return "decided"
        return "budget" if session.ledger.refused else "interrupted"

    async def _write(self, found: Sequence[Decided], session: Session) -> None:
        for told in self._unsaid(found, session.run_id):
            await session.sink.append(told)

    def _unsaid(self, found: Sequence[Decided], run_id: str) -> Iterator[JsonObject]:
        """Yield an event for each decision that the log does not have as it is."""
        for member, look in found:
            names = (self.prepared.mock, self.prepared.plan_id, self.rule.rule_id, member.key)
            target = digest("until_decided", *names)
            fields = self._of_rule() | look_fields(member, look, self.rule.samples)
            before = self.said.get(target, {})
            if any(before.get(name) != value for name, value in fields.items()):
                yield event("until_decided", target, run_id, **fields)

    def _of_rule(self) -> JsonObject:
        return {"plan_id": self.prepared.plan_id, "rule_id": self.rule.rule_id, "mock": self.prepared.mock}

    def _told(self, why: Why, ledger: Ledger | None = None) -> str:
        """Return the sentence for the user: why nothing more is asked, and what that saves."""
        n, samples = self.finished.n, self.rule.samples
        if why == "decided":
            left = len(self.tasks) - (self.feed.taken.total() if self.feed else 0)
            saved_usd = sum(self._saved_usd(ledger))
            usd = f", which saved about ${saved_usd:.2f}" if saved_usd > 0 else ""
            not_asked = (
                f"{left:,} of {self._planned:,} answers were not asked for{usd}" if left else "nothing is left to ask"
            )
            return f"stopped after {n:,} of {samples:,} samples: decided; {not_asked}"
        if why == "dataset":
            return f"all {samples:,} samples were asked; the report says what they decide"
        return f"{n:,} of {samples:,} samples are finished; the same command goes on"

    def _saved_usd(self, ledger: Ledger | None) -> Iterator[float]:
        """Yield about what is saved of each condition: what its answers not asked for would cost, as those before did.

        Of what this command asked, and of what the log knew of earlier ones. Judging costs the same for all.
        """
        config, planned = self.prepared.config, self.tasks.by_condition()
        taken = Counter[str]() if self.feed is None else self.feed.taken
        ids = [condition.condition_id for condition in config.conditions]
        before = {each: self.costs.of_answers(config.agent.agent_id, each) or Cost() for each in ids}
        judged = sum((self.costs.of_judgments(judge.judge_id) or Cost()).total_usd for judge in config.judges)
        answers = {each: taken[each] + before[each].number for each in ids}
        asked_usd = {each: 0.0 if ledger is None else ledger.spent_on_usd.get(each, 0.0) for each in ids}
        judged += 0.0 if ledger is None else ledger.spent_usd - sum(asked_usd.values())
        for condition in config.conditions:
            name, each = condition.name, condition.condition_id
            if answers[each]:
                each_usd = (asked_usd[each] + before[each].total_usd) / answers[each] + judged / sum(answers.values())
                yield (planned.get(name, 0) - taken[each]) * each_usd

    @property
    def _planned(self) -> int:
        config = self.prepared.config
        return self.rule.samples * len(config.conditions) * config.execution.repetitions


def both(one: Awaitable[None] | None, other: Awaitable[None] | None) -> Awaitable[None] | None:
    """Return what waits for one and then for the other, or for the one that there is."""
    if one is None or other is None:
        return one or other

    async def in_turn() -> None:
        await one
        await other

    return in_turn()


def stopping(prepared: Prepared, past: Past, request: Request, warn: Warn) -> Stopping | None:
    """Return how a run that generates and judges is to stop, None if it asks all and the log knows no rule.

    Raises UsageError for what no rule can be made for, and for another rule than the log has.
    """
    config = prepared.config
    known = past.stopping_rule(config.name, mock=request.mock)
    if known is None and (request.until is None or request.complete):
        return None
    prepared = replace(prepared, samples=drawn_order(prepared.samples, config.execution.seed))
    before = None if known is None else known["rule"]
    until = request.until if request.until and not request.complete else as_recorded(from_json(before or {}))
    rule = recorded_rule(config, prepared.samples, until)
    _check_request(request)
    if known is not None:
        _check_same(known, rule.as_json(), prepared.plan_id, past)
    about = ConfigPast.about(past, prepared)
    final = {*GATES, *AGENT_FAILED}
    skipped, failed = about.skipped(retry_failed=request.retry_failed, final=final)
    if known is None and "1" in skipped:
        raise UsageError(
            f"{past.log}: holds answers of this config that were not asked to stop when decided; -o LOG begins another "
            "log, and --until complete goes on with this one"
        )
    if request.complete:
        warn(f"{past.log}: its runs stop when decided; this one goes on to the end, and is read by the same rule")
    tasks = by_sample(config, prepared.samples, skipped)
    finished = FinishedSamples(rule, config, prepared.samples, goes_on=request.complete)
    _replay(about, finished, tasks)
    decided_before = finished.advance()
    return Stopping(
        prepared=prepared, rule=rule, is_new=known is None, finished=finished, tasks=tasks,
        failed_before=failed, ended=None if known is None else past.newest_end(known),
        decided_before=decided_before, said=past.decided(), costs=past.costs(),
    )  # fmt: skip


def _check_request(request: Request) -> None:
    """Raise UsageError for parts of the tasks: only what is asked in the drawn order says what the rule says."""
    if request.chosen:
        raise UsageError("until: --sample, --condition and --shard choose, and a stopping rule needs all in its order")
    if request.fresh:
        raise UsageError("until: --fresh asks again for what was looked at; -o LOG begins another log")


def _check_same(known: JsonObject, now: JsonObject, plan: str, past: Past) -> None:
    """Raise UsageError for another rule than the log has, and for other questions than it was made for."""
    before = known["rule"]
    differing = changed(before, now)
    if known["plan_id"] != plan and "the number of samples" not in differing:
        differing.append("the questions, or their order")
    if not differing:
        return
    margins = sorted({each["margin"] for each in before["family"] if each["margin"] is not None})
    at = "".join(f" at margin {margin:g}," for margin in margins[:1])
    raise UsageError(
        f"{past.log}: its runs were begun to stop{at} at alpha {before['alpha']:g}, after {before['samples']:,} "
        f"samples at most; what is asked now is not the same in: {', '.join(differing)}. A rule that changes on the "
        "way says nothing: -o LOG begins another log"
    )


def _replay(about: ConfigPast, finished: FinishedSamples, tasks: TaskList) -> None:
    """Tell the finished samples what the log holds of them; failures that are tried again are none yet."""
    config, samples = about.prepared.config, about.prepared.samples
    again, grid = set(tasks.numbers), grid_of(config, samples)
    sql = load(
        "execution",
        "until_events",
        responses=about.tasks_of("response", mock=about.mock),
        failures=about.tasks_of("failure", mock=about.mock),
        mock=str(about.mock),
    )
    for event_type, number, response_id, kind, judge_id, replicate, scores in about.past.rows(sql):
        if number in again:
            continue
        if event_type != "judgment":
            cell = grid.cell(number)
            sample_id, condition = str(samples[cell.sample]["id"]), config.conditions[cell.condition]
            finished.open(TaskPlace(cell.sample, sample_id, condition.condition_id, cell.before + 1), response_id)
        finished.note(
            {
                "type": event_type, "id": response_id, "response_id": response_id, "stage": "generate", "kind": kind,
                "judge_id": judge_id, "replicate": replicate,
                "scores": scores or {},
            }
        )  # fmt: skip
