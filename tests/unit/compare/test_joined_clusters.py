"""Clusters that have a sample in common are one."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from keval.compare.joined_clusters import joined

SETS = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=3, unique=True), max_size=8)


@given(SETS, st.randoms())
def test_whatever_is_linked_is_one_and_nothing_else(sets: list[list[str]], random: Random) -> None:
    """Two clusters are one if a chain of sets leads from one to the other; in another order of sets it is the same."""
    found = joined(sets)
    assert set(found) == {name for each in sets for name in each}
    for start in found:
        linked = {start}
        while more := {name for each in sets if linked & set(each) for name in each} - linked:
            linked |= more
        assert {name for name in found if found[name] == found[start]} == linked
        assert found[start] == min(linked)
    mixed = [sorted(each, reverse=True) for each in sets]
    random.shuffle(mixed)
    assert joined(mixed) == found
