"""Says which judges of an imported file are others than those that the log has by the same names.

A judge is known by its model and its metrics, so a file with one metric more has another judge, whose scores are
compared with none. A threshold is no part of it: it says only what passes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from keval.config.import_mapping import IMPORTED, ForeignJudge
from keval.counted import first_of
from keval.ids import JsonObject


@dataclass(frozen=True)
class ImportedJudges:
    """The judges of what was imported into a log before."""

    _known: dict[str, dict[str, str]] = field(default_factory=dict)
    """By name and id: their models and metrics."""
    _thresholds: dict[str, dict[str, dict[str, float | None]]] = field(default_factory=dict)
    """By id and condition: from which score on each metric passes."""

    def take(self, line: JsonObject) -> None:
        """Take note of an event of the log."""
        if line["type"] == "run":
            for judge in line["judges"]:
                if judge["type"] == IMPORTED:
                    self._known.setdefault(judge["name"], {})[judge["judge_id"]] = _model_and_metrics(judge)
                    passing = {metric["name"]: metric.get("pass_from") for metric in judge["metrics"]}
                    by_condition = self._thresholds.setdefault(judge["judge_id"], {})
                    by_condition.update(dict.fromkeys(line["conditions"] or (), passing))

    def warnings_of(self, judges: Sequence[ForeignJudge], conditions: Collection[str]) -> Iterator[str]:
        """Yield what is to be said of the judges of a file, which has answers under these conditions."""
        for judge in judges:
            yield from self._other_thresholds(judge, conditions)
            known = self._known.get(judge.name, {})
            if known and judge.judge_id not in known:
                here, there = _model_and_metrics(judge.described()), " or ".join(known.values())
                yield (
                    f"the judge {judge.name} has {here} here, and {there} in the log: these are two judges, whose "
                    "scores are not compared; what both have can be compared if both files are imported with a "
                    "mapping (-c) of the same model and metrics"
                )

    def _other_thresholds(self, judge: ForeignJudge, conditions: Collection[str]) -> Iterator[str]:
        others = {name: of for name, of in self._thresholds.get(judge.judge_id, {}).items() if name not in conditions}
        for metric in judge.described()["metrics"]:
            here, name = metric.get("pass_from"), metric["name"]
            differing = [condition for condition, passing in others.items() if passing.get(name) != here]
            there = " or ".join(dict.fromkeys(_from(others[condition].get(name)) for condition in differing))
            if differing:
                yield (
                    f"the judge {judge.name} passes {name} {_from(here)} here, and {there} under "
                    f"{first_of(differing)} in the log: their pass rates are not alike; import one of them "
                    "with the `pass_from` of the other, or name one by --pass-from"
                )


def _from(threshold: float | None) -> str:
    return "from no score on" if threshold is None else f"from {threshold:g}"


def _model_and_metrics(judge: JsonObject) -> str:
    metrics = ", ".join(f"{metric['name']} from {metric['min']:g} to {metric['max']:g}" for metric in judge["metrics"])
    return metrics if judge["model"] is None else f"{metrics} by {judge['model']}"
