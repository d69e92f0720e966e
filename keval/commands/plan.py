"""Say how many samples, repetitions and judgments a comparison takes, and what to buy next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from keval.commands.caveats import READ_FOR_SEVERAL, warn_of_several
from keval.commands.messages import say, warn
from keval.commands.newest import chosen
from keval.commands.options import ALLOW_MIXED, EVERYTHING, LOGS, SKIP_INVALID, FiniteRange
from keval.errors import UsageError
from keval.logs.collect import check_not_empty, collected
from keval.stats.next_spend import UnitCosts
from keval.stats.power import Aim, Components

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from keval.exports._planning import Planned
    from keval.planning.pilots import Pilot
    from keval.planning.plan import Plan
    from keval.planning.planned_stops import PilotDifferences, PilotKey, PlannedStops

MONEY = FiniteRange(0, 1_000_000)
VARIANCE = FiniteRange(0, 1_000_000)


@click.command(epilog="Example: keval plan pilot.jsonl --difference 0.3")
@LOGS
@click.option("--difference", type=FiniteRange(1e-6, 1_000), required=True, metavar="SCORE",
              help="The smallest difference that matters, in the metric's units.")  # fmt: skip
@click.option("--power", type=FiniteRange(0.5, 0.999), default=0.8, show_default=True,
              help="How often it is to be found if it is there.")  # fmt: skip
@click.option("--alpha", type=FiniteRange(0.0001, 0.5), default=0.05, show_default=True,
              help="How often a difference may be found that is not there, over all comparisons.")  # fmt: skip
@click.option("--tests", type=click.IntRange(1, 100_000), metavar="M",
              help="Comparisons that share alpha (default: all that are planned).")  # fmt: skip
@click.option("--metric", metavar="[JUDGE/]METRIC", help="Plan for this metric alone (default: the primary ones).")
@click.option("--cost-sample", type=MONEY, default=0.0, metavar="USD", help="What one more question costs to write.")
@click.option("--var-samples", type=VARIANCE, metavar="V", help="Without LOG: the variance of true differences.")
@click.option("--var-responses", type=VARIANCE, metavar="V", help="The variance of repetitions, of both conditions.")
@click.option("--var-judgments", type=VARIANCE, metavar="V", help="The variance of judgments, of both conditions.")
@click.option(
    "--cost-response", type=MONEY, metavar="USD", help="One response of both conditions (default: what LOG paid)."
)
@click.option(
    "--cost-judgment",
    type=MONEY,
    metavar="USD",
    help="One judgment of both responses (default: what LOG paid each judge).",
)
@click.option("--until", type=click.Choice(["decided"]),
              help="Also estimate a run that stops as soon as it is decided.")  # fmt: skip
@click.option("--samples", type=click.IntRange(min=2, max=20_000), metavar="N",
              help="With --until: samples of the complete run (default: as many as are planned).")  # fmt: skip
@click.option("-f", "--format", "written", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="For people or for programs.")  # fmt: skip
@EVERYTHING
@ALLOW_MIXED
@SKIP_INVALID
def command(
    logs: tuple[Path, ...],
    difference: float,
    power: float,
    alpha: float,
    tests: int | None,
    metric: str | None,
    cost_sample: float,
    var_samples: float | None,
    var_responses: float | None,
    var_judgments: float | None,
    cost_response: float | None,
    cost_judgment: float | None,
    until: str | None,
    samples: int | None,
    written: str,
    everything: bool,
    allow_mixed: bool,
    skip_invalid: bool,
) -> None:
    """Say how many samples, repetitions and judgments a comparison takes.

    Reads a log as a pilot, or stdin, or where nothing is piped in the newest log of this folder: what its
    comparisons can find now, what it takes to find the difference that matters, and the cheapest way
    there in dollars. Or plans from given variances, without a log.
    """
    from keval.exports import _planning

    aim = Aim(difference, power, alpha)
    prices = UnitCosts(cost_response, cost_judgment, cost_sample)
    if samples is not None and not until:
        raise UsageError("--samples goes with --until decided")
    if any(variance is not None for variance in (var_samples, var_responses, var_judgments)):
        if until:
            raise UsageError("--until draws runs from a pilot: give it as LOG, in the place of variances")
        if metric is not None:
            raise UsageError("--metric goes with LOG: variances are those of one metric")
        if logs or var_samples is None or var_responses is None:
            raise UsageError("--var-samples and --var-responses go together, and take the place of LOG")
        given = Components(var_samples, var_responses, var_judgments or 0.0)
        made: Planned = _planning.Designs(given, aim.shared(tests or 1), prices)
    else:
        found, differences = _pilots(
            chosen(logs), prices, everything=everything, allow_mixed=allow_mixed, skip_invalid=skip_invalid
        )
        plans = _plans(found, aim, tests, metric)
        made = _planning.Plans(plans, _stops(plans, differences, samples) if until else {})
    if written == "json":
        click.echo(made.as_json())
        return
    for line in made.as_text():
        say(line)


def _pilots(
    logs: Sequence[Path], prices: UnitCosts, *, everything: bool, allow_mixed: bool, skip_invalid: bool
) -> tuple[list[Pilot], Mapping[PilotKey, PilotDifferences]]:
    from keval import projections
    from keval.planning import pilots, planned_stops
    from keval.reports import mixed_answers

    with collected(logs, warn, skip_invalid=skip_invalid) as files:
        check_not_empty(files)
        asked = {*pilots.READ, *planned_stops.READ, *mixed_answers.READ, *READ_FOR_SEVERAL}
        with projections.connect(files, everything=everything, texts=False, tools=False, asked=asked) as connection:
            for sentence in mixed_answers.refuse_mixed(connection, allow=allow_mixed):
                warn(sentence)
            warn_of_several(connection)
            return list(pilots.pilots(connection, prices)), planned_stops.pilot_differences(connection)


def _stops(
    plans: Sequence[Plan], differences: Mapping[PilotKey, PilotDifferences], samples: int | None
) -> Mapping[int, PlannedStops]:
    from keval.planning.planned_stops import planned_stops

    return {place: planned_stops(plan, differences, samples) for place, plan in enumerate(plans)}


def _plans(found: Sequence[Pilot], aim: Aim, tests: int | None, metric: str | None) -> list[Plan]:
    from keval.planning.pilots import named
    from keval.planning.plan import plan
    from keval.reports.chosen_metrics import check_chosen

    primary = [pilot for pilot in found if pilot.is_primary] or found
    meant = primary if metric is None else named(found, metric)
    if found and metric is not None:
        check_chosen([metric], ((pilot.metric, pilot.judge, pilot.judge_id) for pilot in found))
    if not meant:
        raise UsageError("the log compares nothing: a pilot has two conditions, and judgments of their responses")
    shared = aim.shared(tests or len(meant))
    return [plan(pilot, shared) for pilot in meant]
