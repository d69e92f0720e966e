from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atanh, sqrt

import duckdb
import numpy as np
import pytest

from keval.projections import rows
from keval.projections.sql_file import load
from keval.stats.agreement import (
    QUADRATIC,
    coefficients,
    correlations,
    kappa_interval,
    kappas,
    rank_correlation_interval,
    resampled_kappa_interval,
)

D = [(5, 5), (4, 4), (4, 3), (3, 3), (2, 2), (5, 4), (1, 2), (3, 3), (4, 5), (2, 2), (5, 5), (3, 1)]
"""Example D of the specification: 12 items on a scale from 1 to 5."""

N = None
RAW_4_RATERS = [
    (1, 1, N, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
    (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (N, 5, 5, 5), (N, N, 1, 1), (N, N, 3, N),
]  # fmt: skip
"""`cac.raw4raters` of irrCAC: 12 items, 4 raters, with gaps."""

WIKIPEDIA = [
    (N, 1, N), (N, N, N), (N, 2, 2), (N, 1, 1), (N, 3, 3), (3, 3, 4), (4, 4, 4), (1, 3, N),
    (2, N, 2), (1, N, 1), (1, N, 1), (3, N, 3), (3, N, 3), (N, N, N), (3, N, 4),
]  # fmt: skip
"""15 items, 3 raters of Wikipedia's article on Krippendorff's alpha."""

ABSTRACTORS = [(1, 1)] * 13 + [(2, 2)] * 20 + [(2, 3)] * 7 + [(3, 2)] * 4 + [(3, 3)] * 56
"""`cont3x3abstractors` of irrCAC: 100 items, 2 raters, 3 categories."""

PARADOX = [(5, 5)] * 48 + [(4, 5), (5, 4)]

Ratings = Sequence[Sequence[int | None]]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database for all tests of this file: none of them leaves anything in it."""
    with duckdb.connect() as made:
        yield made


def pairs_of(pairs: Sequence[tuple[int, int]], span: int | None) -> str:
    values = ", ".join(f"(1, 's{number}', 'r{number}', {a}, {b})" for number, (a, b) in enumerate(pairs))
    names = "series, sample_id, response_id, a, b"
    return f"from (values {values}) as p({names}), (values ({span or 'null'}::double)) as scale(span)"


def ratings_of(units: Ratings, span: int | None) -> str:
    values = ", ".join(
        f"(1, {unit}, {rater}, {value})"
        for unit, row in enumerate(units)
        for rater, value in enumerate(row)
        if value is not None
    )
    names = "series, unit, rater, value"
    return f"from (values {values}) as r({names}), (values ({span or 'null'}::double)) as scale(span)"


def found(
    connection: duckdb.DuckDBPyConnection, units: Ratings, span: int | None, pairs: Sequence[tuple[int, int]] = D
) -> dict[str, float | None]:
    return coefficients(connection, pairs_of(pairs, span), ratings_of(units, span))[1]


@pytest.mark.parametrize(
    ("units", "span", "expected"),
    [
        (
            D, 4,
            {"qwk": 0.797468, "qwk_se": 0.090018, "kappa": 0.469027, "ac1": 0.482201, "ac2": 0.844282,
             "alpha_nominal": 0.488889, "alpha_ordinal": 0.838891, "alpha_interval": 0.805085},
        ),
        (
            RAW_4_RATERS, 4,
            {"alpha_nominal": 0.743421, "alpha_interval": 0.849107, "alpha_ordinal": 0.815388,
             "ac1": 0.775444, "ac2": 0.914001},
        ),
        (WIKIPEDIA, 3, {"alpha_nominal": 0.691358, "alpha_interval": 0.810845}),
        (ABSTRACTORS, 2, {"kappa": 0.7964094, "ac1": 0.8493305}),
        (PARADOX, 4, {"qwk": -0.0204, "alpha_ordinal": -0.0102, "ac2": 0.9974}),
    ],
    ids=["example D", "irrCAC raw4raters", "Wikipedia", "irrCAC abstractors", "paradox"],
)  # fmt: skip
def test_published_numbers_come_out(
    connection: duckdb.DuckDBPyConnection, units: Ratings, span: int, expected: dict[str, float]
) -> None:
    """Coefficients are those of sklearn, statsmodels, krippendorff and irrCAC for the same ratings, gaps included."""
    pairs = [(row[0], row[1]) for row in units if len(row) == 2 and row[0] is not None and row[1] is not None]
    values = found(connection, units, span, pairs or D)
    for name, value in expected.items():
        digits = 4 if abs(value * 1e4 - round(value * 1e4)) < 1e-6 else 6
        assert values[name] == pytest.approx(value, abs=0.6 * 10**-digits), name


def test_the_summary_of_example_d(connection: duckdb.DuckDBPyConnection) -> None:
    """58 % exact, 92 % within one step, bias +1/6 and MAE 0.5; of 12 samples the clustered error is the plain one."""
    (row,) = rows(connection, load("stats", "pair_summary", pairs=pairs_of(D, 4)))
    assert (row["pairs"], row["samples"]) == (12, 12)
    expected = {"exact": 7 / 12, "within_one": 11 / 12, "bias": 1 / 6, "mae": 0.5}
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    differences = [a - b for a, b in D]
    plain = sqrt(sum((each - 1 / 6) ** 2 for each in differences) / 11 / 12)
    assert row["bias_se"] == pytest.approx(plain)


def test_the_error_of_the_bias_is_clustered_by_sample(connection: duckdb.DuckDBPyConnection) -> None:
    """Each pair twice, of the same samples, is no more data: the error stays; one sample has none."""
    doubled = " union all ".join([pairs_of(D, 4)] * 2)
    (once,) = rows(connection, load("stats", "pair_summary", pairs=pairs_of(D, 4)))
    (twice,) = rows(connection, load("stats", "pair_summary", pairs=doubled))
    assert (twice["pairs"], twice["bias_se"]) == (24, pytest.approx(once["bias_se"]))
    (alone,) = rows(connection, load("stats", "pair_summary", pairs=pairs_of(D[:1], 4)))
    assert alone["bias_se"] is None


def test_what_is_undefined_is_null(connection: duckdb.DuckDBPyConnection) -> None:
    """One category on both sides has no kappa and no alpha, though all agree; a scale without steps has alphas only."""
    same = found(connection, [(5, 5)] * 6, 4, [(5, 5)] * 6)
    assert {name for name, value in same.items() if value is None} == {
        "kappa", "qwk", "qwk_se", "alpha_nominal", "alpha_ordinal", "alpha_interval",
    }  # fmt: skip
    assert same["ac2"] == 1
    assert set(found(connection, D, None)) == {"alpha_nominal", "alpha_ordinal", "alpha_interval"}


def test_categories_are_those_of_the_scale(connection: duckdb.DuckDBPyConnection) -> None:
    """A category that nobody used counts for chance: AC1 of the same ratings differs with the scale, kappa does not."""
    short, long = (found(connection, ABSTRACTORS, span, ABSTRACTORS) for span in (2, 9))
    assert short["kappa"] == pytest.approx(long["kappa"], abs=1e-12)
    assert short["ac1"] != long["ac1"]


def test_both_ways_to_weighted_kappa_are_one(connection: duckdb.DuckDBPyConnection) -> None:
    """What resampling computes from sums is what SQL computes from cells; swapping the raters changes neither."""
    random = np.random.default_rng(3)
    drawn = [random.integers(1, 6, size=(random.integers(2, 12), 2)).tolist() for _ in range(150)]
    every = [*drawn, *([(b, a) for a, b in pairs] for pairs in drawn)]
    values = ", ".join(f"({number}, {a}, {b}, 4.0)" for number, pairs in enumerate(every) for a, b in pairs)
    query = load("stats", "kappa", pairs=f"from (values {values}) as p(series, a, b, span)", weight=QUADRATIC)
    by_sql = {row["series"]: row["kappa"] for row in rows(connection, query)}
    for number, pairs in enumerate(drawn):
        (of_sums,) = kappas(np.array([[(1, a, b, a * a, b * b, a * b) for a, b in pairs]], dtype=float).sum(axis=1))
        for found_in_sql in (by_sql[number], by_sql[number + len(drawn)]):
            assert found_in_sql == (None if np.isnan(of_sums) else pytest.approx(of_sums, abs=1e-9))


def test_the_interval_by_the_formula() -> None:
    """That of example D, and never beyond -1 and 1."""
    assert kappa_interval(0.797468, 0.090018) == pytest.approx((0.621036, 0.973900), abs=2e-6)
    assert kappa_interval(0.98, 0.1)[1] == 1


def test_the_interval_by_resampling_is_of_samples_and_repeatable() -> None:
    """The same seed gives the same interval; pairs of one sample count as one; too little gives none."""
    sums = [(1, a, b, a * a, b * b, a * b) for a, b in D] * 3
    low, high = resampled_kappa_interval(sums, 0)
    assert low is not None
    assert high is not None
    assert low < 0.797468 < high
    assert resampled_kappa_interval(sums, 0) == (low, high) != resampled_kappa_interval(sums, 1)
    together = [[3 * each for each in row] for row in sums[:12]]
    wide = resampled_kappa_interval(together, 0)
    assert wide[1] is not None
    assert wide[0] is not None
    assert wide[1] - wide[0] > 1.4 * (high - low)
    assert resampled_kappa_interval(sums[:4], 0) == (None, None)
    assert resampled_kappa_interval([(1, a, a, a * a, a * a, a * a) for a, _ in D], 0) == (None, None)
    assert resampled_kappa_interval([(1, 5, 5, 25, 25, 25)] * 9 + [(1, 4, 5, 16, 25, 20)], 0) == (None, None)


def test_correlations_and_their_interval() -> None:
    """Kendall, Pearson and Spearman as scipy has them; what does not vary has none, nor has too little an interval."""
    a, b = zip(*D, strict=True)
    assert correlations(a, b) == pytest.approx(
        {"pearson": 0.804722, "spearman": 0.846154, "kendall": 0.732143}, abs=1e-6
    )
    assert correlations([1, 1, 1], [1, 2, 3]) == dict.fromkeys(("pearson", "spearman", "kendall"))
    low, high = rank_correlation_interval(0.5, 28)
    assert low is not None
    assert high is not None
    assert atanh(high) - atanh(0.5) == pytest.approx(1.959964 * sqrt(1.125 / 25), abs=1e-6)
    assert rank_correlation_interval(0.5, 4) == rank_correlation_interval(1.0, 50) == (None, None)
