"""Properties of plans of runs that stop when decided: drawn from the pilot, in samples and in dollars."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keval import projections
from keval.cli import run as keval
from keval.config.until_section import Given
from keval.ids import JsonObject
from keval.planning.pilots import pilots
from keval.planning.plan import plan
from keval.planning.planned_stops import PlannedStop, pilot_differences, planned_stops
from keval.stats.next_spend import UnitCosts
from keval.stats.power import Aim
from keval.stats.stopping_forecast import forecast
from keval.stats.stopping_rule import Compared, StoppingRule
from tests.builders import write_log
from tests.stopping_runs import Drawn, run, write_evaluation


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    """Return the log of a pilot of 40 samples, whose answers cost a cent."""
    config, log = write_evaluation(tmp_path, 40, concurrent=20), tmp_path / "log.jsonl"
    run(config, log, Drawn(config, {"plain": 0.4, "other": 0.7}), Given())
    return log


def stops(log: Path, difference: float, samples: int | None) -> list[PlannedStop]:
    """Return what runs would come to."""
    with projections.connect([log]) as connection:
        (found,) = pilots(connection, UnitCosts(None, None))
        return list(planned_stops(plan(found, Aim(difference)), pilot_differences(connection), samples).stops)


@pytest.mark.slow
def test_a_large_difference_saves_money_and_a_small_one_does_not(pilot: Path) -> None:
    """Most of what a complete run costs is saved where the difference is large, next to nothing where it is small."""
    large, of_pilot = stops(pilot, 0.5, 80)
    small, _ = stops(pilot, 0.05, 80)
    assert large.samples is not None
    assert small.samples is not None
    assert large.samples < 60
    assert small.samples > 70
    assert large.found == 1
    assert large.complete_usd == pytest.approx(1.6)
    assert large.cost_usd == pytest.approx(0.02 * large.samples)
    assert of_pilot.difference == pytest.approx(0.225)


@pytest.mark.slow
def test_one_of_several_comparisons_is_drawn_with_all_of_alpha_for_all(pilot: Path) -> None:
    """The rule divides alpha itself: what the plan has divided already is put together again."""
    with projections.connect([pilot]) as connection:
        (found,) = pilots(connection, UnitCosts(None, None))
        differences = pilot_differences(connection)
        (large, _) = planned_stops(plan(found, Aim(0.4).shared(3)), differences, 80).stops
    (of_pilot,) = differences.values()
    drawn = forecast(of_pilot.values, 0.4, StoppingRule(3, alpha=0.05), Compared(of_pilot.reach, 80))
    assert drawn is not None
    assert large.samples == drawn.samples


@pytest.mark.slow
def test_no_run_is_drawn_beyond_the_pilot(pilot: Path) -> None:
    """A difference larger than any of the pilot's samples is not known of, and that is no number."""
    (beyond, _) = stops(pilot, 1.5, 100)
    assert (beyond.samples, beyond.cost_usd) == (None, None)


@pytest.mark.slow
def test_the_command_says_it_for_people_and_programs(pilot: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Both ways are compared on one line; JSON has the same."""
    assert keval(["plan", str(pilot), "--difference", "0.2", "--until", "decided"]) == 0
    text = capfd.readouterr().out
    assert "until decided  if the difference is +0.20: " in text
    assert " samples on average, $" in text
    assert keval(["plan", str(pilot), "--difference", "0.2", "--until", "decided", "-f", "json"]) == 0
    [found] = json.loads(capfd.readouterr().out)["plans"]
    assert [each["difference"] for each in found["until_decided"]] == [0.2, pytest.approx(0.225)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("section", "reason"),
    [({"failures": "exclude"}, "failures are excluded"), ({"dataset": {"cluster_key": "book"}}, "a cluster_key")],
)
def test_nothing_is_drawn_of_what_no_run_stops_at(
    pilot: Path, section: JsonObject, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """`keval run` refuses the same configs."""
    lines = [json.loads(line) for line in pilot.read_text().splitlines()]
    for event in lines:
        if event["type"] == "run":
            event["config"] |= section
    write_log(pilot, lines)
    assert keval(["plan", str(pilot), "--difference", "0.2", "--until", "decided", "--samples", "80"]) == 0
    text = capfd.readouterr().out
    assert "until decided  not known: no run stops at it: " in text
    assert reason in text
    assert keval(["plan", str(pilot), "--difference", "0.2", "--until", "decided", "-f", "json"]) == 0
    [found] = json.loads(capfd.readouterr().out)["plans"]
    assert (found["until_decided"], reason in found["why_until_unknown"]) == ([], True)
