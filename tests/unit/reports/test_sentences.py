"""Each conclusion has its sentence, which can be read aloud and says no more than was found."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from keval.reports.metric_tables import Difference, MetricTable
from keval.reports.sentences import HOW_MANY, HOW_MANY_IN_ONE_LOG, headlines
from keval.stats.reasons import NOTHING_SCORED
from keval.stats.stopped_run import DESCRIPTIVE
from tests.reports import Scores, compared, difference, score, table


def said(found: Difference, scores: Scores | None = None, **changes: Any) -> str:  # noqa: ANN401 - any field
    """Return the headline of one difference on one metric."""
    (headline,) = headlines([table(found, scores=scores, **changes)])
    return headline.text


COUNTS = {"wins": 6, "ties": 0, "losses": 0}


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            compared("higher", (3.611, 2.97, 4.25), **COUNTS),
            (
                "with_docs scored higher than baseline on completeness: +3.61 [+2.97, +4.25] on a scale of 1 to 5. "
                "6 samples: better on 6, equal on 0, worse on 0."
            ),
        ),
        (
            compared("lower", (-0.5, -0.9, -0.1), wins=1, ties=2, losses=3),
            (
                "with_docs scored lower than baseline on completeness: −0.50 [−0.90, −0.10] on a scale of 1 to 5. "
                "6 samples: better on 1, equal on 2, worse on 3."
            ),
        ),
        (
            compared("higher", (0.5, 0.1, 0.9), qualification="not after adjusting for 6 comparisons", **COUNTS),
            (
                "with_docs scored higher than baseline on completeness: +0.50 [+0.10, +0.90] on a scale of 1 to 5, "
                "not after adjusting for 6 comparisons. 6 samples: better on 6, equal on 0, worse on 0."
            ),
        ),
        (
            compared("no difference shown", (0.12, -0.20, 0.44)),
            (
                "No difference shown between with_docs and baseline on completeness: +0.12 [−0.20, +0.44]. "
                "The data fit anything in that range; this does not say they are equal. "
                "keval plan LOG --difference D says how many samples would settle it."
            ),
        ),
        (
            compared("no difference within margin", (0.04, -0.11, 0.19), other_statistics={"margin": 0.3}),
            "No difference within ±0.30 between with_docs and baseline on completeness: +0.04 [−0.11, +0.19].",
        ),
        (
            compared("higher", (0.12, 0.05, 0.19), other_statistics={"margin": 0.3, "p_equivalent": 0.01}),
            (
                "with_docs scored higher than baseline on completeness, by less than the ±0.30 that you declared to "
                "matter: +0.12 [+0.05, +0.19]."
            ),
        ),
        (
            compared("borderline", (0.375, 0.117, 0.633), other_statistics={"p": 0.06}),
            (
                "Borderline on completeness: +0.38 [+0.12, +0.63], but the exact test gives p = 0.06. "
                "Treat it as not shown."
            ),
        ),
        (
            compared("borderline", (0.4, -0.01, 0.8), other_statistics={"p": 0.00001, "p_draws": 100_000}),
            (
                "Borderline on completeness: +0.40 [−0.01, +0.80], though the sign-flip test gives p < 0.0001. "
                "Treat it as not shown."
            ),
        ),
        (
            compared("cannot tell", (1.0, None, None), n_paired=7, other_statistics={"p": 2**-6}),
            (
                "Cannot tell: too much was not measured, and it could turn the result round (completeness +1.00). "
                "keval run CONFIG asks again."
            ),
        ),
        (
            compared("higher", (1.0, None, None), n_paired=8, other_statistics={"p": None}),
            "with_docs scored higher than baseline on completeness: +1.00 on each of 8 samples on a scale of 1 to 5.",
        ),
        (
            compared("borderline", (0.4, -0.01, 0.8), other_statistics={"p": 0.0}),
            (
                "Borderline on completeness: +0.40 [−0.01, +0.80], though the exact test gives p < 0.0001. "
                "Treat it as not shown."
            ),
        ),
        (
            compared("cannot tell", (3.6, None, None), n_paired=4),
            (
                "Cannot tell: 4 samples are too few for an interval. "
                "The means of completeness are 3.50 and 3.50, each of 6 samples."
            ),
        ),
        (
            compared("cannot tell", (0.0, None, None)),
            (
                "No sample differs between with_docs and baseline on completeness (6 samples); "
                "there is no interval to give."
            ),
        ),
        (
            compared("cannot tell", (1.0, None, None), n_paired=5, other_statistics={"p": 0.0625}),
            (
                "Cannot tell: all 5 samples differ by +1.00 on completeness, which is too few to rule out chance; "
                "the exact test gives p = 0.062."
            ),
        ),
        (
            compared(
                "cannot tell",
                (1.0, None, None),
                n_paired=30,
                other_statistics={"p": 0.0625, "n_clusters": 5, "se_clustered": 0.0},
            ),
            (
                "Cannot tell: all 30 samples differ by +1.00 on completeness, and 5 clusters are too few to rule out "
                "chance; the exact test gives p = 0.062."
            ),
        ),
        (
            compared("higher", (1.0, None, None), n_paired=8, other_statistics={"p": 2**-7}),
            (
                "with_docs scored higher than baseline on completeness: +1.00 on each of 8 samples on a scale of 1 "
                "to 5; the exact test gives p = 0.0078."
            ),
        ),
        (
            compared("cannot tell", (None, None, None), n_paired=0, reasons={"conclusion": "nothing in common"}),
            "Cannot tell: nothing in common (completeness).",
        ),
    ],
    ids=lambda value: value.conclusion if isinstance(value, Difference) else "",
)
def test_each_case_has_its_sentence(found: Difference, sentence: str) -> None:
    """The words of the design, with its minus sign, two decimals and a sign on every difference."""
    assert said(found) == sentence


def test_nothing_asks_again_for_answers_that_were_imported() -> None:
    """There is no config to run: the sentence ends with what is known."""
    found = compared("cannot tell", (0.4, 0.1, 0.7))
    missing = {"planned": 300, "scored": 260, "not_measured": 40, "failed": {"imported": 40}}
    assert said(found, {"with_docs": missing}, can_be_asked_again=False).endswith(
        "(completeness +0.40 [+0.10, +0.70])."
    )


def test_nothing_asks_again_for_what_a_metric_is_computed_from() -> None:
    """An answer whose tokens nobody told is an answer; what failed or was not judged is asked for again."""
    found = compared("cannot tell", (0.4, 0.1, 0.7))
    untold = {"planned": 90, "scored": 57, "agent_failed": 3, "not_measured": 30, "failed": {"timeout": 3}}
    assert said(found, {"with_docs": untold}, computed="combined").endswith(
        "(completeness +0.40 [+0.10, +0.70]). It is computed from what is not known of those answers, for which "
        "nothing asks again."
    )
    for more in ({"failed": {"judge_error": 1}}, {"not_done": 1}, {"not_done": None}):
        assert said(found, {"with_docs": untold | more}, computed="combined").endswith(" keval run CONFIG asks again.")


def test_too_much_missing_says_what_and_why() -> None:
    """How much was not measured, of which kinds, and what asks again; the agent's own failures are no such kind."""
    missing = {
        "planned": 300, "scored": 260, "agent_failed": 4, "not_measured": 36,
        "failed": {"mcp_not_ready": 36, "timeout": 4},
    }  # fmt: skip
    assert said(compared("cannot tell", (0.4, 0.1, 0.7)), {"with_docs": missing}) == (
        "Cannot tell: 12 % of with_docs (mcp_not_ready 36) was not measured, and it could turn the result round "
        "(completeness +0.40 [+0.10, +0.70]). keval run CONFIG asks again."
    )
    little = {"planned": 400, "scored": 399, "not_measured": 1, "failed": {"judge_invalid": 1}}
    assert "less than 1 % of baseline (judge_invalid 1) and 12 % of with_docs (" in said(
        compared("cannot tell", (0.4, 0.1, 0.7)), {"baseline": little, "with_docs": missing}
    )
    # Where nothing was shown there is no result to be turned round.
    assert "was not measured, and it could show a difference (completeness +0.40 [−0.10, +0.90])" in said(
        compared("cannot tell", (0.4, -0.1, 0.9)), {"with_docs": missing}
    )


def test_what_a_judge_lacks_that_no_config_names_is_asked_with_that_judge() -> None:
    """`keval run` asks only the judges of its config."""
    missing = {"planned": 300, "scored": 260, "not_measured": 40, "failed": {}}
    assert said(compared("cannot tell", (0.4, 0.1, 0.7)), {"with_docs": missing}, is_of_config=False).endswith(
        " keval run CONFIG and then keval judge LOG -j JUDGE.yaml ask again."
    )


def test_nothing_scored_says_why() -> None:
    """A condition that failed as a whole is no condition that scored badly."""
    none = {"scored": 0, "not_measured": 36, "failed": {"mcp_not_ready": 36}}
    found = compared("cannot tell", (None, None, None), n_paired=0)
    assert said(found, {"with_docs": none}) == "Nothing of with_docs was scored: mcp_not_ready 36. See its failures."
    assert said(found, {"with_docs": none, "baseline": none}).endswith(
        " See its failures. Nothing of baseline is scored either."
    )
    assert said(found, {"baseline": {"scored": 0, "not_done": None}}) == "Nothing of baseline is scored yet."


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ({"not_applicable": 8, "not_sampled": 0}, "no metric applies to its answers."),
        ({"not_applicable": 0, "not_sampled": 8}, "its answers are in no judge's share."),
        ({"not_applicable": 4, "not_sampled": 4}, "no metric applies to its answers, or they are in no judge's share."),
        ({}, "no metric applies to its answers, or they are in no judge's share."),
    ],
)
def test_where_nothing_is_to_be_scored_it_says_what_is_counted(counts: dict[str, float], why: str) -> None:
    """That a judge found nothing that its metric applies to is not that there is no judge."""
    found = compared("cannot tell", (None, None, None), n_paired=0)
    none = {"scored": 0, "not_done": 0, "other_statistics": counts}
    assert said(found, {"baseline": none}) == f"Nothing of baseline is to be scored: {why}"


def test_where_nothing_was_scored_nothing_is_called_missing() -> None:
    """All was measured, as failures that count as the worst score: to ask again is no way out."""
    found = compared("cannot tell", (0.33, -5.31, 5.98), reasons={"conclusion": NOTHING_SCORED})
    told = said(found, {"with_docs": {"scored": 0, "agent_failed": 6, "failed": {"mcp_failed": 6}}})
    assert told.endswith(f"Cannot tell: {NOTHING_SCORED} (completeness +0.33 [−5.31, +5.98]).")


def test_failures_that_count_as_the_worst_score_are_compared() -> None:
    """The headline says the same as the table, and that no answer of the condition is in it."""
    none = {"scored": 0, "agent_failed": 6, "failed": {"timeout": 6}}
    found = compared("lower", (-2.5, -3, -2), wins=0, ties=0, losses=6)
    why = "Nothing of with_docs was scored: timeout 6; failures of the agent count as the worst score. "
    assert said(found, {"with_docs": none}) == why + said(found)
    both = said(found, {"with_docs": none, "baseline": none})
    assert both == f"{why}Nothing of baseline is scored either. {said(found)}"
    assert said(found, {"with_docs": none | {"not_done": 2}}).startswith("Nothing of with_docs is scored yet: timeout")
    of_some = none | {"agent_failed": 2, "failed": {"timeout": 2}}
    counts = {"a": of_some, "b": none}  # the judge of the first is for some samples only
    several = headlines([table(found, scores={"with_docs": counts[name]}, metric=name) for name in counts])
    assert [each.text.startswith(why) and each.line == each.text for each in several] == [True]


def test_a_small_scale_has_more_decimals() -> None:
    """A difference of 0.004 on a scale of 0 to 0.1 is not 0.00."""
    assert "+0.004 [−0.001, +0.009]" in said(compared("no difference shown", (0.004, -0.001, 0.009)), min=0, max=0.1)


def three(*conclusions: str, **changes: object) -> list[MetricTable]:
    """Return the tables of three metrics."""
    effect = (0.5, 0.1, 0.9)
    return [
        table(compared(conclusion, effect, **changes), metric)
        for conclusion, metric in zip(conclusions, ("facts", "completeness", "clarity"), strict=True)
    ]


@pytest.mark.parametrize(
    ("conclusions", "sentence"),
    [
        (
            ("higher", "higher", "higher"),
            (
                "with_docs scored higher than baseline on 3 of 3 metrics: facts +0.50 [+0.10, +0.90], "
                "completeness +0.50 [+0.10, +0.90], clarity +0.50 [+0.10, +0.90] on a scale of 1 to 5."
            ),
        ),
        (
            ("no difference shown", "higher", "lower"),
            (
                "Mixed, with_docs compared with baseline: no difference shown on facts; higher on completeness; "
                "lower on clarity."
            ),
        ),
        (
            ("no difference shown",) * 3,
            (
                "No difference shown between with_docs and baseline on 3 of 3 metrics: facts +0.50 [+0.10, +0.90], "
                "completeness +0.50 [+0.10, +0.90], clarity +0.50 [+0.10, +0.90]. This does not say they are equal. "
                "keval plan LOG --difference D says how many samples would settle it."
            ),
        ),
    ],
)
def test_several_metrics_are_named_and_never_averaged(conclusions: tuple[str, ...], sentence: str) -> None:
    """The same conclusion is said once with each difference; otherwise each metric is named with its own."""
    tables = three(*conclusions)
    (headline,) = headlines(tables)
    assert headline.text == sentence
    assert headline.by_metric == tuple(said(each.differences[0], metric=each.metric) for each in tables)


def test_all_metrics_stand_in_one_line_that_can_be_read_aloud() -> None:
    """Each with its difference, interval and conclusion; of one metric the sentence is that line."""
    (headline,) = headlines(three("higher", "higher", "no difference shown"))
    assert headline.line == (
        "with_docs vs baseline: facts +0.50 [+0.10, +0.90] higher · completeness +0.50 [+0.10, +0.90] higher · "
        "clarity +0.50 [+0.10, +0.90] no difference shown"
    )
    (note,) = headline.notes
    assert note == (
        "No difference shown between with_docs and baseline on clarity: +0.50 [+0.10, +0.90]. "
        "The data fit anything in that range; this does not say they are equal. "
        "keval plan LOG --difference D says how many samples would settle it."
    )
    (alone,) = headlines(three("higher", "higher", "higher")[:1])
    assert (alone.line, alone.notes) == (alone.text, ())


def test_of_several_conditions_each_sentence_says_of_which_it_is() -> None:
    """A name of one letter is a part of many words, such as the c of "cannot" and the b of "borderline"."""
    effects: list[Any] = [("b", "borderline", 0.1, 0.4), ("c", "cannot tell", None, None), ("d", "higher", 0.1, 0.5)]
    found = tuple(
        difference(name, conclusion=conclusion, ci_lower=lower, ci_upper=upper, other_statistics={"p": 0.06})
        for name, conclusion, lower, upper in effects
    )
    whole = dataclasses.replace(
        table(found[0]), differences=found, scores=tuple(score(name) for name in ("baseline", "b", "c", "d"))
    )
    assert [each.text.partition(":")[0] for each in headlines([whole])] == [
        "b", "c", "d scored higher than baseline on completeness",
    ]  # fmt: skip


def test_a_reason_that_several_metrics_share_is_told_once() -> None:
    """Too few samples, or too many answers not measured, are the same for all metrics of a judge."""
    few = [table(compared("cannot tell", (1.0, None, None), n_paired=1), metric) for metric in ("facts", "clarity")]
    assert headlines(few)[0].notes == ("Cannot tell on facts, clarity: 1 sample is too few for an interval.",)
    missing = {
        "planned": 300, "scored": 264, "agent_failed": 0, "not_measured": 36, "failed": {"mcp_not_ready": 36},
    }  # fmt: skip
    lacking = [
        table(compared("cannot tell", (0.4, 0.1, 0.7)), metric, scores={"with_docs": missing})
        for metric in ("facts", "clarity")
    ]
    (note,) = headlines(lacking)[0].notes
    assert note == (
        "Cannot tell on facts, clarity: 12 % of with_docs (mcp_not_ready 36) was not measured, and it could turn the "
        "result round. keval run CONFIG asks again."
    )


def test_metrics_that_do_not_decide_when_a_run_stops_stand_in_one_sentence() -> None:
    """Their differences are in the line; of each condition it is said once that they conclude nothing."""
    plain = {"reasons": {"conclusion": DESCRIPTIVE}}
    tables = [
        table(compared("cannot tell", (shown, None, None), **plain), name)
        for name, shown in (("clarity", 0.5), ("tone", 0.25))
    ]
    (found,) = headlines([table(compared("higher", (0.5, 0.2, 0.8))), *tables])
    (note,) = found.notes
    assert note == f"Cannot tell between with_docs and baseline on clarity, tone: {DESCRIPTIVE}."


def test_of_several_metrics_on_which_nothing_can_be_told_each_says_why() -> None:
    """All equal on all of them is one sentence; else every reason is told once, with its metrics."""
    equal = [table(compared("cannot tell", (0.0, None, None)), metric) for metric in ("facts", "clarity")]
    assert headlines(equal)[0].text == (
        "No sample differs between with_docs and baseline on 2 of 2 metrics; there is no interval to give."
    )
    few = [table(compared("cannot tell", (1.0, None, None), n_paired=1), metric) for metric in ("facts", "clarity")]
    assert headlines(few)[0].text == (
        "with_docs compared with baseline: Cannot tell on facts, clarity: 1 sample is too few for an interval."
    )


def test_what_does_not_survive_the_adjustment_is_said_of_those_metrics() -> None:
    """All: once at the end; some: by name."""
    holds_not = "not after adjusting for 3 comparisons"
    (all_of_them,) = headlines(three("higher", "higher", "higher", qualification=holds_not))
    assert all_of_them.text.endswith("on a scale of 1 to 5, not after adjusting for 3 comparisons.")
    some = [*three("higher", "higher", "higher", qualification=holds_not)[:1], *three("higher", "higher", "higher")[1:]]
    assert headlines(some)[0].text.endswith(", not after adjusting for 3 comparisons (facts).")


def test_each_condition_has_its_line_and_says_its_name() -> None:
    """One sentence each in their order, no rank; one that does not name its condition begins with it."""
    plain = difference("plain", conclusion="borderline", other_statistics={"p": 0.06})
    both = table(compared("higher", (0.5, 0.1, 0.9)))
    both = MetricTable(
        judge="rubric", judge_id="judge-id", metric="completeness", min=1, max=5,
        scores=(*both.scores, score("plain")), differences=(*both.differences, plain),
    )  # fmt: skip
    first, second = headlines([both])
    assert first.text.startswith("with_docs scored higher than baseline")
    assert second.text.startswith("plain: Borderline on completeness")


def test_an_unfinished_run_is_told_so_far() -> None:
    """Each sentence of a run that is not done ends with it, but for one that says what is missing."""
    (headline,) = headlines([table(compared("higher", (0.5, 0.1, 0.9)))], is_incomplete=True)
    assert headline.text.endswith(" worse on 0 so far.")
    missing = table(compared("cannot tell", (0.5, 0.1, 0.9)), scores={"baseline": {"not_done": 9}})
    (headline,) = headlines([missing], is_incomplete=True)
    assert headline.text.endswith(" keval run CONFIG asks again.")
    (headline,) = headlines([replace(missing, asks_mock=True)], is_incomplete=True)
    assert headline.text.endswith(" keval run CONFIG --mock asks again.")


def test_two_judges_of_one_metric_are_told_apart() -> None:
    """The judge's name stands beside the metric where the metric alone could mean two."""
    found = compared("higher", (0.5, 0.1, 0.9))
    tables = [table(found, judge="strict", judge_id="a"), table(found, judge="mild", judge_id="b")]
    assert "completeness (strict) +0.50" in headlines(tables)[0].text
    assert "completeness (mild)" in headlines(tables)[0].by_metric[1]


def test_two_versions_of_a_judge_are_told_apart() -> None:
    """By how their ids begin, as in the tables."""
    found = compared("higher", (0.5, 0.1, 0.9))
    (told,) = headlines([table(found, judge_id="a" * 24), table(found, judge_id="b" * 24)])
    assert "completeness (rubric, version aaaaaaaa) +0.50" in told.text
    assert "completeness (rubric, version bbbbbbbb) +0.50" in told.text


def test_what_another_log_would_take_is_planned_in_one() -> None:
    """Of two logs `keval plan` says nothing."""
    (told,) = headlines([table(compared("no difference shown", (0.1, -0.2, 0.4)))], how_many=HOW_MANY_IN_ONE_LOG)
    assert told.text.endswith(HOW_MANY_IN_ONE_LOG)
    assert HOW_MANY not in told.text


def test_a_small_difference_does_not_look_like_none() -> None:
    """What decimals would hide is written with two digits, as in tables; float noise is no difference."""
    assert "+0.0004 [−1.2e−07, +0.50]" in said(compared("no difference shown", (0.0004, -1.23e-7, 0.5)))
    assert "+0.20 [0.00, +0.50]" in said(compared("no difference shown", (0.2, -1e-15, 0.5)))


def test_no_sentence_has_a_word_that_says_too_much() -> None:
    """Winner, significant and their like promise what no comparison holds."""
    (headline,) = headlines(three("higher", "borderline", "no difference shown"))
    texts = " ".join((headline.text, headline.line, *headline.by_metric, *headline.notes))
    assert not {"winner", "significant", "proves", "improved", "statistically", "best"} & {*texts.lower().split()}


def test_means_of_the_samples_that_are_compared_need_no_number() -> None:
    """Where a condition has other samples than the pairs, its mean is of those, and says so."""
    found = compared("cannot tell", (3.6, None, None), n_paired=4)
    scores = {name: {"mean": mean, "n_samples": 4} for name, mean in (("baseline", 1.0), ("with_docs", 4.6))}
    assert said(found, scores=scores).endswith("The means of completeness are 1.00 and 4.60.")
    scores["with_docs"]["n_samples"] = 9
    assert said(found, scores=scores).endswith("The means of completeness are 1.00 and 4.60, of 4 and 9 samples.")


@pytest.mark.parametrize(
    ("smallest", "more"), [(None, ""), (2**-5, ""), (2**-4, ", where 0.062 is the smallest it can give")]
)
def test_a_p_that_cannot_be_small_says_so(smallest: float | None, more: str) -> None:
    """Of five samples or fewer the test shows nothing, however they differ."""
    found = compared("borderline", (0.4, 0.1, 0.8), other_statistics={"p": 0.07, "p_smallest": smallest})
    assert f"but the exact test gives p = 0.07{more}. Treat it as not shown." in said(found)


def test_one_of_several_metrics_without_an_interval_says_why() -> None:
    """Its difference stands in the line without one, which must not look like certainty."""
    plain, alike, _ = three("higher", "higher", "higher")
    (found,) = alike.differences
    alike = dataclasses.replace(alike, differences=(dataclasses.replace(found, ci_lower=None, ci_upper=None),))
    (headline,) = headlines([plain, alike])
    assert headline.notes == (
        "with_docs scored higher than baseline on completeness: +0.50 on each of 6 samples on a scale of 1 to 5.",
    )
