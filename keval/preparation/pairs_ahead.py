"""The pairs that a config's judges have yet to compare: of answers that are there, and of those that are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from keval.config.model import Config, JudgeConfig
from keval.ids import JsonObject
from keval.logs.past import Past
from keval.preparation.chosen import Chosen
from keval.preparation.config_past import ConfigPast
from keval.preparation.jobs import Backlog
from keval.preparation.pairs import baseline_first, baseline_id
from keval.preparation.request import Request
from keval.preparation.tasks import TaskList, grid_of
from keval.preparation.unjudged import Missing, Unjudged
from keval.projections.sql_file import literal, literals, load

THERE, ASKED = 1, 2
"""What is known of a task: it has its answer, it is to be asked."""


def pairs_left(past: Past, config: Config, judges: Sequence[JudgeConfig], request: Request) -> Backlog:
    """Return what judges of pairs have to do in a log whose newest run is the config's."""
    of_pairs = _of_pairs(judges)
    return Backlog(past.log, _missing_left(past, config, of_pairs, request), of_pairs)


def _missing_left(past: Past, config: Config, of_pairs: Sequence[JudgeConfig], request: Request) -> Iterator[Missing]:
    if not of_pairs:
        return iter(())
    responses = load(
        "preparation",
        "pair_responses",
        agent_id=literal(config.agent.agent_id),
        condition_ids=literals(_conditions(config).values()),
        everything=str(request.judge_all),
        mock=str(request.mock),
    )
    unjudged = Unjudged(past, of_pairs, mock=request.mock, configs=[_conditions(config)])
    return unjudged.missing(request.chosen.of_responses(responses))


def pairs_there(
    about: ConfigPast,
    judges: Sequence[JudgeConfig],
    request: Request,
    changing: Sequence[JsonObject],
    *,
    recorded: bool,
) -> Backlog:
    """Return the same before a run is written, of answers that are not asked for again.

    `recorded`: all is as in the log's newest run. Else what counts in the log is what an earlier config planned, and
    the answers to the tasks of this one will. `changing` are the `sample_change` events that the run is about to write.
    """
    of_pairs, prepared = _of_pairs(judges), about.prepared
    if not of_pairs or (recorded and not request.fresh):
        missing = _missing_left(about.past, prepared.config, of_pairs, request)
    else:
        missing = _missing_there(about, of_pairs, request, changing)
    return Backlog(about.past.log, missing, of_pairs, prepared.question_ids, prepared.samples)


def _missing_there(
    about: ConfigPast, of_pairs: Sequence[JudgeConfig], request: Request, changing: Sequence[JsonObject]
) -> Iterator[Missing]:
    responses = about.run_responses(request)
    configs = [_conditions(about.prepared.config)]
    unjudged = Unjudged(about.past, of_pairs, mock=about.mock, changing=changing, configs=configs)
    counts = "position in (select position from answered_tasks)"
    return unjudged.missing(request.chosen.of_responses(responses), counts)


def pairs_of_tasks(
    tasks: TaskList, about: ConfigPast, judges: Sequence[JudgeConfig], chosen: Chosen
) -> Mapping[str, int]:
    """Return how many pairs the answers to tasks will be in, by the id of each judge of pairs.

    The other answer of a pair is there, or asked for too; the baseline's own answer is in no pair that is asked about,
    and neither are answers to a sample that the judge is not asked about.
    """
    of_pairs = _of_pairs(judges)
    if not of_pairs:
        return {}
    config, step = tasks.config, len(tasks.config.conditions)
    there = replace(tasks, numbers=array("Q", about.answered()))
    all_states = _states(tasks, there)
    states = _states(tasks, chosen.of_tasks(there)) if chosen else all_states  # judged are those that are chosen
    places = {condition.condition_id: place for place, condition in enumerate(config.conditions)}
    found = {}
    for judge in of_pairs:
        baseline = places[str(baseline_id(judge, _conditions(config)))]
        compared = all_states[baseline::step]
        others = (states[place::step] for place in range(step) if place != baseline)
        asks = bytes(map(judge.asks_about, tasks.samples)) * config.execution.repetitions
        found[judge.judge_id] = sum(_new_pairs(each, compared, asks) for each in others)
    return found


def judged_anew(pairs: Mapping[str, int], judges: Sequence[JudgeConfig]) -> str:
    """Return that so many pairs, by the id of their judge, are judged anew; it continues a sentence, empty for none."""
    numbers = ((judge.name, judge.judgments_of(pairs.get(judge.judge_id, 0))) for judge in judges)
    named = ", ".join(f"{number:,} by {name}" for name, number in numbers if number)
    return f", and pairs with them judged anew ({named})" if named else ""


def _of_pairs(judges: Iterable[JudgeConfig]) -> list[JudgeConfig]:
    return [judge for judge in judges if judge.judge.unit == "pair"]


def _conditions(config: Config) -> dict[str, str]:
    """Return the ids of a config's conditions by name, the baseline first."""
    ids = {condition.name: condition.condition_id for condition in config.conditions}
    return baseline_first(ids, config.baseline)


def _states(tasks: TaskList, there: TaskList) -> bytes:
    """Return what is known of each task of the config, a byte at its number."""
    grid = grid_of(tasks.config, tasks.samples)
    states = bytearray(grid.conditions * grid.samples * tasks.config.execution.repetitions)
    for numbers, state in ((there.numbers, THERE), (tasks.numbers, ASKED)):
        for number in numbers:
            states[number] |= state
    return bytes(states)


def _new_pairs(states: bytes, compared: bytes, asks: bytes) -> int:
    """Return how many pairs there will be, of samples that a judge is asked about, with an answer that is asked for."""
    pairs = zip(states, compared, asks, strict=True)
    return sum(1 for this, other, is_asked in pairs if is_asked and this and other and (this | other) & ASKED)
