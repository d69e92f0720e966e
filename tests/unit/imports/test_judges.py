"""Scores of imported files that are compared with none are told at the import."""

from __future__ import annotations

from keval.config.import_mapping import ForeignJudge, ForeignMetric
from keval.documents.mapping import Value
from keval.ids import JsonObject
from keval.imports.judges import ImportedJudges


def judge(*metrics: str, model: str | None = None, pass_from: float | None = None) -> ForeignJudge:
    """Return a judge elsewhere with these metrics."""
    scales = ({"name": name, "min": 0, "max": 1, "pass_from": pass_from} for name in metrics)
    return ForeignJudge(
        "inspect", model, {str(each["name"]): ForeignMetric(Value("score"), None, each) for each in scales}
    )


def run(*judges: JsonObject) -> JsonObject:
    """Return a run with these judges, as far as it matters."""
    return {"type": "run", "judges": list(judges), "conditions": {"a": {}}}


def test_a_judge_with_another_metric_is_told() -> None:
    """With all lists of metrics; the same judge, and one of that name that no file brought, are not."""
    known = ImportedJudges()
    known.take(run(judge("match").described(), judge("words").described() | {"type": "rubric"}))
    (told,) = known.warnings_of([judge("match", "words")], ())
    assert told.startswith("the judge inspect has match from 0 to 1, words from 0 to 1 here, and match from 0 to 1 in")
    assert list(known.warnings_of([judge("match")], ())) == []
    known.take(run(judge("match", model="m1").described()))
    (told,) = known.warnings_of([judge("match", model="m2")], ())
    assert "has match from 0 to 1 by m2 here, and match from 0 to 1 or match from 0 to 1 by m1 in the log" in told
    assert list(ImportedJudges().warnings_of([judge("match", "words")], ())) == []


def test_two_thresholds_of_one_judge_are_told() -> None:
    """Pass rates of two conditions would differ by them alone; one that is imported anew has one threshold."""
    known = ImportedJudges()
    known.take(run(judge("match", pass_from=1).described()))
    (told,) = known.warnings_of([judge("match", pass_from=0.5)], {"b": None})
    assert told.startswith("the judge inspect passes match from 0.5 here, and from 1 under a in the log")
    (told,) = known.warnings_of([judge("match")], {"b": None})
    assert "passes match from no score on here" in told
    assert list(known.warnings_of([judge("match", pass_from=0.5)], {"a": None})) == []
    assert list(known.warnings_of([judge("match", pass_from=1)], {"b": None})) == []
    known.take(run(judge("match", pass_from=0.9).described()) | {"conditions": {"c": {}, "d": {}}})
    (told,) = known.warnings_of([judge("match", pass_from=0.5)], {"b": None})
    assert "and from 1 or from 0.9 under a, c, d in the log" in told
