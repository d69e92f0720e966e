from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import UsageError
from keval.projections.json_values import json_text, json_value

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | st.decimals()
    | st.uuids()
    | st.dates()
    | st.times()
    | st.datetimes()
    | st.timedeltas()
)
KEYS = st.integers() | st.text(st.characters(exclude_categories=["Cs"])) | st.dates() | st.tuples(st.integers())
SQL_VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner), max_leaves=8
)


@given(SQL_VALUES)
def test_every_value_has_a_form_that_all_readers_read_alike(value: object) -> None:
    """Whatever DuckDB finds becomes JSON, in which another reader finds the same."""
    written = json_text(value)
    assert json.loads(written) == orjson.loads(written)


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (2**63, 2**63),
        (2**64, "18446744073709551616"),
        (-(2**63) - 1, "-9223372036854775809"),
        (True, True),
        (Decimal("1.10"), "1.10"),
        (dt.date(2026, 11, 20), "2026-11-20"),
        (dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC), "2026-11-20T09:30:00+00:00"),
        (dt.timedelta(hours=25), "1 day, 1:00:00"),
        (b"a\\\x00\xff", "a\\x5C\\x00\\xFF"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ((1, [None]), [1, [None]]),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "null": "b", "[1,2]": "c"}),
        ({dt.date(2026, 1, 2): {True: 1}}, {"2026-01-02": {"true": 1}}),
    ],
)
def test_a_type_has_one_form(value: object, form: object) -> None:
    """Numbers stay exact, times are ISO, bytes are as DuckDB shows them, and the keys of a map are text."""
    assert json_value(value) == form
    assert json_value([value]) == [form]
    assert type(json_value(value)) is type(form)


@pytest.mark.slow
def test_what_is_nested_too_deep_is_refused_with_a_way_out() -> None:
    """Neither Python nor orjson ends in a traceback."""
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UsageError, match="VARCHAR"):
        json_text(deep)
