"""Puts the responses of two conditions side by side, for judges of pairs."""

from __future__ import annotations

from collections.abc import Iterable

from keval.ids import JsonObject


def pairs(responses: Iterable[JsonObject], baseline: str, condition: str) -> list[tuple[JsonObject, JsonObject]]:
    """Return each response of a condition with the baseline's to the same sample; both are condition ids.

    Both are of the same agent and the same repetition, and answer the same question. Of several responses to that
    the last counts. What has no partner is in no pair. Pairs come in the order in which the responses of
    `condition` first came.
    """
    found: dict[str, dict[tuple[str, str, int], JsonObject]] = {baseline: {}, condition: {}}
    for response in responses:
        if response["condition_id"] in found:
            found[response["condition_id"]][_place(response)] = response
    return [
        (response, found[baseline][place]) for place, response in found[condition].items() if place in found[baseline]
    ]


def _place(response: JsonObject) -> tuple[str, str, int]:
    return response["question_id"], response["agent_id"], response["repetition"]
