"""Says, before anything is paid, how many answers are there, how many are asked for, and what that will cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from keval.config.model import JudgeConfig
from keval.counted import counted
from keval.preparation.changes import changes
from keval.preparation.chosen import Chosen
from keval.preparation.config_past import ConfigPast, costs_so_far
from keval.preparation.estimate import Estimate, estimate, estimate_judgments
from keval.preparation.jobs import Backlog
from keval.preparation.pairs_ahead import judged_anew, pairs_of_tasks
from keval.preparation.tasks import TaskList
from keval.projections.sql_file import literal, load

NOTHING_TO_GENERATE = "nothing to generate: every task has its response"
RECORDED_ANEW = "config and dataset are recorded as they are now"

HALF_A_CENT = 0.005
"""A smaller amount would look like nothing, to the cent."""


def generation_ahead(  # noqa: PLR0913 - each decides what is asked for, or what is said of it
    about: ConfigPast,
    tasks: TaskList,
    judges: Sequence[JudgeConfig],
    given_up: int | None,
    *,
    may_stop: bool = False,
    chosen: Chosen | None = None,
) -> Iterator[str]:
    """Yield what is asked again for what, and how many answers are asked for at which cost; as `work_ahead`."""
    chosen = chosen or Chosen()
    newest = about.past.newest_run(about.prepared.config.name, mock=about.mock)
    changed = changes(newest, about, tasks.numbers)
    if changed is not None:
        again = replace(tasks, numbers=changed.numbers)
        anew = pairs_of_tasks(again, about, judges, chosen)
        yield changed.told(f"{judged_anew(anew, judges)}{known_cost(again, about, judges, anew)}")
    pairs = pairs_of_tasks(tasks, about, judges, chosen)
    yield work_ahead(about, tasks, judges, given_up, may_stop=may_stop, pairs=pairs)


def judgments_ahead(about: ConfigPast, *backlogs: Backlog) -> Iterator[str]:
    """Yield how many judgments of answers that are there will be made, by judge, and what they cost, if there are any.

    A mock run costs nothing.
    """
    planned = [f"{number:,} by {name}" for backlog in backlogs for name, number in backlog.planned.items()]
    if planned:
        cost = "" if about.mock else _cost_of_backlogs(about, backlogs)
        yield f"responses of earlier runs lack judgments, which will be made: {', '.join(planned)}{cost}"


def _cost_of_backlogs(about: ConfigPast, backlogs: Sequence[Backlog]) -> str:
    """Return what judgments cost that are missing, or of which judges that is unknown; empty if all are free."""
    so_far, prices = costs_so_far(about.past, about.prepared), about.prepared.config.prices
    items = [
        (item, number)
        for backlog in backlogs
        for place, number in backlog.asked.items()
        for item in estimate_judgments([backlog.judges[place]], 1, prices, so_far)
    ]
    unknown = _unpriced(items)
    return _amount(items, ()) or (f", cost unknown ({', '.join(unknown)})" if unknown else "")


def nothing_to_generate(failed: int) -> str:
    """Return why no answer is asked for; `failed` tasks failed in earlier runs and are not tried again."""
    if not failed:
        return NOTHING_TO_GENERATE
    told = f"{counted(failed, 'task')} failed earlier and will not be tried again; every other has its response"
    return f"nothing to generate: {told}"


def work_ahead(  # noqa: PLR0913 - as `generation_ahead`
    about: ConfigPast,
    tasks: TaskList,
    judges: Sequence[JudgeConfig],
    given_up: int | None,
    *,
    may_stop: bool,
    pairs: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return how many answers are there, how many are asked for, and what that will cost, in one line.

    A mock run costs nothing. `judges` are those that judge the answers, `pairs` how many pairs of these each judge of
    pairs is asked about, by its id.

    `given_up`: how many tasks failed and are not among those that are asked for; None if that is not known.
    `may_stop`: whether the run ends when it is decided, perhaps before all of it.
    """
    agent_id = literal(tasks.config.agent.agent_id)
    failed_tasks = about.tasks_of("failure", mock=about.mock)
    sql = load("preparation", "answers_there", agent_id=agent_id, mock=str(about.mock), failed_tasks=failed_tasks)
    answers, newest, failed = next(about.past.rows(sql), (0, None, 0))
    at_most = "at most " if may_stop else ""
    asked = f"{at_most}{counted(len(tasks), 'answer')}"
    first = ""
    if answers:
        is_there = f"{counted(answers, 'answer')} {'is' if answers == 1 else 'are'} there"
        first = f"{is_there}, the newest of {_minute(newest)}; "
        asked = f"{at_most}{len(tasks):,} more"
    again = 0 if given_up is None else failed - given_up
    tried = f", {'which' if again == len(tasks) else f'{again:,} of which'} failed before," if again > 0 else ""
    return f"{first}{asked}{tried} will be asked for" + ("" if about.mock else _cost(tasks, about, judges, pairs))


def _minute(time: str) -> str:
    """Return an event's time as people write it."""
    return f"{time[:10]} {time[11:16]} UTC"


def known_cost(
    tasks: TaskList,
    about: ConfigPast,
    judges: Sequence[JudgeConfig],
    pairs: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Return what the answers to tasks are estimated to cost, with the judgments of them.

    It continues a sentence. It is empty where nothing costs anything or no price is known, as in a mock run.
    """
    return "" if about.mock else _amount(_items(tasks, about, judges, pairs), judges)


def _cost(tasks: TaskList, about: ConfigPast, judges: Sequence[JudgeConfig], pairs: Mapping[str, int]) -> str:
    """Return the same, and say of what is free or has no known price that it is so."""
    items = _items(tasks, about, judges, pairs)
    if all(item.free for item, _ in items):
        return ", free"
    return _amount(items, judges) or f", cost unknown ({', '.join(_unpriced(items))})"


def _items(
    tasks: TaskList, about: ConfigPast, judges: Sequence[JudgeConfig], pairs: Mapping[str, int]
) -> Sequence[tuple[Estimate, int]]:
    """Return the estimates of what is asked for, each with how many there are of it."""
    numbers = tasks.by_condition()
    so_far = costs_so_far(about.past, about.prepared)
    answers = [(item, numbers.get(item.name, 0)) for item in estimate(about.prepared, so_far, ())]
    judged = (
        (item, item.number)
        for judge in judges
        for number in (pairs.get(judge.judge_id, 0) if judge.judge.unit == "pair" else _asked_about(tasks, judge),)
        for item in estimate_judgments([judge], number, about.prepared.config.prices, so_far)
        if number
    )
    return [*((item, number) for item, number in answers if number), *judged]


def _asked_about(tasks: TaskList, judge: JudgeConfig) -> int:
    """Return about how many of the answers to tasks a judge of single responses is asked."""
    asks = bytes(map(judge.asks_about, tasks.samples))
    return sum(asks[cell.sample] for cell in tasks.cells())


def _unpriced(items: Sequence[tuple[Estimate, int]]) -> Sequence[str]:
    return list(dict.fromkeys(item.name for item, _ in items if item.each_usd is None))


def _amount(items: Sequence[tuple[Estimate, int]], judges: Sequence[JudgeConfig]) -> str:
    """Return the sum of what has a known price, and what has none; empty if nothing of it has one that is not free."""
    unknown = _unpriced(items)
    known = sum((item.each_usd or 0.0) * number for item, number in items)
    if all(item.free for item, _ in items) or (unknown and not known):
        return ""
    without = f"; not counted, as their price is unknown: {', '.join(unknown)}" if unknown else ""
    rough = "" if _is_measured([item for item, _ in items]) else ", a rough guess"
    amount = "< $0.01" if 0 < known < HALF_A_CENT else f"≈ ${known:.2f}"
    return f", {amount}{' with judgments' if judges else ''}{rough}{without}"


def _is_measured(items: Sequence[Estimate]) -> bool:
    return all(item.measured or item.each_usd is None for item in items)
