"""Says what a difference shows, in one of few words. There is no winner.

Two tests have to agree: the interval of Student's t must exclude 0, and the sign-flip test, which assumes less, must
be below alpha.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from keval.counted import counted
from keval.ids import JsonObject
from keval.readable import share
from keval.stats.intervals import FEWEST_SAMPLES, LEVEL
from keval.stats.reasons import ALL_ALIKE, NOTHING_SCORED, TOO_FEW

Conclusion = Literal[
    "higher", "lower", "no difference within margin", "no difference shown", "borderline", "cannot tell"
]

ALPHA = round(1 - LEVEL, 12)
"""A test is passed by a p up to this."""

EXPLORATORY = "exploratory"
"""What qualifies every conclusion about a group of samples."""

MOST_MISSING = 0.05
"""With a larger share of the planned answers missing, a difference must also survive the worst case."""


def concluded(body: JsonObject, baseline: JsonObject | None, condition: JsonObject | None) -> JsonObject:
    """Return a comparison's `conclusion`, its `qualification` and, where nothing can be told, why.

    `baseline` and `condition` are the bodies of both conditions' `aggregate` events, which tell how much is missing.
    """
    conclusion, why = _shown(body)
    if conclusion != "cannot tell" and baseline is not None and condition is not None:
        doubt = _doubt(conclusion, body, baseline, condition)
        if doubt is not None:
            conclusion, why = "cannot tell", doubt
    reasons = {**body["reasons"], **({} if why is None else {"conclusion": why})}
    return {"conclusion": conclusion, "qualification": _qualification(conclusion, body), "reasons": reasons}


def _shown(body: JsonObject) -> tuple[Conclusion, str | None]:
    """Return the conclusion from what was measured, and why it is none."""
    difference, lower, upper = body["difference"], body["ci_lower"], body["ci_upper"]
    reasons: Mapping[str, str] = body["reasons"]
    if difference is None:
        return "cannot tell", reasons.get("difference", "there is no difference in the input")
    if body["n_paired"] < FEWEST_SAMPLES:
        return "cannot tell", TOO_FEW
    p = body.get("p")
    is_tested = is_at_most_alpha(p)
    if lower is None or upper is None:
        # Every sample differs by the same amount, of which only the signs can be tested.
        direction: Conclusion = "higher" if difference > 0 else "lower"
        return (direction, None) if is_tested else ("cannot tell", _without_test(body))
    excludes_0 = lower > 0 or upper < 0
    if excludes_0 and (is_tested or p is None):
        return ("higher" if lower > 0 else "lower"), None
    if is_at_most_alpha(body.get("p_equivalent")):
        return "no difference within margin", None
    return ("borderline" if excludes_0 or is_tested else "no difference shown"), None


def _without_test(body: JsonObject) -> str:
    """Return why a difference that is the same of every sample is not shown: the signs of too few can be flipped."""
    why = str(body["reasons"].get("ci_lower", "no interval in the input"))
    if why != ALL_ALIKE:
        return why
    clusters = body.get("n_clusters")
    of = counted(body["n_paired"], "sample") if clusters is None else counted(clusters, "cluster")
    return f"{why}, and {of} are too few to rule out chance"


def is_at_most_alpha(p: float | None) -> bool:
    """Return whether a p is known, and as small as it takes to say something."""
    return p is not None and p <= ALPHA


def _qualification(conclusion: Conclusion, body: JsonObject) -> str | None:
    of_group = body.get("by") is not None
    adjusted = body.get("p_bh" if of_group else "p_holm")
    said = [EXPLORATORY] if of_group else []
    if conclusion in {"higher", "lower"} and adjusted is not None and adjusted > ALPHA:
        said.append(f"not after adjusting for {body['family_size']} comparisons")
    return ", ".join(said) or None


def _doubt(conclusion: Conclusion, body: JsonObject, baseline: JsonObject, condition: JsonObject) -> str | None:
    """Return why too much is missing for the conclusion to hold, or None; by Manski's worst case."""
    if conclusion.startswith("no difference") and not (baseline["scored"] and condition["scored"]):
        return NOTHING_SCORED
    lacking = [found for found in (baseline, condition) if missing_share(found) > MOST_MISSING]
    if not lacking or _bounds_agree(conclusion, body):
        return None
    shares = ", ".join(f"{found['condition']} {share(missing_share(found))}" for found in lacking)
    return f"answers not measured or not done: {shares}; they could change the result"


def missing_share(found: JsonObject) -> float:
    """Return the share of answers that were not measured or not done, of an `aggregate` body.

    It is taken of those that are, or could be, a number: what is not applicable, or not sampled, would only dilute it.
    """
    missing = found["not_measured"] + (found["not_done"] or 0)
    expected = found["scored"] + found["agent_failed"] + missing
    return float(missing / expected) if expected else 0.0


def _bounds_agree(conclusion: Conclusion, body: JsonObject) -> bool:
    lower, upper = body.get("difference_lower"), body.get("difference_upper")  # an older event has none
    if lower is None or upper is None:
        return False
    return bool(lower > 0) if conclusion == "higher" else conclusion == "lower" and bool(upper < 0)
