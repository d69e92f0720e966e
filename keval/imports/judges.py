"""Says which judges of an imported file are others than those that the log has by the same names.

A judge is known by its model and its metrics, so a file with one metric more has another judge, whose scores are
compared with none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from keval.config.import_mapping import IMPORTED, ForeignJudge
from keval.ids import JsonObject


@dataclass(frozen=True)
class ImportedJudges:
    """The judges of what was imported into a log before."""

    _known: dict[str, dict[str, str]] = field(default_factory=dict)
    """By name and id: their models and metrics."""

    def take(self, line: JsonObject) -> None:
        """Take note of an event of the log."""
        if line["type"] == "run":
            for judge in line["judges"]:
                if judge["type"] == IMPORTED:
                    self._known.setdefault(judge["name"], {})[judge["judge_id"]] = _model_and_metrics(judge)

    def warnings_of(self, judges: Sequence[ForeignJudge]) -> Iterator[str]:
        """Yield what is to be said of the judges of a file."""
        for judge in judges:
            known = self._known.get(judge.name, {})
            if known and judge.judge_id not in known:
                here, there = _model_and_metrics(judge.described()), " or ".join(known.values())
                yield (
                    f"the judge {judge.name} has {here} here, and {there} in the log: these are two judges, whose "
                    "scores are not compared; what both have can be compared if both files are imported with a "
                    "mapping (-c) of the same model and metrics"
                )


def _model_and_metrics(judge: JsonObject) -> str:
    metrics = ", ".join(f"{metric['name']} from {metric['min']:g} to {metric['max']:g}" for metric in judge["metrics"])
    return metrics if judge["model"] is None else f"{metrics} by {judge['model']}"
