"""The statistics of a condition, of a group of its samples, and of one sample: the numbers of `aggregate` events."""

from __future__ import annotations

from keval.stats import reasons
from keval.stats.statistic import BOTH, CONDITION, Statistic, table

AGGREGATE = table((
    Statistic(
        name="planned", levels=BOTH, kind="total_or_null", unit="tasks", label="scored / planned",
        description="Number of tasks planned; null if no run says.",
        formula="all tasks",
        why_null=reasons.no_plan,
        null_when="no `run` event says how much was planned, or the newest plan does not have the condition; "
        "a warning says so",
    ),
    Statistic(
        name="scored", levels=BOTH, kind="total", unit="tasks", label="scored / planned",
        description="Number of tasks with a response that this judge scored.",
        formula="tasks with a score",
    ),
    Statistic(
        name="agent_failed", levels=BOTH, kind="total", unit="tasks", label="agent failed",
        description="Number of tasks that the agent failed; they count as min in mean.",
        formula="tasks that the agent failed; they are in the mean",
    ),
    Statistic(
        name="not_measured", levels=BOTH, kind="total", unit="tasks", label="not measured",
        description="Number of tasks that could not be measured through no fault of the agent.",
        formula="tasks that could not be measured; they are not in the mean",
    ),
    Statistic(
        name="not_applicable", levels=BOTH, kind="total", unit="tasks", label="not applicable", required=False,
        description="Number of tasks whose response this judge found the metric not to apply to.",
        formula="tasks whose response the metric does not apply to; they are in no mean and in no bound",
    ),
    Statistic(
        name="not_sampled", levels=BOTH, kind="total", unit="tasks", label="not sampled", required=False,
        description="Number of tasks that this judge does not judge, because it judges a share of them.",
        formula="tasks outside the share that the judge's `sample_rate` chose; they are in no mean and in no bound",
    ),
    Statistic(
        name="not_done", levels=BOTH, kind="total_or_null", unit="tasks", label="not done",
        description="Number of tasks planned and not done yet; null if no run says how many were planned.",
        formula="tasks that were planned and not done yet",
        why_null=reasons.no_plan,
        null_when="as `planned`",
    ),
    Statistic(
        name="failed", levels=BOTH, kind="failed_by_kind", unit="tasks", label="failures by kind",
        description="Number of failed tasks by kind of failure.",
        formula="failed tasks by [kind](concepts.md#kinds-of-failure)",
    ),
    Statistic(
        name="empty", levels=BOTH, kind="total", unit="responses", label="empty answers", required=False,
        description="Number of answers that are empty; a judge that would ask a model about them gives the minimum.",
        formula="answers of status `empty`: a judge that asks a model scores them as the minimum",
    ),
    Statistic(
        name="refused", levels=BOTH, kind="total", unit="responses", label="refused answers", required=False,
        description="Number of answers in which the agent declined to answer; they are judged by what they say.",
        formula="answers of status `refused`",
    ),
    Statistic(
        name="cut_off", levels=BOTH, kind="total", unit="responses", label="answers cut off", required=False,
        description="Number of answers that a limit cut off; they are judged by what they say.",
        formula="answers of status `limit`",
    ),
    Statistic(
        name="n_samples", levels=BOTH, kind="total", unit="samples", label="samples",
        description="Number of samples with a score.",
        formula="n, samples with a value",
    ),
    Statistic(
        name="n_responses", levels=BOTH, kind="total", unit="responses", label="responses",
        description="Number of responses with a score.",
        formula="Σ r_i, what no judge scored left out", shown=False,
    ),
    Statistic(
        name="n_judgments", levels=BOTH, kind="total", unit="judgments", label="judgments",
        description="Number of judgments.",
        formula="judgments of those responses", shown=False,
    ),
    Statistic(
        name="mean", levels=BOTH, kind="score_or_null", unit="score", label="mean",
        description="The headline: mean over samples in which the agent's failures count as min; null if undefined.",
        formula="ȳ, in which the agent's own failures count as the scale's minimum",
        why_null=reasons.no_score, null_when="no task was scored and none was failed by the agent",
    ),
    Statistic(
        name="mean_complete_case", levels=BOTH, kind="score_or_null", unit="score", label="complete-case mean",
        description="Mean over samples of what was scored; null if nothing was.",
        formula="the mean over what was scored, failures left out",
        why_null=reasons.no_score, null_when="no task was scored",
    ),
    Statistic(
        name="mean_lower", levels=BOTH, kind="score_or_null", unit="score", label="worst and best case",
        description="The mean if all that was not measured had scored min; null if undefined.",
        formula="the mean if all that was not measured or not done had scored the minimum (Manski 2003, worst case)",
        why_null=reasons.nothing_tried, null_when="nothing was planned or tried",
    ),
    Statistic(
        name="mean_upper", levels=BOTH, kind="score_or_null", unit="score", label="worst and best case",
        description="The mean if all that was not measured had scored max; null if undefined.",
        formula="the same with the maximum",
        why_null=reasons.nothing_tried, null_when="nothing was planned or tried",
    ),
    Statistic(
        name="var_between_samples", levels=CONDITION, kind="variance", unit="score²",
        label="variance between samples", shown=False,
        description="Variance of the samples' means; null if undefined.",
        formula="s_b²",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="sd_between_samples", levels=CONDITION, kind="spread", unit="score", label="SD between samples",
        description="Standard deviation of the samples' means; null if undefined.",
        formula="s_b = √( Σ (ȳ_i − ȳ)² / (n − 1) )",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="var_within_sample", levels=BOTH, kind="variance", unit="score²",
        label="variance within samples", shown=False,
        description="Variance of the repetitions of one sample, pooled over samples; null if undefined.",
        formula="s_w²",
        why_null=reasons.no_second_repetition, null_when="no sample has 2 repetitions with a value",
    ),
    Statistic(
        name="sd_within_sample", levels=BOTH, kind="spread", unit="score", label="SD within samples",
        description="Standard deviation of the repetitions of one sample, pooled over samples; null if undefined.",
        formula="s_w = √( Σ (r_i − 1) s_i² / Σ (r_i − 1) ), s_i being the SD of sample i's ȳ_il, the agent's failures "
        "included (pooled variance of one-way ANOVA)",
        why_null=reasons.no_second_repetition, null_when="no sample has 2 repetitions with a value",
    ),
    Statistic(
        name="n_unlike", levels=CONDITION, kind="total_or_null", unit="samples", label="samples scored unlike",
        required=False,
        description="Number of samples whose repetitions did not all score the same; null if none was repeated.",
        formula="samples with s_i > 0: how flaky the answers are",
        why_null=reasons.no_second_repetition, null_when="as `sd_within_sample`",
    ),
    Statistic(
        name="se", levels=CONDITION, kind="spread", unit="score", label="standard error", shown=False,
        description="Standard error of mean; null if undefined.",
        formula="SE = s_b / √n (clustered by sample: Miller 2024, arXiv 2411.00640, section 2)",
        why_null=reasons.no_second_sample, null_when="there are fewer than 2 samples",
    ),
    Statistic(
        name="se_repeat", levels=CONDITION, kind="spread", unit="score", label="SE of a repetition", required=False,
        shown=False,
        description="Standard error of mean if the same samples were asked again; null if undefined.",
        formula="SE_fix = (1/n) √( Σ s_i² / r_i ): for a gate on a fixed set of samples; it says nothing of other "
        "samples",
        why_null=reasons.not_repeated, null_when="a sample has fewer than 2 repetitions with a value",
    ),
    Statistic(
        name="n_clusters", levels=CONDITION, kind="total_or_null", unit="clusters", label="clusters", required=False,
        description="Number of clusters of the samples with a value; null if the config names no cluster_key.",
        formula="G, samples of one value of the dataset's `cluster_key` being one cluster",
        why_null=reasons.no_clusters, null_when="the config names no `cluster_key`",
    ),
    Statistic(
        name="se_clustered", levels=CONDITION, kind="spread", unit="score", label="SE by clusters", required=False,
        description="Standard error of mean over clusters of samples; null if undefined.",
        formula="SE_c = √( G/(G − 1) · Σ_g D_g² ) / n, D_g = Σ_{i∈g} (ȳ_i − ȳ) (CR1: Cameron and Miller 2015; Miller "
        "2024 "
        "leaves G/(G − 1) out); the interval rests on the larger one of SE and SE_c",
        why_null=reasons.no_clusters,
        null_when="the config names no `cluster_key`, a sample has no cluster, or there are fewer than 2 clusters",
    ),
    Statistic(
        name="ci_lower", levels=CONDITION, kind="beyond_scale", unit="score", label="95 % CI",
        description="Lower end of the confidence interval; null if undefined.",
        formula="by `ci_method`, see [below](#which-interval); of `t` it is ȳ − t · SE with n − 1 degrees of freedom "
        "(Student 1908); a report for people cuts it at the end of the scale, the event does not",
        why_null=reasons.no_mean_interval,
        null_when="there are fewer than 5 samples, a `cluster_key` gives no SE_c, or all samples "
        "have the same mean and "
        "the metric is no pass rate",
        compute=lambda row: row["interval"].lower,
    ),
    Statistic(
        name="ci_upper", levels=CONDITION, kind="beyond_scale", unit="score", label="95 % CI",
        description="Upper end of the confidence interval; null if undefined.",
        formula="the other end",
        why_null=reasons.no_mean_interval, null_when="as `ci_lower`",
        compute=lambda row: row["interval"].upper,
    ),
    Statistic(
        name="var_sample", levels=CONDITION, kind="variance_estimate", unit="score²", label="variance of the questions",
        required=False, shown=False,
        description="Estimated variance of the samples' true scores; below 0: not distinguishable from 0; null if "
        "undefined.",
        formula="σ²_S = (MSA − MSE − k2 σ²_R) / k3, of what was scored (analysis of variance for unequal numbers: "
        "Searle, Casella and McCulloch 1992); a negative σ²_R is not set to 0 in it",
        why_null=reasons.no_sample_component, null_when="there are fewer than 2 samples, or no sample has 2 responses",
    ),
    Statistic(
        name="var_response", levels=CONDITION, kind="variance_estimate", unit="score²", label="variance of the agent",
        required=False, shown=False,
        description="Estimated variance of the agent's answers to one sample; below 0: not distinguishable from 0; "
        "null if undefined.",
        formula="σ²_R = (MSB − MSE) / k1",
        why_null=reasons.no_response_component,
        null_when="no sample has 2 responses, or no response has 2 judgments",
    ),
    Statistic(
        name="var_judgment", levels=CONDITION, kind="variance", unit="score²", label="variance of the judge",
        required=False, shown=False,
        description="Variance of the judgments of one answer; null if undefined.",
        formula="σ²_J = MSE = Σ (y − ȳ_il)² / (judgments − responses)",
        why_null=reasons.no_judgment_component, null_when="no response has 2 judgments",
    ),
    Statistic(
        name="var_response_and_judgment", levels=CONDITION, kind="variance", unit="score²",
        label="variance of agent and judge", required=False, shown=False,
        description="Variance of answers and judgments together, where each answer has one judgment; null if "
        "undefined.",
        formula="σ²_{R+J} = MSB",
        why_null=reasons.no_joint_component,
        null_when="a response has 2 judgments, so that the two are known apart, or no sample has 2 responses",
    ),
    Statistic(
        name="ms_sample", levels=CONDITION, kind="variance", unit="score²", label="mean square of samples",
        required=False, shown=False,
        description="Mean square between samples, from which var_sample is estimated; null if undefined.",
        formula="MSA = Σ N_i (ȳ_i·· − ȳ···)² / (n − 1), N_i judgments of sample i, whose mean is ȳ_i··",
        why_null=reasons.no_mean_square_of_samples, null_when="there are fewer than 2 samples with a score",
    ),
    Statistic(
        name="ms_response", levels=CONDITION, kind="variance", unit="score²", label="mean square of answers",
        required=False, shown=False,
        description="Mean square between the answers to one sample; null if undefined.",
        formula="MSB = ΣΣ j_il (ȳ_il − ȳ_i··)² / (R − n), R responses, j_il judgments of one",
        why_null=reasons.no_sample_component, null_when="no sample has 2 responses",
    ),
    *(
        Statistic(
            name=name, levels=CONDITION, kind="spread", unit="none", label=name, required=False, shown=False,
            description=f"{counted}; null if undefined.",
            formula=formula,
            why_null=reason, null_when=f"as `{like}`",
        )
        for name, counted, formula, reason, like in (
            ("k1", "Judgments of an answer, as they count in ms_response",
             "k1 = (N − t1) / (R − n), N judgments, t1 = Σ_i (Σ_l j_il²) / N_i",
             reasons.no_sample_component, "ms_response"),
            ("k2", "Judgments of an answer, as they count in ms_sample", "k2 = (t1 − t2) / (n − 1), t2 = ΣΣ j_il² / N",
             reasons.no_mean_square_of_samples, "ms_sample"),
            ("k3", "Judgments of a sample, as they count in ms_sample", "k3 = (N − t3) / (n − 1), t3 = Σ N_i² / N",
             reasons.no_mean_square_of_samples, "ms_sample"),
        )
    ),
    Statistic(
        name="icc_sample", levels=CONDITION, kind="share_or_null", unit="share", label="share of the questions",
        required=False, shown=False,
        description="Share of the variance of a score that lies between samples; null if undefined.",
        formula="ICC = σ²_S / (σ²_S + σ²_R + σ²_J), negative estimates counted as 0",
        why_null=reasons.no_share_of_variance, null_when="as `var_sample`, or all scores are equal",
    ),
    *(
        Statistic(
            name=f"icc_sample_{end}", levels=CONDITION, kind="correlation", unit="share",
            label="95 % CI of the share of the questions", required=False, shown=False, asked_by="full",
            description=f"{which} end of the interval of icc_sample, which may be below 0; null if undefined.",
            formula=formula,
            why_null=reasons.no_icc_interval,
            null_when="as `icc_sample`, an answer has 2 judgments, or samples do not have equally many answers",
            compute=lambda row, place=place: row["icc_interval"][place],  # type: ignore[misc]  # the default binds it
        )
        for place, (end, which, formula) in enumerate((
            ("lower", "Lower",
             "(F_L − 1) / (F_L + r − 1), F_L = MSA / MSB / F_{.975}(n − 1, n(r − 1)) (Shrout and Fleiss 1979)"),
            ("upper", "Upper", "the same with F_U = MSA / MSB · F_{.975}(n(r − 1), n − 1)"),
        ))
    ),
    Statistic(
        name="judge_reliability", levels=CONDITION, kind="share_or_null", unit="share",
        label="reliability of the judge",
        required=False, shown=False,
        description="Share of the variance of an answer's score that is not the judge's; null if undefined.",
        formula="(σ²_S + σ²_R) / (σ²_S + σ²_R + σ²_J / j), j judgments per response (Spearman and Brown); of one "
        "answer to each sample σ²_S + σ²_R is one number",
        why_null=reasons.no_share_of_variance,
        null_when="no response has 2 judgments, there are fewer than 2 samples, or all scores are equal",
    ),
    Statistic(
        name="sample_reliability", levels=CONDITION, kind="share_or_null", unit="share",
        label="reliability of a sample's score", required=False, shown=False,
        description="Share of the variance of a sample's mean that is the sample's; null if undefined.",
        formula="σ²_S / (σ²_S + σ²_R / r + σ²_J / (r j)), r responses per sample (generalizability "
        "coefficient: Brennan 2001)",
        why_null=reasons.no_share_of_variance, null_when="as `icc_sample`",
    ),
    Statistic(
        name="var_judgment_lower", levels=CONDITION, kind="variance", unit="score²",
        label="95 % CI of the judge's variance",
        required=False, shown=False, asked_by="full",
        description="Lower end of the interval of var_judgment; null if undefined.",
        formula="df · MSE / χ²_{.975}, df = judgments − responses",
        why_null=reasons.no_judgment_interval, null_when="as `var_judgment`, or all judgments of an answer are equal",
        compute=lambda row: row["judgment_interval"][0],
    ),
    Statistic(
        name="var_judgment_upper", levels=CONDITION, kind="variance", unit="score²",
        label="95 % CI of the judge's variance",
        required=False, shown=False, asked_by="full",
        description="Upper end of the interval of var_judgment; null if undefined.",
        formula="df · MSE / χ²_{.025}",
        why_null=reasons.no_judgment_interval, null_when="as `var_judgment_lower`",
        compute=lambda row: row["judgment_interval"][1],
    ),
    Statistic(
        name="pass_k", levels=CONDITION, kind="pass_k", unit="share",
        label="pass@k, pass^k", required=False, shown=False,
        asked_by="full",
        description="Chances that k trials of a sample pass: at least one, all, or a share of them; null if undefined.",
        formula="pass@k = 1 − C(n−c,k)/C(n,k) (Chen et al. 2021), pass^k = C(c,k)/C(n,k) (Yao et "
        "al. 2024) and G-Pass@k (Liu "
        "et al. 2024) of each sample's n trials and c passes, then their mean; a trial that the agent failed did not "
        "pass",
        why_null=reasons.no_pass_k, null_when="nothing says which score passes",
        compute=lambda row: row.get("pass_k"),
    ),
    Statistic(
        name="ci_bca_lower", levels=CONDITION, kind="score_or_null", unit="score", label="95 % CI, resampled",
        required=False, shown=False, asked_by="bootstrap",
        description="Lower end of the interval by resampling; null if undefined.",
        formula="BCa of 9,999 draws of samples, or of clusters (Efron 1987); drawn by `seed`",
        why_null=reasons.not_resampled,
        null_when="there are fewer than 20 samples or clusters, more than 20,000, or all samples have the same mean",
        compute=lambda row: row["bca"][0],
    ),
    Statistic(
        name="ci_bca_upper", levels=CONDITION, kind="score_or_null", unit="score", label="95 % CI, resampled",
        required=False, shown=False, asked_by="bootstrap",
        description="Upper end of the interval by resampling; null if undefined.",
        formula="the other end",
        why_null=reasons.not_resampled, null_when="as `ci_bca_lower`",
        compute=lambda row: row["bca"][1],
    ),
    *(
        Statistic(
            name=f"{name}_{end}", levels=CONDITION, kind="variance_estimate", unit="score²", label=f"95 % CI of {name}",
            required=False, shown=False, asked_by="bootstrap",
            description=f"{which} end of the interval of {name} by resampling; null if undefined.",
            formula="percentiles of 9,999 draws of samples",
            why_null=why_null, null_when=f"as `ci_bca_lower` or `{name}`",
            compute=lambda row, of=of, place=place: row[of][place],  # type: ignore[misc]  # the defaults bind the names
        )
        for name, of, why_null in (
            ("var_sample", "between", reasons.no_resampled_samples),
            ("var_response", "within", reasons.no_resampled_answers),
        )
        for place, (end, which) in enumerate((("lower", "Lower"), ("upper", "Upper")))
    ),
    Statistic(
        name="score_of_means", levels=CONDITION, kind="score_or_null", unit="score", label="formula of the means",
        description="The formula of a combined metric once more, of the condition's means; null if undefined.",
        formula="the formula of a [combined metric](#computed-metrics) of the parts' ȳ, and of the mean over samples "
        "of an answer's tokens; the mean above is that of the answers' own scores, and the formula is not linear",
        why_null=reasons.no_means,
        null_when="a part of the formula has no mean, or no answer tells its tokens; other metrics do not have it",
        required=False, of_combined=True,
    ),
    Statistic(
        name="se_of_means", levels=CONDITION, kind="spread", unit="score", label="SE of the formula of the means",
        description="Standard error of score_of_means; null if undefined.",
        formula="score_of_means · sd(z) / √n, z_i = Σ a_p (x_ip / x̄_p − 1) over the parts x_p and their exponents a_p, "
        "that of "
        "the tokens being negative (delta method on the logarithm)",
        why_null=reasons.no_means,
        null_when="as `score_of_means`, a part's mean is 0, or there are fewer than 2 samples",
        required=False, of_combined=True, shown=False,
    ),
))  # fmt: skip
"""The statistics of an `aggregate` event, in its order."""
