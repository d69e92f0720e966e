"""Scores of imported files that are compared with none are told at the import."""

from __future__ import annotations

from keval.config.import_mapping import ForeignJudge, ForeignMetric
from keval.documents.mapping import Value
from keval.ids import JsonObject
from keval.imports.judges import ImportedJudges


def judge(*metrics: str, model: str | None = None) -> ForeignJudge:
    """Return a judge elsewhere with these metrics."""
    scales = ({"name": name, "min": 0, "max": 1} for name in metrics)
    return ForeignJudge(
        "inspect", model, {str(each["name"]): ForeignMetric(Value("score"), None, each) for each in scales}
    )


def run(*judges: JsonObject) -> JsonObject:
    """Return a run with these judges, as far as it matters."""
    return {"type": "run", "judges": list(judges)}


def test_a_judge_with_another_metric_is_told() -> None:
    """With all lists of metrics; the same judge, and one of that name that no file brought, are not."""
    known = ImportedJudges()
    known.take(run(judge("match").described(), judge("words").described() | {"type": "rubric"}))
    (told,) = known.warnings_of([judge("match", "words")])
    assert told.startswith("the judge inspect has match from 0 to 1, words from 0 to 1 here, and match from 0 to 1 in")
    assert list(known.warnings_of([judge("match")])) == []
    known.take(run(judge("match", model="m1").described()))
    (told,) = known.warnings_of([judge("match", model="m2")])
    assert "has match from 0 to 1 by m2 here, and match from 0 to 1 or match from 0 to 1 by m1 in the log" in told
    assert list(ImportedJudges().warnings_of([judge("match", "words")])) == []
