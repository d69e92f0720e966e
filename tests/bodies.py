"""Bodies of `aggregate` and `comparison` events that tests make up: 30 samples, nothing failed."""

from __future__ import annotations

from typing import Any

from keval.ids import JsonObject


def aggregate(condition: str, **changes: object) -> JsonObject:
    """Return the body of an aggregate event: 30 samples, 3 repetitions, all scored."""
    body: dict[str, Any] = {
        "type": "aggregate",
        "level": "condition",
        "condition": condition,
        "condition_id": f"{condition}-id",
        "agent_id": "agent-id",
        "judge": "rubric",
        "judge_id": "judge-id",
        "metric": "completeness",
        "sample_id": None,
        "min": 1,
        "max": 5,
        "current": True,
        "mock": False,
        "planned": 90,
        "scored": 90,
        "agent_failed": 0,
        "not_measured": 0,
        "not_done": 0,
        "failed": {},
        "n_samples": 30,
        "n_responses": 90,
        "n_judgments": 180,
        "mean": 3.0,
        "mean_complete_case": 3.0,
        "mean_lower": 3.0,
        "mean_upper": 3.0,
        "var_between_samples": 1.0,
        "sd_between_samples": 1.0,
        "var_within_sample": 0.25,
        "sd_within_sample": 0.5,
        "se": 0.18,
        "ci_lower": 2.6,
        "ci_upper": 3.4,
        "ci_level": 0.95,
        "ci_method": "t",
        "reasons": {},
    }
    return {**body, **changes}


def comparison(condition: str, lower: float | None, upper: float | None, **changes: object) -> JsonObject:
    """Return the body of a comparison event of a condition with `baseline`."""
    body: dict[str, Any] = {
        "type": "comparison",
        "baseline": "baseline",
        "condition": condition,
        "baseline_id": "baseline-id",
        "condition_id": f"{condition}-id",
        "agent_id": "agent-id",
        "judge": "rubric",
        "judge_id": "judge-id",
        "metric": "completeness",
        "current": True,
        "mock": False,
        "n_paired": 30,
        "n_dropped": 0,
        "difference": None if lower is None or upper is None else (lower + upper) / 2,
        "sd_difference": 0.5,
        "se": 0.1,
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_level": 0.95,
        "ci_method": "t",
        "wins": 20,
        "ties": 5,
        "losses": 5,
        "reasons": {},
    }
    return {**body, **changes}
