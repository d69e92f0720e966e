from __future__ import annotations

from fnmatch import fnmatchcase

import duckdb
from hypothesis import example, given
from hypothesis import strategies as st

from keval.projections.patterns import fitting

CHARACTERS = st.text("ab-]![^*?\\é日\n:'", max_size=6)


@given(pattern=CHARACTERS, name=CHARACTERS)
@example(pattern="日本?", name="日本語")
@example(pattern="[!a]", name="é")
@example(pattern="[]a]", name="]")
@example(pattern="[b-a]", name="b")
@example(pattern="[!b-a]", name="b")
@example(pattern="[a-]", name="-")
@example(pattern="[", name="[")
@example(pattern="\\*", name="\\a")
@example(pattern="*[", name="a[")
def test_a_pattern_fits_in_sql_what_it_fits_in_python(pattern: str, name: str) -> None:
    """A name that is no pattern is compared as it is, and so is left to the query."""
    ((fits,),) = duckdb.execute(f"select regexp_full_match($name, {fitting([pattern])})", {"name": name}).fetchall()
    assert fits == (fnmatchcase(name, pattern) if set(pattern) & set("*?[") else None)


def test_a_name_fits_one_of_several_patterns() -> None:
    """Each is a whole one: neither takes a part of the next."""
    regex = fitting(["al?ha", "b*", "plain"])
    found = {
        name
        for name in ("alpha", "beta", "al", "pha|b")
        if duckdb.execute(f"select regexp_full_match($name, {regex})", {"name": name}).fetchone() == (True,)
    }
    assert found == {"alpha", "beta"}
