from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keval.execution.pairs import pairs
from keval.ids import JsonObject


def response(condition: str, question: str = "q1", repetition: int = 1, text: str = "", agent: str = "a") -> JsonObject:
    """Return what the planner reads of a response event."""
    return {
        "question_id": question,
        "condition_id": condition,
        "agent_id": agent,
        "repetition": repetition,
        "text": text,
    }


RESPONSES = st.lists(
    st.builds(
        response,
        condition=st.sampled_from(["base", "docs", "other"]),
        question=st.sampled_from(["q1", "q2"]),
        repetition=st.integers(1, 2),
        text=st.text(max_size=2),
        agent=st.sampled_from(["a", "b"]),
    )
)


def test_responses_to_one_question_in_one_repetition_are_paired() -> None:
    """The response of the condition comes first, that of the baseline second."""
    base, docs = response("base"), response("docs")
    other = response("other")
    assert pairs([base, other, docs], "base", "docs") == [(docs, base)]
    assert pairs([base, other, docs], "docs", "base") == [(base, docs)]


def test_what_has_no_partner_is_in_no_pair() -> None:
    """Another question, repetition or agent is no partner."""
    base = response("base")
    odd = [response("docs", question="q2"), response("docs", repetition=2), response("docs", agent="b")]
    assert pairs([base, *odd], "base", "docs") == []


def test_the_last_response_of_a_task_counts() -> None:
    """A task that was asked again keeps its place."""
    old, base, new = response("docs", text="old"), response("base"), response("docs", text="new")
    later = response("docs", question="q2"), response("base", question="q2")
    assert pairs([old, *later, base, new], "base", "docs") == [(new, base), later]


@given(RESPONSES)
def test_both_responses_of_a_pair_differ_in_their_condition_alone(responses: list[JsonObject]) -> None:
    """No response is in two pairs, and no pair is missing."""
    found = pairs(responses, "base", "docs")
    assert all((one["condition_id"], other["condition_id"]) == ("docs", "base") for one, other in found)
    places = [(one["question_id"], one["agent_id"], one["repetition"]) for one, _ in found]
    assert places == [(other["question_id"], other["agent_id"], other["repetition"]) for _, other in found]
    assert len(set(places)) == len(places)
    of = {
        name: {(r["question_id"], r["agent_id"], r["repetition"]) for r in responses if r["condition_id"] == name}
        for name in ("base", "docs")
    }
    assert set(places) == of["base"] & of["docs"]
