"""Properties of the line that says what makes the conclusions of a report doubtful."""

from __future__ import annotations

from keval.reports.metric_tables import metric_tables
from keval.reports.number_warnings import small_numbers
from keval.reports.read_with_care import read_with_care
from tests.reports import Scores, compared, table


def test_what_makes_it_doubtful_stands_in_one_line() -> None:
    """Few samples, no repetition, no second judgment, and how much was not scored."""
    lacking = {"agent_failed": 1, "planned": 18, "sd_within_sample": None, "n_judgments": 17, "n_responses": 17}
    scores: Scores = {"baseline": lacking, "with_docs": {"sd_within_sample": None}}
    tables = [table(compared("higher", (0.5, 0.1, 0.9)), scores=scores)]
    assert read_with_care(tables, list(small_numbers(tables))) == (
        "Read with care: 6 samples, so intervals are wide. No sample has two scored repetitions: run-to-run variation "
        "is not measured. "
        "One judgment per answer: the judge's own variation is not measured. 1 of 35 not scored, of which the agent "
        "failed 1."
    )
    assert read_with_care(metric_tables([]), []) is None
    other = table(compared("higher", (0.5, 0.1, 0.9)), "clarity", scores={"baseline": {"planned": 18}})
    told = read_with_care([other, *tables], list(small_numbers(tables)))
    assert told is not None
    assert told.endswith(" 1 of 35 not scored on completeness, of which the agent failed 1.")


def test_few_samples_of_one_metric_are_no_few_samples_of_all() -> None:
    """Where another metric has more, the one that has few is named."""
    few = table(compared("higher", (0.5, 0.1, 0.9)))
    more = table(
        compared("higher", (0.5, 0.1, 0.9), n_paired=40), "clarity",
        scores={name: {"n_samples": 40} for name in ("baseline", "with_docs")},
    )  # fmt: skip
    told = str(read_with_care([more, few], list(small_numbers([more, few]))))
    assert told.startswith("Read with care: 6 samples on completeness, so intervals are wide there.")


def test_it_is_said_of_which_conditions_nothing_is_repeated() -> None:
    """Where all samples of another one are repeated, it would be false of all."""
    unrepeated: Scores = {"with_docs": {"sd_within_sample": None}, "baseline": {"sd_within_sample": 0.5}}
    tables = [table(compared("higher", (0.5, 0.1, 0.9)), scores=unrepeated)]
    told = str(read_with_care(tables, list(small_numbers(tables))))
    assert "Of with_docs no sample has two scored repetitions: run-to-run variation is not measured there." in told
    other = table(
        compared("higher", (0.5, 0.1, 0.9)), "clarity", scores=dict.fromkeys(unrepeated, unrepeated["baseline"])
    )
    told = str(read_with_care([other, *tables], list(small_numbers([other, *tables]))))
    assert "On some metrics no sample has two scored repetitions" in told


def test_it_is_said_which_metric_applies_more_often_under_one_condition() -> None:
    """The condition may have chosen the samples that are compared; equal shares and what is untried choose nothing."""

    def told(baseline: tuple[int, int], with_docs: tuple[int, int], untried: str = "") -> str:
        scores: Scores = {
            name: {
                "scored": scored,
                "not_measured": 0,
                "not_done": int(name == untried),
                "other_statistics": {"not_applicable": number},
            }
            for name, (scored, number) in (("baseline", baseline), ("with_docs", with_docs))
        }
        return str(read_with_care([table(compared("higher", (0.5, 0.1, 0.9)), scores=scores)], []))

    assert told((26, 0), (17, 9)) == (
        "Read with care: completeness applies to 26 of 26 tasks of baseline and to 17 of 26 tasks of with_docs: only "
        "samples to which it applies under both are compared."
    )
    silent = [((17, 9), (17, 9)), ((100, 0), (99, 1)), ((40, 20), (40, 0))]
    assert {told(*each) for each in silent} == {"None"}
    assert not any("applies" in told((26, 0), (17, 9), untried) for untried in ("baseline", "with_docs"))


def test_it_is_said_that_only_some_judges_judged_once() -> None:
    """Where another judge's replicates tell how it varies, it would be false of all."""
    once, twice = (
        {name: {"n_judgments": n, "n_responses": 17} for name in ("baseline", "with_docs")} for n in (17, 34)
    )
    found = compared("higher", (0.5, 0.1, 0.9))
    tables = [table(found, scores=once), table(found, judge="other", judge_id="b", scores=twice)]
    told = str(read_with_care(tables, list(small_numbers(tables))))
    assert "Some judges judged each answer once: their own variation is not measured." in told


def test_edited_samples_are_counted() -> None:
    """How many are left out of a comparison of logs is said, and of which judges, if not of all."""
    tables = [table(compared("higher", (0.5, 0.1, 0.9)))]
    for edited, said in (
        ({"": 1}, "1 sample was edited between the logs and is left out."),
        ({"": 2}, "2 samples were edited between the logs and are left out."),
        ({"h": 1}, "1 sample was edited between the logs: scores of h of it are left out."),
        ({"h": 2, "": 0}, "2 samples were edited between the logs: scores of h of them are left out."),
    ):
        assert read_with_care(tables, [], edited) == f"Read with care: {said}"


def test_few_clusters_make_intervals_doubtful() -> None:
    """However many samples there are; where there is no interval, nothing is said of it."""
    care = "Fewer than 10 clusters, so intervals are unreliable."
    in_clusters = {name: {"other_statistics": {"n_clusters": 8}} for name in ("baseline", "with_docs")}
    for samples, lower, said in ((40, 2.0, True), (3, None, False)):
        scores = {name: {**each, "n_samples": samples, "ci_lower": lower} for name, each in in_clusters.items()}
        tables = [table(compared("higher", (0.5, 0.1, 0.9), n_paired=samples), scores=scores)]
        assert (care in str(read_with_care(tables, list(small_numbers(tables))))) == said
