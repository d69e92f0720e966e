"""Says why a statistic is null, from the row of numbers that it stands in."""

from __future__ import annotations

from keval.ids import JsonObject
from keval.stats.friedman import FEWEST_CONDITIONS
from keval.stats.friedman import FEWEST_SAMPLES as FEWEST_COMPLETE
from keval.stats.intervals import FEWEST_SAMPLES

UNJUDGED = "no judgments"
NO_CLUSTER_KEY = "the config names no cluster_key"
NOTHING_SCORED = "nothing was scored under one of the conditions"
"""Conditions that fail alike score alike, as a failure of the agent counts as the minimum: nothing follows."""
NONE_DIFFERS = "no sample differs"
ALL_ALIKE = "every sample differs by the same amount"

TOO_FEW = f"fewer than {FEWEST_SAMPLES} samples: no interval is shown"


def no_plan(row: JsonObject) -> str:
    """Say why there is no number of planned tasks."""
    if row.get("level") == "group":
        return "no plan says which samples of the group there are"
    return "no run event says what was planned" if row.get("current", True) else "the newest run does not plan it"


def no_score(row: JsonObject) -> str:
    """Say why there is no mean."""
    return "the metric applied to no answer that was judged" if row.get("not_applicable") else UNJUDGED


def nothing_tried(_: JsonObject) -> str:
    """Say why there are no bounds of a mean."""
    return "nothing was planned or tried"


def no_second_sample(row: JsonObject) -> str:
    """Say why there is no spread between samples."""
    return "one sample" if row["n_samples"] else UNJUDGED


def no_second_repetition(row: JsonObject) -> str:
    """Say why there is no spread within samples."""
    return "one repetition" if row["n_samples"] else UNJUDGED


def no_means(row: JsonObject) -> str:
    """Say why a formula has no number of a condition's means."""
    return "one sample" if row["sample_id"] is not None else "a part has no mean, or no tokens are known"


def no_interval(row: JsonObject) -> str:
    """Say why a mean has no interval; means that do not differ do not say how far they could."""
    if row.get("se") is None:
        return no_second_sample(row)
    return TOO_FEW if row["se"] else "all samples have the same mean"


def no_mean_interval(row: JsonObject) -> str:
    """Say why a mean has no interval, as whoever computed it found."""
    return no_second_sample(row) if row["sample_id"] is not None else str(row["interval"].reason)


def no_clusters(row: JsonObject) -> str:
    """Say why there is no standard error of clusters."""
    if row["sample_id"] is not None:
        return "one sample"
    if not row["n_samples"]:
        return UNJUDGED
    return few_clusters(row) if row["has_clusters"] else NO_CLUSTER_KEY


def few_clusters(row: JsonObject) -> str:
    """Say why clusters give no standard error: some samples have none, or all have the same."""
    lacking = row["unclustered"]
    return f"samples without a cluster: {lacking}" if lacking else "one cluster"


def not_repeated(row: JsonObject) -> str:
    """Say why nothing is known of what the same samples would score again."""
    if row["sample_id"] is not None:
        return "one sample"
    return "a sample has one repetition" if row["n_samples"] else UNJUDGED


def no_judgment_component(row: JsonObject) -> str:
    """Say why the judgments of one answer have no variance."""
    if row["sample_id"] is not None:
        return "one sample"
    return "one judgment per answer" if row["n_responses"] else UNJUDGED


def no_response_component(row: JsonObject) -> str:
    """Say why the answers to one sample have no variance of their own."""
    if row["sample_id"] is not None:
        return "one sample"
    if not row["n_responses"]:
        return UNJUDGED
    return "one response per sample" if row["ms_response"] is None else no_judgment_component(row)


def no_joint_component(row: JsonObject) -> str:
    """Say why answers and judgments have no variance together: each has its own, or neither is repeated."""
    if row["sample_id"] is None and row["var_judgment"] is not None:
        return "var_judgment and var_response tell it apart"
    return (
        "one sample" if row["sample_id"] is not None else "one response per sample" if row["n_responses"] else UNJUDGED
    )


def no_sample_component(row: JsonObject) -> str:
    """Say why the samples have no variance of their own."""
    if row["sample_id"] is not None or row["n_samples"] == 1:
        return "one sample"
    if row["ms_response"] is not None:
        return "one sample has a score"
    return "one response per sample" if row["n_responses"] else UNJUDGED


def no_mean_square_of_samples(row: JsonObject) -> str:
    """Say why nothing is known of how much samples differ."""
    few = row["sample_id"] is not None or row["n_responses"]
    return "one sample" if few else UNJUDGED


def no_icc_interval(row: JsonObject) -> str:
    """Say why the share of the questions has no interval."""
    if row["sample_id"] is not None or row["icc_sample"] is None:
        return no_share_of_variance(row)
    if row["var_judgment"] is not None:
        return "answers are judged several times: no formula is known"
    if not row["var_response_and_judgment"]:
        return "nothing varies within samples"
    return "samples have unequal numbers of answers: no formula is known"


def no_share_of_variance(row: JsonObject) -> str:
    """Say why a share of the variance is not defined."""
    if row["sample_id"] is None and row["var_sample"] is not None and row["var_judgment"] is None:
        return "one judgment per answer" if row["icc_sample"] is not None else "all scores are equal"
    return (
        no_sample_component(row)
        if row["sample_id"] is not None or row["var_sample"] is None
        else "all scores are equal"
    )


def no_judgment_interval(row: JsonObject) -> str:
    """Say why the variance of the judgments has no interval."""
    if row["sample_id"] is not None or row["var_judgment"] is None:
        return no_judgment_component(row)
    return "all judgments of an answer are equal"


def no_pass_k(row: JsonObject) -> str:
    """Say why there is no chance to pass k trials."""
    if row["sample_id"] is not None:
        return "one sample"
    return str(row.get("no_pass_k") or "of a group it is not computed")


def not_resampled(row: JsonObject) -> str:
    """Say why there is no interval of the mean by resampling."""
    return "one sample" if row["sample_id"] is not None else str(row["no_bca"])


def no_resampled_samples(row: JsonObject) -> str:
    """Say why the samples' variance has no interval by resampling."""
    return no_sample_component(row) if row.get("var_sample") is None else _no_draws(row)


def no_resampled_answers(row: JsonObject) -> str:
    """Say why the answers' variance has no interval by resampling."""
    return no_response_component(row) if row.get("var_response") is None else _no_draws(row)


def _no_draws(row: JsonObject) -> str:
    return str(row["no_components"] or "some draw does not determine it")


def no_second_pair(row: JsonObject) -> str:
    """Say why there is no difference, or no spread of the differences."""
    return "one paired sample" if row["n_paired"] else "no sample has a value under both conditions"


def no_interval_of_pairs(row: JsonObject) -> str:
    """Say why a difference has no interval."""
    few = row["se"] and row["n_paired"] < FEWEST_SAMPLES
    return TOO_FEW if few else no_t_of_pairs(row)


def no_t_of_pairs(row: JsonObject) -> str:
    """Say why a difference has no standard error that a test could rest on."""
    if row["se"] is None:
        return no_second_pair(row)
    if row.get("n_clusters") is not None and row["se_clustered"] is None:
        return few_clusters(row)
    return ALL_ALIKE if row["difference"] else NONE_DIFFERS


def no_clusters_of_pairs(row: JsonObject) -> str:
    """Say why there is no standard error of clusters of pairs."""
    if row["n_clusters"] is None:
        return NO_CLUSTER_KEY
    return few_clusters(row) if row["n_paired"] else no_pair(row)


def no_flip(row: JsonObject) -> str:
    """Say why no signs were flipped: what a sample without a cluster belongs to is not known."""
    return few_clusters(row) if row["n_paired"] else no_pair(row)


def no_pair(_: JsonObject) -> str:
    """Say why nothing is known of pairs."""
    return "no sample has a value under both conditions"


def no_failure_rates(_: JsonObject) -> str:
    """Say why nothing is known of how often the agent failed under both conditions."""
    return "no sample was answered, or failed by the agent, under both conditions"


def no_failure_flip(row: JsonObject) -> str:
    """Say why no signs of failure rates were flipped: of samples that failed wholly, too, clusters have to be known."""
    return no_failure_rates(row) if row["failure_rate_difference"] is None else "a sample has no cluster"


def no_spread_of_pairs(row: JsonObject) -> str:
    """Say why there is nothing that is measured by the spread of the differences."""
    if row["se"]:
        return "too few paired samples"
    return no_t_of_pairs(row | {"n_clusters": None})  # clusters have no part in it


def nothing_differs(row: JsonObject) -> str:
    """Say why there are no ranks of differences."""
    return NONE_DIFFERS if row["n_paired"] else no_pair(row)


def no_variation(row: JsonObject) -> str:
    """Say why there is no correlation."""
    few = row["n_paired"] < 2  # noqa: PLR2004 - fewer do not vary
    return no_second_pair(row) if few else "a condition has the same mean in all samples"


def nothing_missing(row: JsonObject) -> str:
    """Say why there is no worst case of a difference."""
    return "no answer is missing" if row["n_paired"] else no_pair(row)


def exact(_: JsonObject) -> str:
    """Say why no signs were drawn."""
    return "the test is exact"


def not_primary(row: JsonObject) -> str:
    """Say why a p is not adjusted for others."""
    if row.get("by") is not None and row["p_bh"] is not None:
        return "of a group p_bh is adjusted"
    return "the metric is not primary" if row["can_flip"] else no_flip(row)


def no_friedman(row: JsonObject) -> str:
    """Say why conditions are not tested all at once."""
    found = row["friedman"]
    if row["n_clusters"] is not None:
        return "samples of one cluster are not independent: see p_holm of each comparison"
    if found.conditions < FEWEST_CONDITIONS:
        return f"fewer than {FEWEST_CONDITIONS} conditions have a value"
    if found.samples < FEWEST_COMPLETE:
        return f"fewer than {FEWEST_COMPLETE} samples have a value under all {found.conditions} conditions"
    return "no sample has two different values"


def no_margin(_: JsonObject) -> str:
    """Say why there is no margin."""
    return "the config declares no margin"


def no_margin_test(row: JsonObject) -> str:
    """Say why nothing is known of the margin."""
    return no_margin(row) if row["margin"] is None else no_t_of_pairs(row)
