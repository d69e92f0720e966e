from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keval.execution.pairs import pairs
from keval.ids import JsonObject


def response(  # noqa: PLR0917 - all but the first by name
    condition: str, sample: str = "s1", repetition: int = 1, text: str = "", agent: str = "a", question: str = "Why?"
) -> JsonObject:
    """Return what the planner reads of a response event."""
    return {
        "sample": {"id": sample, "question": question},
        "condition_id": condition,
        "agent_id": agent,
        "repetition": repetition,
        "text": text,
    }


RESPONSES = st.lists(
    st.builds(
        response,
        condition=st.sampled_from(["base", "docs", "other"]),
        sample=st.sampled_from(["s1", "s2"]),
        repetition=st.integers(1, 2),
        text=st.text(max_size=2),
        agent=st.sampled_from(["a", "b"]),
    )
)


def test_responses_to_one_sample_in_one_repetition_are_paired() -> None:
    """The response of the condition comes first, that of the baseline second."""
    base, docs = response("base"), response("docs")
    other = response("other")
    assert pairs([base, other, docs], "base", "docs") == [(docs, base)]
    assert pairs([base, other, docs], "docs", "base") == [(base, docs)]


def test_what_has_no_partner_is_in_no_pair() -> None:
    """Another sample, repetition, agent or question is no partner."""
    base = response("base")
    odd = [response("docs", sample="s2"), response("docs", repetition=2), response("docs", agent="b")]
    odd.append(response("docs", question="And why not?"))
    assert pairs([base, *odd], "base", "docs") == []


def test_the_last_response_of_a_task_counts() -> None:
    """A task that was asked again keeps its place."""
    old, base, new = response("docs", text="old"), response("base"), response("docs", text="new")
    later = response("docs", sample="s2"), response("base", sample="s2")
    assert pairs([old, *later, base, new], "base", "docs") == [(new, base), later]


@given(RESPONSES)
def test_both_responses_of_a_pair_differ_in_their_condition_alone(responses: list[JsonObject]) -> None:
    """No response is in two pairs, and no pair is missing."""
    found = pairs(responses, "base", "docs")
    assert all((one["condition_id"], other["condition_id"]) == ("docs", "base") for one, other in found)
    places = [(one["sample"]["id"], one["agent_id"], one["repetition"]) for one, _ in found]
    assert places == [(other["sample"]["id"], other["agent_id"], other["repetition"]) for _, other in found]
    assert len(set(places)) == len(places)
    of = {
        name: {(r["sample"]["id"], r["agent_id"], r["repetition"]) for r in responses if r["condition_id"] == name}
        for name in ("base", "docs")
    }
    assert set(places) == of["base"] & of["docs"]
