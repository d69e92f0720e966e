"""Says in lines what labels tell of a judge: how far to trust its verdicts, and what people would give."""

from __future__ import annotations

from collections.abc import Iterator

from keval.counted import counted
from keval.labels.corrections import MeanCorrection
from keval.labels.error_rates import RatesCorrection
from keval.labels.labels import CalibratedJudge
from keval.readable import NOTHING, percent
from keval.stats.calibration import Labelled
from keval.stats.ppi import Estimate


def of_verdicts(judge: CalibratedJudge, by_rates: RatesCorrection | None) -> Iterator[str]:
    """Yield what labels say of a judge's verdicts, and what error rates from elsewhere do, if there are any."""
    found, by = judge.calibration, f", {judge.by}" if judge.by else ""
    yield f"{judge.condition}, {judge.judge}/{judge.metric}{by}"
    yield f"  pass rate            {percent(found.pass_rate)}"
    assumes = found.assumes_passes and found.corrected is not None
    assumed = "; no pass was labelled, all are taken for right" if assumes else ""
    reason = f" ({found.why_unknown})" if found.why_unknown else ""
    of_which = "" if found.corrected is None else " of these answers"
    yield f"  corrected pass rate  {percent(found.corrected)}{_range(found.interval)}{of_which}{reason}{assumed}"
    for kind, labelled in (("failures", found.failures), ("passes", found.passes)):
        yield f"  {kind:<8} right       {percent(labelled.share_right)}{_range(labelled.interval)}{_counts(labelled)}"
    if found.sensitivity is not None or found.specificity is not None:
        yield f"  sensitivity          {percent(found.sensitivity)}, specificity {percent(found.specificity)}"
    if by_rates is not None:
        reason = f" ({by_rates.reason})" if by_rates.reason else ""
        limits = _range((by_rates.ci_lower, by_rates.ci_upper))
        of_samples = percent(by_rates.pass_rate)
        # Where samples have unequal numbers of answers, their mean is another rate than that of all answers.
        of = f", of the samples' mean {of_samples}" if of_samples != percent(found.pass_rate) else ""
        yield f"  by error rates       {percent(by_rates.corrected)}{limits}{of}{reason}"


def of_mean(mean: MeanCorrection) -> Iterator[str]:
    """Yield what people's scores say of the mean of a judge's."""
    yield f"{mean.condition}, {mean.judge}/{mean.metric}, mean score"
    yield f"  judge                {mean.judge_mean:.2f} ({counted(mean.samples, 'sample')})"
    people, corrected = mean.found.people, mean.found.corrected
    of = "" if people is None else f" ({counted(people.n_labelled, 'sample')})"
    yield f"  people               {_estimated(people, mean)}{of}"
    reason = mean.found.why_not_corrected
    how = f" ({reason})" if corrected is None else f" (PPI++, {corrected.judge_weight:.2f} of the judge)"
    yield f"  corrected            {_estimated(corrected, mean)}{how}"


def _estimated(estimate: Estimate | None, of: MeanCorrection) -> str:
    if estimate is None:
        return NOTHING
    low, high = estimate.interval
    if low is None or high is None:
        return f"{estimate.mean:.2f}"
    # A t interval may reach beyond the scale; `-f jsonl` has it whole.
    return f"{estimate.mean:.2f}, 95 % CI {max(low, of.min):.2f} to {min(high, of.max):.2f}"


def _counts(labelled: Labelled) -> str:
    said = f", {labelled.right} right, {labelled.wrong} wrong, {labelled.ambiguous} ambiguous"
    return f" ({counted(labelled.verdicts, 'verdict')}{said})"


def _range(interval: tuple[float | None, float | None]) -> str:
    low, high = interval
    return "" if low is None or high is None else f", 95 % CI {low:.1%} to {high:.1%}"
