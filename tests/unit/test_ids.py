from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keval import ids

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    """Two objects with the same content have one identity."""
    assert ids.sample_sha256(value) == ids.sample_sha256(dict(reversed(value.items())))


@given(st.dictionaries(st.text(), st.text(), min_size=1), st.data())
def test_any_edit_is_another_sample(value: dict[str, object], data: st.DataObject) -> None:
    """Changing one field's value changes the identity."""
    key = data.draw(st.sampled_from(sorted(value)))
    assert ids.sample_sha256(value) != ids.sample_sha256({**value, key: f"{value[key]}x"})


def test_identities_of_different_kinds_never_meet() -> None:
    """A condition's and an agent's id differ even for the same content."""
    assert ids.condition_id("a", {}, {}, []) != ids.agent_id("a", None, {})
    assert len(ids.response_id("a", "b", "c", 1)) == ids.HEX_DIGITS


def test_ids_are_stable() -> None:
    """These ids are in people's logs: they must never change."""
    assert ids.response_id("s", "c", "a", 1) == "28fea05b1400381f2f8d77fd"
    assert ids.question_id("s", ["q"]) == "bc5b7c6c05db2bc24e969c40"
    assert ids.judgment_id("r", "text", "g", "j", 1) == "3ddfb61ccba18411cc3e7b5e"


def test_a_judgment_is_made_from_what_the_judge_is_given() -> None:
    """Another golden answer makes another judgment for a judge that is given it, another note only for the whole."""
    one, corrected, noted = ({"answer": answer, "note": note} for answer, note in (("a", 1), ("b", 1), ("a", 2)))

    def made(sample: dict[str, object], *fields: str) -> str:
        return ids.judgment_id("r", "text", ids.given_sha256(sample, fields or None), "j", 1)

    assert made(one, "answer", "question") == made(noted, "answer", "question") != made(corrected, "answer", "question")
    assert made(one, "question") == made(corrected, "question")
    assert len({made(one), made(corrected), made(noted)}) == 3


def test_a_judgment_is_of_the_whole_text_by_one_judge() -> None:
    """Long answers that differ in their last character, and another judge, take judgments of their own."""
    long = "x" * 100_000
    judgments = {ids.judgment_id("r", long + end, "g", judge, 1) for end in "ab" for judge in ("j", "k")}
    assert len(judgments) == 4


def test_a_comparison_of_two_responses_is_another_judgment() -> None:
    """A judge of pairs may judge a response beside several others."""
    alone = ids.judgment_id("r", "text", "g", "j", 1)
    pairs = {ids.judgment_id("r", "text", "g", "j", 1, other=other) for other in ("x", "y")}
    assert len({alone, *pairs}) == 3


def test_fields_differ_that_are_new_gone_or_edited() -> None:
    """Null is a value like others, true is not 1, and the order of fields is none of their business."""
    before = {"id": "a", "question": "Q?", "answer": "A", "old": 1, "gone": None, "is": 1}
    now = {"answer": "B", "question": "Q?", "id": "a", "new": None, "old": 1, "is": True}
    assert ids.changed_fields(before, now) == ["answer", "new", "is", "gone"]
    assert ids.changed_fields(before, dict(reversed(before.items()))) == []
