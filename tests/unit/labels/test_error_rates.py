from __future__ import annotations

from math import sqrt
from pathlib import Path

import orjson
import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.labels.error_rates import ForeignCalibration, PassShare, RatesCorrection, corrected_by, read
from keval.stats.proportions import effective_size
from keval.stats.rogan_gladen import BEYOND, CHANCE, FEW_LABELS, ErrorRates

RATES = ErrorRates(0.7, 0.9, 200, 200)
ROW: JsonObject = {"judge": "rubric", "judge_id": "j1", "metric": "completeness", "condition": "baseline"}


def written(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "calibration.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def rates(specificity: float, failing: int, sensitivity: float = 0.9, passing: int = 10) -> JsonObject:
    return {"specificity": specificity, "sensitivity": sensitivity, "failing": failing, "passing": passing}


def test_all_conditions_of_a_judge_are_taken_together(tmp_path: Path) -> None:
    """Error rates of one judge and metric are pooled by their numbers; lines without any are passed over."""
    path = written(
        tmp_path,
        ROW | {"error_rates": rates(0.5, 10)},
        ROW | {"condition": "with_docs", "error_rates": rates(1.0, 30)},
        ROW | {"error_rates": None},
    )
    found, reason = read(path).of("rubric", "j1", "completeness")
    assert reason is None
    assert found is not None
    assert (found.specificity, found.sensitivity, found.failing, found.passing) == pytest.approx((0.875, 0.9, 40, 20))


def test_a_calibration_of_another_version_is_stale(tmp_path: Path) -> None:
    """The same name with another id is another judge: nothing is corrected, and the reason names both."""
    found = read(written(tmp_path, ROW | {"error_rates": rates(0.8, 10)}))
    assert found.of("rubric", "j2", "completeness") == (
        None, "stale: the calibration is of another version of the judge, j1, this is j2",
    )  # fmt: skip
    assert found.of("other", "j2", "completeness")[1] == "the calibration says nothing of this judge and metric"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (["no object"], ":1: not a line of"),
        ({"judge": "rubric"}, ":1: not a line of"),
        (ROW | {"error_rates": rates(0.5, 0)}, ":1: not a line of"),
        (ROW | {"error_rates": rates(80, 10)}, ":1: not a line of"),
        (ROW, "no error rates; they need answers of both kinds"),
    ],
)
def test_what_is_no_calibration_is_refused(tmp_path: Path, row: object, told: str) -> None:
    """Another file, rates of no answers, what is no share, and a file without rates are errors that say where."""
    with pytest.raises(InputError, match=told):
        read(written(tmp_path, row))


def test_pass_rates_are_corrected_by_samples() -> None:
    """The authors' example as 1,000 samples; a judge no better than chance, and no verdict, give null and why."""
    shares = {str(number): PassShare(float(number < 400), 1) for number in range(1000)}
    found = corrected_by(*ForeignCalibration(RATES).of("any", "j9", "any"), shares)
    assert found.number == 1000
    assert (found.corrected, found.ci_lower, found.ci_upper) == pytest.approx((0.1666667, 0.0563507, 0.2627330))
    chance = corrected_by(ErrorRates(0.4, 0.6, 9, 9), None, shares)
    assert (chance.corrected, chance.reason) == (None, CHANCE)
    assert corrected_by(RATES, None, {}).reason == "there is no verdict"
    assert corrected_by(None, "stale", shares).as_json()["reason"] == "stale"


def test_ends_that_are_no_interval_are_null() -> None:
    """Of few samples there is none, nor where both ends are cut off: such a judge would pass a fifth by mistake."""
    found = ErrorRates(0.8, 0.9, 50, 60)
    few = corrected_by(found, None, {str(number): PassShare(float(number < 3), 1) for number in range(4)})
    assert (few.ci_lower, few.ci_upper, few.reason) == (None, None, "fewer than 5 samples")
    none_passes = corrected_by(found, None, {str(number): PassShare(0.0, 1) for number in range(40)})
    assert (none_passes.corrected, none_passes.ci_lower, none_passes.ci_upper) == (0.0, None, None)
    assert none_passes.reason == BEYOND
    all_pass = corrected_by(found, None, {str(number): PassShare(1.0, 1) for number in range(4000)})
    assert (all_pass.corrected, all_pass.ci_upper, all_pass.reason) == (1.0, None, BEYOND)
    five = corrected_by(found, None, {str(number): PassShare(float(number < 3), 1) for number in range(5)})
    assert (five.reason, five.ci_lower is None) == (None, False)
    guessed = corrected_by(ErrorRates(1, 0.02, 1, 1000), None, {str(n): PassShare(float(n < 1), 1) for n in range(100)})
    assert (guessed.ci_lower, guessed.reason) == (None, FEW_LABELS)


def test_samples_in_clusters_are_as_many_cases_as_there_are_clusters() -> None:
    """Ten clusters of twenty that all answer alike tell no more than ten samples; what is unclear has no interval."""
    perfect = ErrorRates(1, 1, 10**9, 10**9)

    def found(clusters: int, **changes: object) -> RatesCorrection:
        shares = {
            str(number): PassShare(float(number % 2), 1, str(number % clusters), is_clustered=True)
            for number in range(200)
        }
        shares["0"] = shares["0"]._replace(**changes)  # type: ignore[arg-type]  # any field
        return corrected_by(perfect, None, shares)

    together = found(10)
    assert together.number == pytest.approx(effective_size(0.5, sqrt(0.25 / 9), 200, 200, 9))
    assert (together.ci_lower or 0) < 0.25
    assert (found(1).ci_lower, found(1).reason) == (None, "one cluster")
    assert (found(10, cluster=None).ci_lower, found(10, cluster=None).reason) == (None, "samples without a cluster: 1")
