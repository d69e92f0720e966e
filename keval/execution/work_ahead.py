"""Says, before anything is paid, how many answers are there, how many are asked for, and what that will cost."""

from __future__ import annotations

from collections.abc import Sequence

from keval.config.model import JudgeConfig
from keval.execution.config_past import ConfigPast
from keval.execution.estimate import Item, estimate, estimate_judgments
from keval.execution.tasks import TaskList
from keval.projections.sql_file import literal, load


def work_ahead(about: ConfigPast, tasks: TaskList, judges: Sequence[JudgeConfig]) -> str:
    """Return it in one line; a mock run costs nothing. `judges` are those that judge the answers at once."""
    mock = about.mock
    agent_id = literal(tasks.config.agent.agent_id)
    sql = load("execution", "answers_there", agent_id=agent_id, mock=str(mock))
    answers, newest = next(about.past.rows(sql), (0, None))
    asked = _counted(len(tasks), "answer")
    first = ""
    if answers:
        is_there = "1 answer is there" if answers == 1 else f"{answers:,} answers are there"
        first = f"{is_there}, the newest of {_minute(newest)}; "
        asked = f"{len(tasks):,} more"
    return f"{first}{asked} will be asked for" + ("" if mock else _cost(about, tasks, judges))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _minute(time: str) -> str:
    """Return an event's time as people write it."""
    return f"{time[:10]} {time[11:16]} UTC"


def _cost(about: ConfigPast, tasks: TaskList, judges: Sequence[JudgeConfig]) -> str:
    """Return what that is estimated to cost, with the judgments of it."""
    so_far = about.past.costs()
    numbers = tasks.by_condition()
    answers = [(item, numbers.get(item.name, 0)) for item in estimate(about.prepared, so_far, ())]
    judged = estimate_judgments(judges, len(tasks), tasks.config.prices, so_far)
    items = [*((item, number) for item, number in answers if number), *((item, item.number) for item in judged)]
    if all(item.free for item, _ in items):
        return ", free"
    unknown = dict.fromkeys(item.name for item, _ in items if item.each_usd is None)
    known = sum((item.each_usd or 0.0) * number for item, number in items)
    if unknown and not known:
        return f", cost unknown ({', '.join(unknown)})"
    without = f", without {', '.join(unknown)} (price unknown)" if unknown else ""
    rough = "" if _is_measured([item for item, _ in items]) else ", a rough guess"
    return f", ≈ ${known:.2f}{' with judgments' if judges else ''}{without}{rough}"


def _is_measured(items: Sequence[Item]) -> bool:
    return all(item.measured or item.each_usd is None for item in items)
