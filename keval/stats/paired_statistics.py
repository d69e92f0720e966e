"""Defines each statistic of a comparison once, as `condition_statistics.py` does those of a condition.

A row of numbers has the columns of the view `comparisons`, and beside them what `comparisons.py` adds: `sign_flip` and
`failures_flip`, the results of the tests of scores and of failures, and whether they may be told, `can_flip`;
`se_tested` and `degrees`, the standard error that interval and t tests rest on; `margin`, `p_holm` and `family_size`;
and `friedman`, if it is asked for, the test of all conditions together.
"""

from __future__ import annotations

from keval.stats import paired, reasons
from keval.stats.friedman import friedman_of
from keval.stats.intervals import interval
from keval.stats.statistic import COMPARISON, Statistic, table

PAIRED = table((
    Statistic(
        name="n_paired", levels=COMPARISON, kind="total", unit="samples", label="paired",
        description="Number of samples measured under both conditions.",
        formula="n, samples with a value under both conditions",
    ),
    Statistic(
        name="n_dropped", levels=COMPARISON, kind="total", unit="samples", label="paired",
        description="Number of samples measured under one of them only, which are left out.",
        formula="samples with a value under one of them only",
    ),
    Statistic(
        name="difference", levels=COMPARISON, kind="beyond_scale", unit="score", label="difference",
        description="Mean over paired samples of condition minus baseline; null if undefined.",
        formula="d̄, the mean of the d_i",
        why_null=reasons.no_second_pair, null_when="no sample has a value under both conditions",
    ),
    Statistic(
        name="sd_difference", levels=COMPARISON, kind="spread", unit="score",
        label="SD of the differences", shown=False,
        description="Standard deviation of the paired differences; null if undefined.",
        formula="s_d = √( Σ (d_i − d̄)² / (n − 1) )",
        why_null=reasons.no_second_pair, null_when="there are fewer than 2 paired samples",
    ),
    Statistic(
        name="se", levels=COMPARISON, kind="spread", unit="score", label="standard error", shown=False,
        description="Standard error of difference; null if undefined.",
        formula="SE = s_d / √n (paired: Miller 2024, arXiv 2411.00640, section 4.2)",
        why_null=reasons.no_second_pair, null_when="there are fewer than 2 paired samples",
    ),
    Statistic(
        name="n_clusters", levels=COMPARISON, kind="total_or_null", unit="clusters", label="clusters", required=False,
        shown=False,
        description="Number of clusters of the paired samples; null if the config names no cluster_key.",
        formula="G, samples of one value of the dataset's `cluster_key` being one cluster",
        why_null=reasons.no_clusters_of_pairs, null_when="the config names no `cluster_key`",
    ),
    Statistic(
        name="se_clustered", levels=COMPARISON, kind="spread", unit="score", label="SE by clusters", required=False,
        shown=False,
        description="Standard error of difference over clusters of samples; null if undefined.",
        formula="SE_c = √( G/(G − 1) · Σ_g D_g² ) / n, D_g = Σ_{i∈g} (d_i − d̄) (CR1: Cameron and Miller 2015)",
        why_null=reasons.no_clusters_of_pairs,
        null_when="the config names no `cluster_key`, a sample has no cluster, or there are fewer than 2 clusters",
    ),
    Statistic(
        name="wins", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which the condition is better than the baseline.",
        formula="samples on which the condition is better",
    ),
    Statistic(
        name="ties", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which both are equal.",
        formula="samples on which both are equal",
    ),
    Statistic(
        name="losses", levels=COMPARISON, kind="total", unit="samples", label="win / tie / loss",
        description="Number of paired samples in which the condition is worse than the baseline.",
        formula="samples on which the condition is worse",
    ),
    Statistic(
        name="ci_lower", levels=COMPARISON, kind="beyond_scale", unit="score", label="95 % CI",
        description="Lower end of the confidence interval; null if undefined.",
        formula="d̄ − t · SE with n − 1 degrees of freedom (Student 1908); with a `cluster_key` SE is, here and in "
        "all tests, the larger one of SE and SE_c, with G − 1 degrees of freedom",
        why_null=reasons.no_interval_of_pairs,
        null_when="there are fewer than 5 paired samples, all differences are equal, or a `cluster_key` gives no SE_c",
        compute=lambda row: interval(row["difference"], row["se_tested"], row["n_paired"], row["degrees"])[0],
    ),
    Statistic(
        name="ci_upper", levels=COMPARISON, kind="beyond_scale", unit="score", label="95 % CI",
        description="Upper end of the confidence interval; null if undefined.",
        formula="d̄ + t · SE",
        why_null=reasons.no_interval_of_pairs, null_when="as `ci_lower`",
        compute=lambda row: interval(row["difference"], row["se_tested"], row["n_paired"], row["degrees"])[1],
    ),
    *(
        Statistic(
            name=f"difference_{end}", levels=COMPARISON, kind="beyond_scale", unit="score",
            label="worst and best case", required=False, shown=False,
            description=f"The mean difference if what is missing of the condition had scored the {own}, and of the "
            f"baseline the {other}; null if nothing is missing.",
            formula="d̄ over the samples that are, or could be, a number under both (Manski 2003)",
            why_null=reasons.nothing_missing,
            null_when="all answers were measured, or no sample could be a number under both",
        )
        for end, own, other in (("lower", "minimum", "maximum"), ("upper", "maximum", "minimum"))
    ),
    Statistic(
        name="p", levels=COMPARISON, kind="share_or_null", unit="p", label="p", required=False,
        description="The two-sided p of the sign-flip permutation test of difference; null if undefined.",
        formula="share of all 2^m ways to give the m differences other than 0 a sign whose mean is as far from 0 as d̄ "
        "(Fisher 1935); for m > 20 of drawn ones, as (b + 1) / (B + 1) (Phipson and Smyth 2010); with a `cluster_key` "
        "the differences of a cluster are one, their sum",
        why_null=reasons.no_flip, null_when="no sample has a value under both conditions, or one has no cluster",
        compute=lambda row: row["sign_flip"].p if row["can_flip"] else None,
    ),
    Statistic(
        name="p_holm", levels=COMPARISON, kind="share_or_null", unit="p", label="p, Holm", required=False, shown=False,
        description="p adjusted for the number of primary comparisons (Holm); null if it is not one of them.",
        formula="min(1, max over q ≤ k of (M − q + 1) p_(q)) for the k-th smallest of M p-values (Holm 1979)",
        why_null=reasons.not_primary,
        null_when="the metric is not primary, or p is null; see [below](#several-comparisons)",
        compute=lambda row: row["p_holm"],
    ),
    Statistic(
        name="p_bh", levels=COMPARISON, kind="share_or_null", unit="p", label="p, Benjamini and Hochberg",
        required=False, shown=False, asked_by="by",
        description="p of a group, adjusted for the number of primary comparisons of all groups (Benjamini and "
        "Hochberg); null if it is not one of them.",
        formula="min(1, min over q ≥ k of M / q · p_(q)) for the k-th smallest of the M p-values of all groups "
        "(Benjamini and Hochberg 1995)",
        why_null=reasons.not_primary, null_when="as `p_holm`; conditions as a whole do not have it",
        compute=lambda row: row["p_bh"],
    ),
    Statistic(
        name="family_size", levels=COMPARISON, kind="total", unit="comparisons", label="comparisons",
        required=False, shown=False,
        description="Number of primary comparisons with a p, by which p_holm, or p_bh, is adjusted.",
        formula="M, primary metrics times conditions (of groups: times groups), without those that have no p",
        compute=lambda row: row["family_size"],
    ),
    Statistic(
        name="n_differing", levels=COMPARISON, kind="total", unit="samples", label="samples that differ",
        required=False,
        description="Number of samples, or of clusters of them, whose signs are flipped.", shown=False,
        formula="m, the differences that are not 0; samples of one cluster are one",
        compute=lambda row: row["sign_flip"].flipped,
    ),
    Statistic(
        name="p_smallest", levels=COMPARISON, kind="share_or_null", unit="p", label="smallest attainable p",
        required=False,
        description="The smallest p that so many differences could have had; null if p is.", shown=False,
        formula="2^(1 − m), 1 without a difference; or 1 / (B + 1)",
        why_null=reasons.no_flip, null_when="as `p`",
        compute=lambda row: row["sign_flip"].smallest if row["can_flip"] else None,
    ),
    Statistic(
        name="p_draws", levels=COMPARISON, kind="total_or_null", unit="draws", label="draws",
        required=False, shown=False,
        description="How often signs were drawn for p; null if all ways to give them were counted.",
        formula="B, 100,000, or fewer for more than 3,000 differences (at most 64 equal ones count)",
        why_null=reasons.exact, null_when="m ≤ 20: the test is exact",
        compute=lambda row: row["sign_flip"].draws,
    ),
    Statistic(
        name="p_seed", levels=COMPARISON, kind="total_or_null", unit="none", label="seed of the draws",
        required=False, shown=False,
        description="The seed with which signs were drawn; null if they were not.",
        formula="numpy's default generator",
        why_null=reasons.exact, null_when="as `p_draws`",
        compute=lambda row: row["sign_flip"].seed,
    ),
    Statistic(
        name="p_t", levels=COMPARISON, kind="share_or_null", unit="p", label="p of t", required=False, shown=False,
        description="The two-sided p of the paired t test; null if undefined.",
        formula="2 P(T > |d̄ / SE|) with n − 1 degrees of freedom (Student 1908)",
        why_null=reasons.no_t_of_pairs,
        null_when="there are fewer than 2 paired samples, all differences are equal, or a `cluster_key` gives no SE_c",
        compute=lambda row: paired.t_p(row["difference"], row["se_tested"], row["degrees"]),
    ),
    Statistic(
        name="d_z", levels=COMPARISON, kind="beyond_scale", unit="none", label="d_z", required=False, shown=False,
        description="The difference in standard deviations of the differences; null if undefined.",
        formula="d_z = d̄ / s_d",
        why_null=reasons.no_spread_of_pairs,
        null_when="there are fewer than 2 paired samples, or all differences are equal",
        compute=lambda row: paired.standardized(row["difference"], row["sd_difference"]),
    ),
    Statistic(
        name="g_z", levels=COMPARISON, kind="beyond_scale", unit="none", label="g_z", required=False, shown=False,
        description="d_z without its bias for few samples; null if undefined.",
        formula="g_z = d_z · (1 − 3 / (4 (n − 1) − 1)) (Hedges 1981)",
        why_null=reasons.no_spread_of_pairs, null_when="as `d_z`, or there are only 2 paired samples",
        compute=lambda row: paired.hedges(row["difference"], row["sd_difference"], row["n_paired"]),
    ),
    Statistic(
        name="win_rate", levels=COMPARISON, kind="share_or_null", unit="share", label="win rate",
        required=False, shown=False,
        description="Share of paired samples in which the condition is better, ties as half of one; null if undefined.",
        formula="(wins + ties / 2) / n",
        why_null=reasons.no_pair, null_when="no sample has a value under both conditions",
        compute=lambda row: paired.win_rate(row["wins"], row["ties"], row["n_paired"]),
    ),
    Statistic(
        name="rank_biserial", levels=COMPARISON, kind="correlation", unit="none", label="rank-biserial",
        required=False, shown=False,
        description="Matched rank-biserial correlation, from -1 to 1; null if no sample differs.",
        formula="(W⁺ − W⁻) / (W⁺ + W⁻), sums of the ranks of |d_i| without ties (Kerby 2014)",
        why_null=reasons.nothing_differs, null_when="no sample differs",
        compute=lambda row: paired.rank_biserial(row["differences"]),
    ),
    Statistic(
        name="correlation", levels=COMPARISON, kind="correlation", unit="none", label="correlation",
        required=False, shown=False,
        description="Correlation of the samples' means under both conditions; null if undefined.",
        formula="ρ, Pearson's",
        why_null=reasons.no_variation,
        null_when="there are fewer than 2 paired samples, or one condition has the same mean in all",
    ),
    Statistic(
        name="se_unpaired", levels=COMPARISON, kind="spread", unit="score", label="unpaired standard error",
        required=False, shown=False,
        description="The standard error that difference would have if it were not paired; null if undefined.",
        formula="√( SE_A² + SE_B² ) over the paired samples; SE² is its square minus 2 ρ SE_A SE_B",
        why_null=reasons.no_second_pair, null_when="there are fewer than 2 paired samples",
    ),
    Statistic(
        name="n_conditions", levels=COMPARISON, kind="total", unit="conditions", label="conditions", required=False,
        shown=False, asked_by="friedman",
        description="Number of conditions with values of the metric, which are compared with each other at once.",
        formula="k, conditions with a value of the metric",
        compute=lambda row: row["friedman"].conditions,
    ),
    Statistic(
        name="n_complete", levels=COMPARISON, kind="total", unit="samples", label="complete", required=False,
        shown=False, asked_by="friedman",
        description="Number of samples with a value under all of these conditions; 0 for fewer than three of them.",
        formula="n, samples with a value under each of the k conditions",
        compute=lambda row: row["friedman"].samples,
    ),
    Statistic(
        name="friedman_chi2", levels=COMPARISON, kind="spread", unit="none", label="Friedman's χ²", required=False,
        shown=False, asked_by="friedman",
        description="Friedman's test whether any of three conditions or more differs; null if undefined.",
        formula="χ² = (12 / (n k (k + 1)) Σ_j R_j² − 3 n (k + 1)) / (1 − Σ (t³ − t) / (n (k³ − k))), R_j the sum "
        "of the ranks of condition j, t the number of conditions of a sample that share a value (Friedman 1937; "
        "Conover 1999, 5.8)",
        why_null=reasons.no_friedman,
        null_when="there are fewer than 3 conditions, or fewer than 2 samples with a value under all of them, no value "
        "of a sample differs, or the config names a `cluster_key`",
        compute=lambda row: friedman_of(row).chi2,
    ),
    Statistic(
        name="p_friedman", levels=COMPARISON, kind="share_or_null", unit="p", label="p of Friedman's test",
        required=False, shown=False, asked_by="friedman",
        description="The p of Friedman's test; which conditions differ p_holm says. Null if undefined.",
        formula="P(X > χ²), X being chi-square with k − 1 degrees of freedom",
        why_null=reasons.no_friedman, null_when="as `friedman_chi2`",
        compute=lambda row: friedman_of(row).p,
    ),
    Statistic(
        name="kendall_w", levels=COMPARISON, kind="share_or_null", unit="none", label="Kendall's W", required=False,
        shown=False, asked_by="friedman",
        description="How far the samples agree about the order of the conditions, from 0 to 1; null if undefined.",
        formula="W = χ² / (n (k − 1)) (Kendall and Babington Smith 1939)",
        why_null=reasons.no_friedman, null_when="as `friedman_chi2`",
        compute=lambda row: friedman_of(row).kendall_w,
    ),
    Statistic(
        name="margin", levels=COMPARISON, kind="spread", unit="score", label="margin", required=False, shown=False,
        description="The smallest difference that matters, as the config declares it; null if it does not.",
        formula="`comparison.margin` of the config",
        why_null=reasons.no_margin, null_when="the config declares none for the metric",
        compute=lambda row: row["margin"],
    ),
    Statistic(
        name="p_not_lower", levels=COMPARISON, kind="share_or_null", unit="p", label="p of non-inferiority",
        required=False, shown=False,
        description="The one-sided p against the condition being lower by the margin or more; null if undefined.",
        formula="P(T > (d̄ + margin) / SE) with n − 1 degrees of freedom",
        why_null=reasons.no_margin_test, null_when="as `margin` or `p_t`",
        compute=lambda row: paired.not_lower_p(row["difference"], row["se_tested"], row["degrees"], row["margin"]),
    ),
    Statistic(
        name="p_equivalent", levels=COMPARISON, kind="share_or_null", unit="p", label="p of equivalence",
        required=False, shown=False,
        description="The p against both conditions differing by the margin or more; null if undefined.",
        formula="the larger of two one-sided p (TOST, Schuirmann 1987)",
        why_null=reasons.no_margin_test, null_when="as `p_not_lower`",
        compute=lambda row: paired.equivalent_p(row["difference"], row["se_tested"], row["degrees"], row["margin"]),
    ),
    Statistic(
        name="failure_rate_difference", levels=COMPARISON, kind="correlation", unit="share", label="failure rate",
        required=False, shown=False,
        description="Share of repetitions that the agent failed, condition minus baseline; null if undefined.",
        formula="the mean over samples of the difference of the shares of repetitions that the agent failed",
        why_null=reasons.no_failure_rates,
        null_when="no sample was answered, or failed by the agent, under both conditions",
    ),
    Statistic(
        name="p_failure_rate", levels=COMPARISON, kind="share_or_null", unit="p", label="p of the failure rate",
        required=False, shown=False,
        description="The two-sided p of the sign-flip permutation test of failure_rate_difference; null if undefined.",
        formula="as `p`, of the shares of failures; with one repetition it is McNemar's exact test (1947)",
        why_null=reasons.no_failure_flip, null_when="as `failure_rate_difference`, or such a sample has no cluster",
        compute=lambda row: row["failures_flip"].p if row["failures_flipped"] else None,
    ),
))  # fmt: skip
"""The statistics of a `comparison` event, in its order."""
