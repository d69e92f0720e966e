"""Properties of the plots: each mark is a number of the report, which stands beside it."""

from __future__ import annotations

import dataclasses

from keval.exports import _plots
from keval.reports.details import SampleDifferences
from keval.reports.metric_tables import MetricTable
from tests.reports import difference, sample_values, score, small_details, small_report

(TABLE,) = small_report().metrics


def table(**changes: object) -> MetricTable:
    """Return the metric of the small report with other numbers."""
    return dataclasses.replace(TABLE, **changes)  # type: ignore[arg-type]  # each test names its fields


def test_a_difference_stands_where_its_number_says() -> None:
    """The axis is symmetric about 0 and reaches a quarter of the scale at least; the words are the numbers."""
    (panel,) = _plots.differences([TABLE])
    (strip,) = panel.strips
    assert [tick.text for tick in panel.ticks] == ["-1.00 lower", "baseline", "higher +1.00"]
    assert (strip.mark, strip.line) == (68.75, (56.25, 81.25))
    assert (strip.words, strip.conclusion, strip.side) == ("+0.38 [+0.12, +0.62]", "higher", "better")


def test_an_interval_that_is_not_known_is_told() -> None:
    """A lone mark never looks like certainty."""
    alone = difference("with_docs", ci_lower=None, ci_upper=None, reasons={"ci_lower": "fewer than 5 samples"})
    (panel,) = _plots.differences([table(differences=(alone,))])
    assert panel.strips[0].line is None
    assert panel.strips[0].words == "+0.38 no interval: fewer than 5 samples"


def test_a_declared_margin_is_a_band() -> None:
    """Differences within it do not matter to who declared it."""
    found = difference("with_docs", other_statistics={"margin": 0.5})
    assert _plots.differences([table(differences=(found,))])[0].strips[0].band == (25, 75)


def test_several_conditions_have_a_panel_for_each_metric() -> None:
    """Two conditions share one panel of all metrics."""
    several = (difference("with_docs"), difference("other"))
    tables = [table(metric=name, differences=several) for name in ("completeness", "tone")]
    assert [panel.caption for panel in _plots.differences(tables)] == ["completeness", "tone"]
    one = [table(metric=name) for name in ("completeness", "tone")]
    assert [panel.caption for panel in _plots.differences(one)] == ["with_docs minus baseline"]


def test_a_mean_stands_on_the_whole_scale() -> None:
    """Each sample's mean is a dot below it; an interval never leaves the scale; the baseline's mark is its own."""
    (panel,) = _plots.means([TABLE], small_details())
    baseline, with_docs = panel.strips
    assert [tick.text for tick in panel.ticks] == ["1", "3", "5"]
    assert (baseline.mark, baseline.is_baseline, [dot.x for dot in baseline.dots]) == (62.5, True, [0, 50])
    assert (with_docs.line, with_docs.words) == ((31.25, 100), "3.88 [2.25, 5.00], n = 6")


def test_nothing_scored_has_no_mark() -> None:
    """What was not measured stands at no score."""
    nothing = score("with_docs", mean=None, ci_lower=None, ci_upper=None, n_samples=0)
    (panel,) = _plots.means([table(scores=(nothing,), differences=())], None)
    assert (panel.strips[0].mark, panel.strips[0].line, panel.strips[0].dots) == (None, None, ())
    assert panel.strips[0].words == "–, n = 0"


def test_each_sample_stands_by_its_difference() -> None:
    """Those that got worse to the left; how many are told, too."""
    (panel,) = _plots.samples_compared([TABLE], small_details())
    (strip,) = panel.strips
    assert [(dot.side, dot.name) for dot in strip.dots] == [("worse", "own-failures -0.75"), ("better", "a +3.50")]
    assert strip.words == "better on 1, equal on 0, worse on 1"


def test_samples_that_are_not_all_known_by_name_are_counted() -> None:
    """All of them, in columns; dots of the named ones alone would look like all there are."""
    values = sample_values({"a": 1.0, "b": 1.0, "c": -2.0}, shown=("a",))
    details = dataclasses.replace(
        small_details(),
        differences=(SampleDifferences("judge-id", "completeness", "with_docs", "baseline", values),),
    )
    ((strip,),) = (panel.strips for panel in _plots.samples_compared([TABLE], details))
    assert (strip.words, strip.dots) == ("better on 2, equal on 0, worse on 1", ())
    assert sum(column.times for column in strip.columns) == 3


def test_scores_are_counted_and_what_has_none_is_told() -> None:
    """An agent's failure is at no score; of many different scores the range stands there."""
    (panel,) = _plots.scores_given([TABLE], small_details())
    assert panel.strips[0].words == "1: 3 · 5: 14 · × agent failed: 1"
    assert [(column.times, column.kind) for column in panel.strips[0].columns] == [
        (3, "scored"), (14, "scored"), (1, "failed")
    ]  # fmt: skip
    assert [tick.text for tick in panel.ticks] == ["1", "3", "5", "×", "○"]
    details = small_details()
    many = dataclasses.replace(details.conditions[0], scores=tuple((1 + place / 10, 1) for place in range(40)))
    (panel,) = _plots.scores_given([TABLE], dataclasses.replace(details, conditions=(many,)))
    assert panel.strips[0].words.startswith("1 to 4.9, median 2.95")


def test_the_bar_of_a_condition_is_what_was_planned() -> None:
    """Metrics with the same counts share one panel; each part that is there is named."""
    some = score("with_docs", scored=10, agent_failed=2, not_measured=3, not_done=5, failed={"timeout": 2})
    tables = [table(metric=name, scores=(some,)) for name in ("completeness", "tone")]
    (panel,) = _plots.completeness(tables)
    assert panel.caption == "all metrics"
    assert [(part.kind, part.width) for part in panel.strips[0].parts] == [
        ("scored", 50), ("failed", 10), ("unmeasured", 15), ("undone", 25)
    ]  # fmt: skip
    assert panel.strips[0].words == (
        "10 of 20 scored · agent failed 2 · not measured 3 · not scored yet 5 · timeout 2"
    )  # fmt: skip


def test_all_metrics_of_one_scale_have_one_axis() -> None:
    """So that what is longer is more, from one panel to the next."""
    wide = difference("with_docs", difference=2.0, ci_lower=1.0, ci_upper=3.0)
    tables = [table(), table(metric="tone", differences=(wide, dataclasses.replace(wide, condition="other")))]
    assert [panel.ticks[2].text for panel in _plots.differences(tables)] == ["higher +3.00"] * 2


def test_what_a_conclusion_is_qualified_by_stands_beside_it() -> None:
    """What does not hold after adjusting is not drawn as if it did."""
    found = difference("with_docs", qualification="not after adjusting for 19 comparisons")
    (panel,) = _plots.differences([table(differences=(found,))])
    assert panel.strips[0].conclusion == "higher, not after adjusting for 19 comparisons"
    assert panel.strips[0].side == "none"


def test_zero_is_no_ones_name_where_rows_have_several_baselines() -> None:
    """A comparison of logs may have a baseline in each."""
    found = (difference("a", baseline="one"), difference("b", baseline="other"))
    (panel,) = _plots.differences([table(differences=found)])
    assert panel.ticks[1].text == "0"
