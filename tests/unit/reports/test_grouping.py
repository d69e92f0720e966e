"""By which fields samples may be grouped."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.errors import UsageError
from keval.reports.grouping import check_known
from tests.builders import response_event, write_log


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (
            "meta.level",
            (
                "it stands inside a field, and --by takes a field: `fields: {level: {field: meta.level}}` "
                "in the config's dataset makes level one"
            ),
        ),
        ("meta.depth", "no sample has such a field; there are: answer, id, meta, question"),
        ("metta", "no sample has such a field; did you mean 'meta'?"),
    ],
)
def test_a_path_is_no_field_that_nobody_has(tmp_path: Path, field: str, said: str) -> None:
    """Who wrote one learns how a field is made of it."""
    answer = response_event()
    answer["sample"]["meta"] = {"level": 1}
    log = write_log(tmp_path / "log.jsonl", [answer])
    with projections.connect([log], tools=False, asked=("samples",)) as connection, pytest.raises(UsageError) as caught:
        check_known(connection, ["question", field])
    assert str(caught.value) == f"--by {field}: {said}"
