from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.stats.next_spend import Design, Inventory, Purchase, UnitCosts, from_nothing, purchases
from keval.stats.power import Aim, Components, power

FOUND = Components(samples=0.4320, responses=3.1352, judgments=1.0620)
NOW = Design(samples=60, repetitions=3, replicates=1)


def bought(found: Components = FOUND, now: Design = NOW, prices: UnitCosts | None = None) -> dict[str, Purchase]:
    """Return the ways to find a difference of 0.3, by name."""
    samples = 2 * now.samples
    there = Inventory(now.samples, {now.repetitions: samples}, {now.replicates: samples * now.repetitions})
    return bought_beside(there, found, prices)


def bought_beside(there: Inventory, found: Components = FOUND, prices: UnitCosts | None = None) -> dict[str, Purchase]:
    """Return the ways beside what is there, by name."""
    return {each.name: each for each in purchases(found, there, Aim(0.3), prices or UnitCosts(0.02, 0.01))}


def test_what_is_there_is_not_paid_for_again() -> None:
    """From 60 to 162 samples with 3 repetitions, both conditions need 2 · 102 · 3 responses, each judged once."""
    more = bought()["more samples"]
    assert more.design == Design(162, 3, 1)
    assert (more.responses, more.judgments) == (612, 612)
    assert more.cost_usd == pytest.approx(306 * 0.03)
    questions = bought(prices=UnitCosts(0.02, 0.01, sample=5))["more samples"]
    assert questions.cost_usd == pytest.approx(306 * 0.03 + 102 * 5)


def test_what_some_samples_lack_is_paid_for() -> None:
    """Of 60 samples under both conditions ten have three repetitions, the others one: 160 responses are there."""
    there = Inventory(60, repetitions={1: 100, 3: 20}, replicates={1: 120, 2: 40})
    more = bought_beside(there)["more samples"]
    assert (more.design.repetitions, more.design.replicates) == (3, 2)
    assert more.responses == 2 * more.design.samples * 3 - 160
    assert more.judgments == 2 * more.design.samples * 3 * 2 - 200
    once = bought_beside(there, Components(0.4, 0.1, 0.1))["cheapest"]
    assert (once.design.repetitions, once.design.replicates) == (1, 1)
    assert (once.responses, once.judgments) == (2 * once.design.samples - 120, 2 * once.design.samples - 120)


def test_where_it_is_enough_that_nothing_is_missing_no_more_is_planned() -> None:
    """All ways are the same one then, and that is what it is called."""
    there = Inventory(200, repetitions={1: 390, 3: 10}, replicates={1: 420})
    found = bought_beside(there)
    assert set(found) == {"what is missing", "cheapest"}
    assert found["what is missing"].design == Design(200, 3, 1)
    assert found["what is missing"].responses == 2 * 200 * 3 - 420


def test_more_of_one_thing_leaves_the_others() -> None:
    """More repetitions or judgments are of the same samples, where any number of them is enough."""
    more = bought()["more repetitions"].design
    assert (more.samples, more.replicates) == (60, 1)
    assert more.repetitions > 3
    assert "more judgments" not in bought()
    judged = bought(Components(0.1, 0.1, 6.0))["more judgments"]
    assert (judged.design.samples, judged.design.repetitions, judged.responses) == (60, 3, 0)


def test_what_was_not_repeated_is_not_planned() -> None:
    """Without a second repetition, or a second judgment, their numbers stay what they are."""
    assert set(bought(Components(0.4, None, None))) == {"more samples", "cheapest"}
    only = bought(Components(0.4, 3.0, None))
    assert {each.design.replicates for each in only.values()} == {1}


def test_questions_that_cost_nothing_come_first() -> None:
    """The cheapest has one repetition then, and more of them when a question costs a hundred responses."""
    few = Design(5, 1, 1)
    assert bought(now=few)["cheapest"].design.repetitions == 1
    assert bought(now=few, prices=UnitCosts(0.02, 0.01, sample=5))["cheapest"].design.repetitions == 10


def test_no_price_is_no_cost() -> None:
    """Where a price is unknown the cost is null, and the cheapest is what takes the fewest calls."""
    for prices in (UnitCosts(None, 0.01), UnitCosts(0.02, None)):
        found = bought(prices=prices)
        assert found["cheapest"].cost_usd is None
        assert found["cheapest"].responses <= found["more samples"].responses


@settings(max_examples=25)
@given(
    samples=st.floats(0, 2), responses=st.floats(0, 4), judgments=st.floats(0, 2), n=st.integers(2, 200),
    repetitions=st.integers(1, 4),
)  # fmt: skip
def test_every_way_reaches_the_aim(
    samples: float, responses: float, judgments: float, n: int, repetitions: int
) -> None:
    """Whatever is bought has the power, takes nothing away, and nothing costs less than the cheapest."""
    found, now = Components(samples, responses, judgments), Design(n, repetitions, 1)
    ways = bought(found, now)
    for way in ways.values():
        variance = found.variance(way.design.repetitions, way.design.replicates)
        assert power(0.3, variance, way.design.samples, 0.05) >= 0.8
        assert way.responses >= 0
        assert way.judgments >= 0
        assert (ways["cheapest"].cost_usd or 0) <= (way.cost_usd or 0) + 1e-9


def test_a_plan_from_nothing_pays_for_all() -> None:
    """The planning table: 406 samples once, or 142 with three repetitions judged three times."""
    found = from_nothing(FOUND, Aim(0.3), UnitCosts(0.02, 0.01), (1, 3), (1, 3))
    assert [each.design for each in found] == [
        Design(406, 1, 1), Design(344, 1, 3), Design(162, 3, 1), Design(142, 3, 3),
    ]  # fmt: skip
    assert (found[0].responses, found[3].judgments) == (812, 2556)
    assert found[0].cost_usd == pytest.approx(406 * 0.03)
