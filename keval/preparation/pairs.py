"""Finds the responses of each pair: one of a condition, and the baseline's to the same question and repetition.

The baseline's own response is a pair with itself, which is a tie by definition: so every response has its judgment, and
the difference of a condition to the baseline is how far its answers are preferred beyond one half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from keval.config.model import JudgeConfig
from keval.errors import UsageError
from keval.ids import JsonObject
from keval.logs.past import Past

NO_CONDITION = ""
"""The baseline where no run says which conditions there are: no response has it."""

BASELINE = "baseline"
"""The condition of imported answers that is the baseline, wherever it comes, if they have one of this name."""

Pair = tuple[JsonObject, JsonObject]
"""A response, and the baseline's."""


Conditions = Mapping[str, str]
"""The ids of a config's conditions by name, the baseline first."""


def is_import(run: JsonObject | None) -> bool:
    """Return whether an import wrote a `run` event: others may bring more conditions."""
    return run is not None and run["command"] == "import"


def condition_ids(run: JsonObject | None) -> dict[str, str]:
    """Return the ids of the conditions that a `run` event names, in its order, but the baseline first."""
    conditions = (run or {}).get("conditions") or {}
    baseline = ((run or {}).get("config") or {}).get("baseline") or (BASELINE if is_import(run) else None)
    return baseline_first({name: found["condition_id"] for name, found in conditions.items()}, baseline)


def baseline_first(conditions: Conditions, baseline: str | None) -> dict[str, str]:
    """Return the ids of conditions by name in their order, but the baseline first if one is named."""
    return {name: conditions[name] for name in sorted(conditions, key=lambda name: name != baseline)}


def configs_of(past: Past) -> list[dict[str, str]]:
    """Return the conditions of each config that has run in a log."""
    query = "select imported, config_name, condition, condition_id from config_conditions order by rank, place"
    return [
        {condition: condition_id for _, _, condition, condition_id in of_config}
        for _, of_config in groupby(past.rows(query), key=lambda row: row[:2])
    ]


def baseline_id(judge: JudgeConfig, conditions: Conditions) -> str | None:
    """Return the id of the condition with whose answers a judge compares; None for a judge of single responses.

    That is the condition of the judge's option `baseline`, else the first. Raises UsageError for one that is not there.
    """
    if judge.judge.unit != "pair":
        return None
    if judge.baseline is None or not conditions:
        return next(iter(conditions.values()), NO_CONDITION)
    unknown = judge.unknown_baseline(conditions)
    if unknown is not None:
        raise UsageError(unknown)
    return conditions[judge.baseline]


def pairing(judge: JudgeConfig, configs: Sequence[Conditions]) -> set[tuple[str, str]]:
    """Return with which other condition a judge of pairs compares each condition, by ids: that of the same config.

    Raises UsageError for a baseline that no config has.
    """
    having = [config for config in configs if judge.baseline is None or judge.baseline in config] or configs[-1:]
    baselines = ((config, baseline_id(judge, config)) for config in having)
    return {(one, other) for config, other in baselines if other is not None for one in config.values()}
