"""Objects that are kept as JSON are, whenever they are asked for, what was put in."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from keval.documents.foreign_json import unfit
from keval.documents.json_objects import JsonObjects
from keval.ids import JsonObject

FITTING = st.dictionaries(
    st.text(),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
).filter(lambda record: unfit(record) is None)


@given(st.lists(FITTING, max_size=4))
def test_what_comes_out_is_what_was_put_in_down_to_types_and_order(records: list[JsonObject]) -> None:
    """Numbers keep their type and sign, fields their order."""
    kept = JsonObjects(records)
    assert [repr(each) for each in kept] == [repr(each) for each in records]
    appended = JsonObjects()
    for record in records:
        appended.append(record)
    assert list(appended) == records


def test_it_is_a_sequence_like_a_list() -> None:
    """Places, slices, sums and choices give what a list of the same objects gives."""
    records = [{"id": f"s{number}"} for number in range(5)]
    kept = JsonObjects(records)
    assert (len(kept), kept[-1], list(kept[:2]), list(kept[:0])) == (5, records[-1], records[:2], [])
    assert list(kept[3:] + kept[:1]) == [*records[3:], records[0]]
    assert list(kept.at([4, 0])) == [records[4], records[0]]


def test_a_change_of_one_that_was_taken_out_changes_nothing() -> None:
    """Whoever adds a field to a sample has a sample of its own."""
    kept = JsonObjects([{"tags": ["a"]}])
    kept[0]["tags"].append("b")
    assert kept[0] == {"tags": ["a"]}


def test_an_object_takes_hardly_more_than_its_json() -> None:
    """Neither the objects nor the buffers that they were written into stay."""
    records = [{"id": f"s{number}", "question": "What is it? " * 5} for number in range(1000)]
    tracemalloc.start()
    kept = JsonObjects(records)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(kept) < 200
