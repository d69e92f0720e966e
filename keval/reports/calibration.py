"""Says of each judge of a report whether people checked it, and whether what they checked is this judge."""

from __future__ import annotations

from collections.abc import Mapping

from keval.counted import counted
from keval.ids import JsonObject


def calibration(judge: JsonObject, labels: Mapping[str, JsonObject]) -> str | None:
    """Return what is to be said of a judge's calibration; None for a program, which nobody calibrates.

    A calibration is of one judge_id: another model, rubric text or parameter makes another judge, and the labels stale.
    """
    if not judge["models"] and judge["type"] != "imported":  # of which nobody here knows whether a model was asked
        return None
    found = labels.get(judge["judge_id"])
    if found is not None and found["labels"]:
        return f"calibrated by {counted(found['labels'], 'label')}, the last one of {found['last'][:10]}"
    if found is not None and found["of_other_versions"]:
        return (
            f"stale: {counted(found['of_other_versions'], 'label')}, of another version of the judge; it changed since"
        )
    if found is not None and found["of_older_judgments"]:
        return f"stale: {counted(found['of_older_judgments'], 'label')}, of earlier answers or judgments"
    return "calibrated: no"
