"""Lays out how far raters agree, for the formats that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from keval.counted import counted
from keval.exports._blocks import Cell, Lines, Section, Table
from keval.readable import NOTHING, count, interval, number, percent
from keval.reports.agreement import FIXED, Agreement, JudgeVariation
from keval.reports.judge_diagnostics import Diagnostic
from keval.stats.judge_variance import JudgeVariance

COEFFICIENTS = (
    ("Krippendorff's alpha, nominal", "alpha_nominal"),
    ("Krippendorff's alpha, ordinal", "alpha_ordinal"),
    ("Krippendorff's alpha, interval", "alpha_interval"),
    ("Cohen's kappa, unweighted", "kappa"),
    ("Gwet's AC1", "ac1"),
    ("Pearson", "pearson"),
    ("Spearman", "spearman"),
    ("Kendall's tau-b", "kendall"),
)

MOST_CATEGORIES = 11
"""Of a longer scale the confusion matrix shows only the scores that somebody gave."""

TWO_SCORES = 2
"""Categories of a scale on which any two scores are at most one step apart: to say so would tell nothing."""

NOT_PAIRED = (
    "no answer was scored twice by the same metric and scale; of what people said only scores count, "
    "which `keval label LOG --scores` asks for; what labels of verdicts say, `keval calibrate LOG` tells"
)

NOTES = (
    "Pairs are scores of the same answer. Bias is the mean of the first one's score minus the second one's.",
    "QWK is Cohen's kappa with quadratic weights, AC2 Gwet's coefficient with the same, over all steps of the scale.",
    "Each number misleads in some case: read them together. Only bias and QWK have an interval.",
)


def sections(
    found: Sequence[Agreement], variations: Sequence[JudgeVariation], diagnostics: Sequence[Diagnostic] | None
) -> list[Section]:
    """Return the sections in reading order; `diagnostics` is None if nobody asked for any."""
    made = [_section(each) for each in found]
    if not found:
        made.append(Section("Agreement", (Lines(((NOT_PAIRED,),)),)))
    if variations:
        made += _variations(variations)
    if diagnostics is not None:
        made.append(_diagnostics(diagnostics))
    if found:
        made.append(Section("Notes", (Lines(tuple((note,) for note in NOTES)),)))
    return made


def who(found: Agreement) -> str:
    """Return who is compared with whom, by which metric."""
    if found.kind == "replicates":
        return f"{found.metric}: replicates of {found.first}"
    if found.kind == "labels":
        return f"{found.metric}: {found.first} and people"
    return f"{found.metric}: {found.first} and {found.second}"


def _section(found: Agreement) -> Section:
    numbers = Table((), tuple(_rows(found)))
    lines = [*found.notes, *(f"{name}: {reason}" for name, reason in _why(found))]
    matrix = (_confusion(found),) if found.categories else ()
    return Section(who(found), (numbers, *matrix, *((Lines(tuple((line,) for line in lines)),) if lines else ())))


def _rows(found: Agreement) -> Iterator[tuple[Cell, ...]]:
    yield "pairs", f"{count(found.pairs)} from {counted(found.samples, 'sample')}, scale {found.min:g} to {found.max:g}"
    yield "exact agreement", percent(found.exact)
    if len(found.categories) != TWO_SCORES:
        yield "at most one step apart", percent(found.within_one)
    yield "bias (mean difference)", f"{number(found.bias, '+')} {_ci(found.bias_lower, found.bias_upper, '+')}".rstrip()
    yield "mean absolute difference", number(found.mae)
    yield "QWK", f"{_three(found.qwk)} {_ci(found.qwk_lower, found.qwk_upper)}".rstrip()
    yield "AC2", _three(found.ac2)
    for label, name in COEFFICIENTS:
        yield label, _three(getattr(found, name))


def _why(found: Agreement) -> Iterator[tuple[str, str]]:
    """Yield why some numbers are missing, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in found.reasons.items():
        by_reason.setdefault(reason, []).append(name.replace("_lower", " interval").replace("_", " "))
    return ((", ".join(names), reason) for reason, names in by_reason.items())


def _confusion(found: Agreement) -> Table:
    """Return the matrix without rows and columns of nothing, if the scale is long."""
    given = {place for place, row in enumerate(found.confusion) if any(row)}
    given |= {place for row in found.confusion for place, pairs in enumerate(row) if pairs}
    used = [
        place for place in range(len(found.categories)) if len(found.categories) <= MOST_CATEGORIES or place in given
    ]
    second = "people" if found.kind == "labels" else found.second
    return Table(
        (f"{found.first} ↓ {second} →", *(f"{found.categories[place]:g}" for place in used)),
        tuple((f"{found.categories[row]:g}", *(count(found.confusion[row][place]) for place in used)) for row in used),
        by_condition=True,
    )


VARIANCE: tuple[tuple[str, Callable[[JudgeVariance], str]], ...] = (
    ("responses judged again", lambda v: f"{count(v.repeated)} of {count(v.responses)}"),
    ("SD between judgments", lambda v: number(v.sd)),
    ("variance, 95 % CI", lambda v: interval(v.variance_lower, v.variance_upper)),
    ("SE of a response's score", lambda v: number(v.se_of_score)),
    ("reliability of a judgment", lambda v: _three(v.reliability)),
    ("reliability of a response's score", lambda v: _three(v.reliability_of_mean)),
    ("judged the same each time", lambda v: percent(v.identical_share)),
    ("furthest apart", lambda v: number(v.most_spread)),
)


def _variations(variations: Sequence[JudgeVariation]) -> Iterator[Section]:
    """Yield a section for each judge and metric, its conditions side by side."""
    for name, of_metric in groupby(variations, key=lambda each: f"{each.metric}: variation of {each.judge}"):
        found = list(of_metric)
        table = Table(
            ("", *(each.condition for each in found)),
            tuple((label, *(show(each.variance) for each in found)) for label, show in VARIANCE),
            by_condition=True,
        )
        fixed = ((FIXED,),) if all(each.variance.is_deterministic for each in found) else ()
        yield Section(name, (table, Lines(fixed)) if fixed else (table,))


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> Section:
    lines = tuple((_line(each),) for each in diagnostics) or (("no judge scored an answer",),)
    return Section("Diagnostics", (Lines(lines),))


def _line(found: Diagnostic) -> str:
    of = f"{found.judge}/{found.metric}, {found.name}: "
    if found.value is None:
        return f"{of}{found.sentence}"
    value = f"{_three(found.value)} {_ci(found.ci_lower, found.ci_upper)}".rstrip()
    return f"{of}{value}, {count(found.n)} samples: {found.sentence}"


def _three(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _ci(low: float | None, high: float | None, sign: str = "") -> str:
    return "" if low is None or high is None else f"95 % CI {interval(low, high, sign)}"
