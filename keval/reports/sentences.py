"""Says what a comparison shows in sentences that can be read aloud, the same in every format.

Nothing is concluded here: the conclusion is the comparison's own. Words such as winner, significant or proves are never
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Protocol

from keval import failure_kinds
from keval.counted import counted
from keval.projections import NOISE
from keval.readable import SMALLEST_P, share
from keval.reports.metric_tables import ConditionScore, Difference, MetricTable, statistic
from keval.stats.conclusions import Conclusion, is_at_most_alpha
from keval.stats.intervals import FEWEST_SAMPLES
from keval.stats.reasons import NOTHING_SCORED
from keval.stats.stopped_run import DESCRIPTIVE

ONE_CONDITION = "One condition: nothing is compared."

WAY_OUT = "keval run CONFIG{mock} asks again."
WAY_OUT_OF_JUDGE = "keval run CONFIG{mock} and then keval judge LOG -j JUDGE.yaml{mock} ask again."
"""What ends a sentence of what was not measured or not done."""


HOW_MANY = "keval plan LOG --difference D says how many samples would settle it."
HOW_MANY_IN_ONE_LOG = "With both in one config, as two conditions, keval plan says how many samples would settle it."
"""What ends a sentence of a difference that is not shown, of one log and of several."""

_NAMING = (" {} scored ", " {} compared with ", " between {} and ", " of {} ")
"""How a sentence names the condition that it is of."""


class Scored(Protocol):
    """What has scores of one metric of one judge, such as a table."""

    @property
    def judge(self) -> str:
        """The judge's name."""

    @property
    def judge_id(self) -> str:
        """Which version of it."""

    @property
    def metric(self) -> str:
        """The metric's own name."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What is said of one condition against the baseline."""

    condition: str
    baseline: str
    text: str
    """One sentence or a few, over all metrics."""
    by_metric: tuple[str, ...]
    """The same of each metric."""
    line: str
    """All metrics with their numbers in one line that can be read aloud; `text` where that is such a line."""
    notes: tuple[str, ...] = ()
    """What the line leaves open, each reason once."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A difference with what stands beside it in its table."""

    found: Difference
    table: MetricTable
    metric: str
    """The metric's name, with the judge's where two judges have one of that name."""
    how_many: str
    """What ends the sentence of a difference that is not shown."""

    def points(self, value: float | None, *, sign: bool = True) -> str:
        """Return a number with as many decimals as the scale needs, at least two; a small one does not look like 0.

        What float noise alone makes differ from 0 is 0, and has no sign.
        """
        if value is None:
            return "?"
        reach = self.table.max - self.table.min
        if abs(value) <= NOISE * reach:
            value = 0.0
        decimals = max(2, 2 - floor(log10(reach)))
        is_small = 0 < abs(value) < 0.5 * 10**-decimals
        form = ("+" if sign and value else "") + (".2g" if is_small else f".{decimals}f")
        return f"{value:{form}}".replace("-", "−")

    @property
    def effect(self) -> str:
        """The difference with its interval, if there is one."""
        lower, upper = self.found.ci_lower, self.found.ci_upper
        interval = "" if lower is None or upper is None else f" [{self.points(lower)}, {self.points(upper)}]"
        return f"{self.points(self.found.difference)}{interval}"

    @property
    def scale(self) -> str:
        return f"on a scale of {self.table.min:g} to {self.table.max:g}"

    @property
    def margin(self) -> str:
        return f"±{self.points(statistic(self.found, 'margin'), sign=False)}"

    @property
    def is_unclustered(self) -> bool:
        """Whether samples belong together, and too little is known of how."""
        return statistic(self.found, "n_clusters") is not None and statistic(self.found, "se_clustered") is None

    def test(self, before: str) -> str:
        """Return the p of the sign-flip test, by name, after other words; nothing where it is not known."""
        p = statistic(self.found, "p")
        if p is None:
            return ""
        if self.found.until is not None:
            return f"{before}its p over all looks is {p:.2g}"
        name = "exact" if statistic(self.found, "p_draws") is None else "sign-flip"
        smallest = statistic(self.found, "p_smallest")
        least = (
            f", where {smallest:.2g} is the smallest it can give"
            if smallest is not None and not is_at_most_alpha(smallest)
            else ""
        )
        return f"{before}the {name} test gives p {f'< {SMALLEST_P:g}' if p < SMALLEST_P else f'= {p:.2g}'}{least}"

    @property
    def lacking(self) -> str:
        """How much of both conditions was not measured, and why."""
        return " and ".join(text for score in self.scores if (text := _missing(score)))

    @property
    def scores(self) -> list[ConditionScore]:
        """What the baseline and the condition scored."""
        names = (self.found.baseline, self.found.condition)
        return [score for name in names if (score := self.table.score(name)) is not None]

    @property
    def way_out(self) -> str:
        """What measures the rest, after a space; nothing where answers were imported."""
        if not self.table.can_be_asked_again:
            return ""
        if self.table.computed is not None and not any(map(_is_asked_again, self.scores)):
            return " It is computed from what is not known of those answers, for which nothing asks again."
        way_out = WAY_OUT if self.table.is_of_config else WAY_OUT_OF_JUDGE
        return f" {way_out.format(mock=' --mock' if self.table.asks_mock else '')}"

    @property
    def qualification(self) -> str:
        return f", {self.found.qualification}" if self.found.qualification else ""


def headlines(
    tables: Sequence[MetricTable], *, is_incomplete: bool = False, how_many: str = HOW_MANY
) -> tuple[Headline, ...]:
    """Return what is to be said of each condition that is compared, in the order of the tables."""
    compared = list(_compared(tables, how_many))
    pairs = dict.fromkeys((each.found.condition, each.found.baseline) for each in compared)
    made = []
    for condition, baseline in pairs:
        of_pair = [each for each in compared if (each.found.condition, each.found.baseline) == (condition, baseline)]
        text = _headline(condition, baseline, of_pair)
        line, notes = _line_and_notes(condition, baseline, of_pair)
        if len(pairs) > 1:
            text, *notes = (said if _names(said, condition) else f"{condition}: {said}" for said in (text, *notes))
        if is_incomplete and _unscored_name(of_pair) is None:
            line = line and f"{line}, so far"
            is_said = text.endswith((" asks again.", " ask again."))  # what is missing
            text = text if is_said else f"{text[:-1]} so far."
        made.append(Headline(condition, baseline, text, tuple(map(_said, of_pair)), line or text, tuple(notes)))
    return tuple(made)


def _names(said: str, condition: str) -> bool:
    """Return whether a sentence says which condition it is of; a short name may be a part of any word."""
    return any(words.format(condition) in f" {said}" for words in _NAMING)


def metric_name(scored: Scored, tables: Sequence[MetricTable]) -> str:
    """Return what a metric is called in a report: with its judge where several judges have one of its name."""
    judges = {table.judge_id for table in tables if table.metric == scored.metric}
    return f"{scored.metric} ({judge_name(scored, tables)})" if len(judges) > 1 else scored.metric


def judge_name(scored: Scored, tables: Sequence[MetricTable]) -> str:
    """Return what a judge is called in a report: with its version where several versions of it have scored."""
    versions = {table.judge_id for table in tables if table.judge == scored.judge and table.computed is None}
    return f"{scored.judge}, version {scored.judge_id[:8]}" if len(versions) > 1 else scored.judge


def _compared(tables: Sequence[MetricTable], how_many: str) -> Iterator[_Compared]:
    for table in tables:
        name = metric_name(table, tables)
        for found in table.differences:
            yield _Compared(found, table, name, how_many)


def _line_and_notes(condition: str, baseline: str, compared: Sequence[_Compared]) -> tuple[str, Sequence[str]]:
    """Return all metrics in one line, and what it leaves open; nothing where a sentence says it all."""
    if len(compared) == 1 or all(not each.found.difference for each in compared) or _failed_name(compared):
        return "", ()
    told = " · ".join(
        f"{each.metric} {'' if each.found.difference is None else f'{each.effect} '}{each.found.conclusion}"
        for each in compared
    )
    return f"{condition} vs {baseline}: {told}{_qualified(compared, names_first=True)}", list(_notes(compared))


def _notes(compared: Sequence[_Compared]) -> Iterator[str]:
    """Yield what is to be known of the conclusions that are not plain, in the order of the metrics."""
    told: dict[str, list[_Compared]] = {}
    for each in compared:
        reason = _open(each)
        if reason is not None:
            told.setdefault(reason, []).append(each)
    for reason, found in told.items():
        yield reason.format(metrics=", ".join(each.metric for each in found)) if len(found) > 1 else _said(found[0])


def _open(each: _Compared) -> str | None:
    """Return what a conclusion leaves open, for several metrics of which the same is to be said; None for nothing."""
    conclusion = each.found.conclusion
    has_interval, is_small = each.found.ci_lower is not None, is_at_most_alpha(statistic(each.found, "p_equivalent"))
    if conclusion in {"higher", "lower"} and has_interval and not is_small:
        return None
    if conclusion == "no difference shown":
        return f"No difference shown on {{metrics}}: this does not say they are equal. {each.how_many}"
    if each.found.reasons.get("conclusion") == DESCRIPTIVE:
        names = _escaped(f"{each.found.condition} and {each.found.baseline}")
        return f"Cannot tell between {names} on {{metrics}}: {DESCRIPTIVE}."
    reason = _untold(each) if conclusion == "cannot tell" else None
    return _escaped(_said(each)) if reason is None else f"Cannot tell on {{metrics}}: {_escaped(reason)}"


def _untold(each: _Compared) -> str | None:
    """Return why nobody can tell, as far as it may be the same for several metrics."""
    found = each.found
    if found.difference is None and "conclusion" in found.reasons:
        return f"{found.reasons['conclusion']}."
    if 0 < found.n_paired < FEWEST_SAMPLES and not each.is_unclustered:
        return f"{_samples_are(found.n_paired)} too few for an interval."
    if found.ci_lower is not None and each.lacking:
        return f"{each.lacking} was not measured, {_could(found)}.{each.way_out}"
    return None


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _unscored_name(compared: Sequence[_Compared]) -> str | None:
    """Return which of the two conditions has no score at all, so that nothing can be compared with it."""
    return _failed_name(compared) if all(each.found.difference is None for each in compared) else None


def _failed_name(compared: Sequence[_Compared]) -> str | None:
    """Return which of the two conditions has no scored answer; failures that count as the worst score it may have."""
    names = (compared[0].found.condition, compared[0].found.baseline)
    return next((name for name in names if _is_unscored(name, compared)), None)


def _is_unscored(name: str, compared: Sequence[_Compared]) -> bool:
    """Return whether a condition that all tables know has no scored answer in any of them."""
    scores = [each.table.score(name) for each in compared]
    return all(score is not None and not score.scored for score in scores)


def _headline(condition: str, baseline: str, compared: Sequence[_Compared]) -> str:
    failed = _failed_name(compared)
    if failed is None:
        return _compared_on_all(condition, baseline, compared)
    score = _most_failures(failed, compared)
    is_baseline_too = failed != baseline and _is_unscored(baseline, compared)
    nor = f" Nothing of {baseline} is scored either." if is_baseline_too else ""
    if _unscored_name(compared) is not None:
        return f"{_nothing_scored(failed, score)}{nor}"
    yet = "is scored yet" if score is not None and score.not_done else "was scored"
    counts = f"Nothing of {failed} {yet}: {_kinds_of_failure(score)}; failures of the agent count as the worst score."
    return f"{counts}{nor} {_compared_on_all(condition, baseline, compared)}"


def _compared_on_all(condition: str, baseline: str, compared: Sequence[_Compared]) -> str:
    """Return what the differences show, over all metrics."""
    if len(compared) == 1:
        return _said(compared[0])
    by_conclusion: dict[Conclusion, list[_Compared]] = {}
    for each in compared:
        by_conclusion.setdefault(each.found.conclusion, []).append(each)
    if len(by_conclusion) == 1:
        return _alike(condition, baseline, compared)
    told = "; ".join(
        f"{conclusion} on {', '.join(each.metric for each in found)}{_qualified(found)}"
        for conclusion, found in by_conclusion.items()
    )
    return f"Mixed, {condition} compared with {baseline}: {told}."


def _alike(condition: str, baseline: str, compared: Sequence[_Compared]) -> str:
    """Return what is said of several metrics that all show the same."""
    conclusion = compared[0].found.conclusion
    effects = ", ".join(f"{each.metric} {each.effect}" for each in compared)
    count = f"{len(compared)} of {len(compared)} metrics"
    if conclusion in {"higher", "lower"}:
        scale = f" {compared[0].scale}" if len({each.scale for each in compared}) == 1 else ""
        return f"{condition} scored {conclusion} than {baseline} on {count}: {effects}{scale}{_qualified(compared)}."
    if conclusion == "cannot tell":
        if all(
            each.found.difference == 0 and each.found.ci_lower is None and not each.is_unclustered for each in compared
        ):
            return f"No sample differs between {condition} and {baseline} on {count}; there is no interval to give."
        return f"{condition} compared with {baseline}: {' '.join(_notes(compared))}"
    caution = (
        f" This does not say they are equal. {compared[0].how_many}" if conclusion == "no difference shown" else ""
    )
    return f"{conclusion.capitalize()} between {condition} and {baseline} on {count}: {effects}.{caution}"


def _qualified(compared: Sequence[_Compared], *, names_first: bool = False) -> str:
    """Return what the conclusions of some metrics do not hold against, once; by name, if not of all."""
    metrics = [each for each in compared if each.found.qualification]
    if not metrics:
        return ""
    qualification = metrics[0].found.qualification
    if len(metrics) == len(compared):
        return f", {qualification}"
    which = ", ".join(each.metric for each in metrics)
    return f"; {which}: {qualification}" if names_first else f", {qualification} ({which})"


def _nothing_scored(name: str, score: ConditionScore | None) -> str:
    failed = _kinds_of_failure(score)
    if score is not None and score.not_done == 0 and not score.expected:
        return f"Nothing of {name} is to be scored: {_why_not_to_be_scored(score)}."
    if score is None or score.not_done or not failed:
        return f"Nothing of {name} is scored yet{f'; failed: {failed}' if failed else ''}."
    return f"Nothing of {name} was scored: {failed}. See its failures."


def _why_not_to_be_scored(score: ConditionScore) -> str:
    """Return why no answer is, or could be, a number, as far as it is counted why: an older event may not say it."""
    inapplicable, outside = (statistic(score, why) != 0 for why in ("not_applicable", "not_sampled"))
    if not inapplicable:
        return "its answers are in no judge's share"
    return "no metric applies to its answers" + (", or they are in no judge's share" if outside else "")


def _is_asked_again(score: ConditionScore) -> bool:
    """Return whether some of it is not done, or failed, and not by the agent: the same command tries that again."""
    return score.not_done != 0 or any(kind not in failure_kinds.AGENT_FAILED for kind in score.failed)


def _most_failures(name: str, compared: Sequence[_Compared]) -> ConditionScore | None:
    """Return the score that tells of most of a condition's failures: a judge may be for some samples only."""
    scores = [score for each in compared if (score := each.table.score(name)) is not None]
    return max(scores, key=lambda score: sum(score.failed.values()), default=None)


def _kinds_of_failure(score: ConditionScore | None) -> str:
    return ", ".join(f"{kind} {times}" for kind, times in score.failed.items()) if score else ""


def _said(each: _Compared) -> str:
    """Return the sentence of one difference."""
    if each.found.is_open:
        return _not_decided(each)
    return _SENTENCES[each.found.conclusion](each)


def _direction(each: _Compared) -> str:
    found = each.found
    than = f"{found.condition} scored {found.conclusion} than {found.baseline}"
    if found.ci_lower is None:
        amount = f"{each.points(found.difference)} on each of {found.n_paired} samples"
        return f"{than} on {each.metric}: {amount} {each.scale}{each.qualification}{each.test('; ')}."
    if is_at_most_alpha(statistic(found, "p_equivalent")):
        less = f"by less than the {each.margin} that you declared to matter"
        return f"{than} on {each.metric}, {less}: {each.effect}{each.qualification}."
    counts = f"better on {found.wins}, equal on {found.ties}, worse on {found.losses}"
    return (
        f"{than} on {each.metric}: {each.effect} {each.scale}{each.qualification}. {found.n_paired} samples: {counts}."
    )


def _between(each: _Compared) -> str:
    return f"between {each.found.condition} and {each.found.baseline} on {each.metric}"


def _not_shown(each: _Compared) -> str:
    return (
        f"No difference shown {_between(each)}: {each.effect}. "
        f"The data fit anything in that range; this does not say they are equal. {each.how_many}"
    )


def _within_margin(each: _Compared) -> str:
    return f"No difference within {each.margin} {_between(each)}: {each.effect}."


def _borderline(each: _Compared) -> str:
    but = "though" if is_at_most_alpha(statistic(each.found, "p")) else "but"
    return f"Borderline on {each.metric}: {each.effect}{each.test(f', {but} ')}. Treat it as not shown."


def _not_decided(each: _Compared) -> str:
    """Return what is to be said where a stopping rule cannot tell, or of what it does not decide."""
    return f"Cannot tell {_between(each)}: {each.found.reasons.get('conclusion', 'not decided')}; {each.effect}."


def _cannot_tell(each: _Compared) -> str:
    found = each.found
    if found.difference is None:
        return f"Cannot tell: {found.reasons.get('conclusion', 'there is no difference')} ({each.metric})."
    if found.n_paired < FEWEST_SAMPLES:
        return f"Cannot tell: {_samples_are(found.n_paired)} too few for an interval. {_means(each)}"
    if found.ci_lower is None and each.is_unclustered:
        return f"Cannot tell {_between(each)}: {found.reasons.get('conclusion', 'there is no interval')}."
    if found.ci_lower is None and not found.difference:
        samples = counted(found.n_paired, "sample")
        return f"No sample differs {_between(each)} ({samples}); there is no interval to give."
    if found.ci_lower is None and not is_at_most_alpha(statistic(found, "p")):
        all_differ = f"all {found.n_paired} samples differ by {each.points(found.difference)}"
        clusters = statistic(found, "n_clusters")
        too_few = "which is too few" if clusters is None else f"and {counted(clusters, 'cluster')} are too few"
        return f"Cannot tell: {all_differ} on {each.metric}, {too_few} to rule out chance{each.test('; ')}."
    if found.reasons.get("conclusion") == NOTHING_SCORED:
        why, then = NOTHING_SCORED, ""
    else:
        why, then = f"{each.lacking or 'too much'} was not measured, {_could(found)}", each.way_out
    return f"Cannot tell: {why} ({each.metric} {each.effect}).{then}"


def _means(each: _Compared) -> str:
    """Return the means of both conditions, and of how many samples they are where these are not the paired ones."""
    means = " and ".join(each.points(score.mean, sign=False) for score in each.scores)
    numbers = [*dict.fromkeys(score.n_samples for score in each.scores)]
    of = f"{'each of ' if len(numbers) == 1 else 'of '}{' and '.join(map(str, numbers))} samples"
    return f"The means of {each.metric} are {means}{'' if numbers == [each.found.n_paired] else f', {of}'}."


def _could(found: Difference) -> str:
    """Return what might come of that which was not measured."""
    # Of samples that all differ alike there is no interval, and the test alone decides.
    if found.ci_lower is None or found.ci_upper is None:
        shows = is_at_most_alpha(statistic(found, "p"))
    else:
        shows = found.ci_lower > 0 or found.ci_upper < 0
    return f"and it could {'turn the result round' if shows else 'show a difference'}"


def _samples_are(number: int) -> str:
    return f"{counted(number, 'sample')} {'is' if number == 1 else 'are'}"


def _missing(score: ConditionScore) -> str | None:
    """Return how much of a condition was not measured or not done, and why; None for nothing."""
    if not (score.not_measured or score.not_done):
        return None
    kinds = [f"{kind} {times}" for kind, times in score.failed.items() if kind not in failure_kinds.AGENT_FAILED]
    if score.not_done:
        kinds.append(f"not scored yet {score.not_done}")
    return f"{share(score.missing_share)} of {score.condition}" + (f" ({', '.join(kinds)})" if kinds else "")


_SENTENCES: Mapping[Conclusion, Callable[[_Compared], str]] = {
    "higher": _direction,
    "lower": _direction,
    "no difference within margin": _within_margin,
    "no difference shown": _not_shown,
    "borderline": _borderline,
    "cannot tell": _cannot_tell,
}
