from __future__ import annotations

from pathlib import Path

import pytest

from keval import projections
from keval.errors import EnvironmentLacksError
from keval.processes import memory
from keval.projections.copies import copies
from tests.builders import response_event, write_log


def test_tables_of_several_logs_stand_side_by_side(tmp_path: Path) -> None:
    """Each in the schema of its log's number, with the values that it has there."""
    logs = [write_log(tmp_path / f"{name}.jsonl", [response_event(name)]) for name in ("q1", "q2")]
    with (
        projections.connect(logs[:1]) as one,
        projections.connect(logs[1:]) as other,
        copies([one, other], {"answers": "select sample_id from responses"}) as together,
    ):
        found = together.execute("from log_1.answers union all from log_2.answers order by all").fetchall()
    assert found == [("q1",), ("q2",)]


def test_what_is_copied_together_keeps_the_limits_of_all_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no more memory than they may, and never writes into the user's folder."""
    monkeypatch.setattr(memory, "for_queries", lambda: 300 * 2**20)
    with copies([], {}) as together:
        asked = "select value from duckdb_settings() where name = 'temp_directory'"
        ((folder,),) = together.execute(asked).fetchall()
        assert Path(folder).is_absolute()
        assert Path(folder).is_dir()
        assert together.execute("select current_setting('memory_limit')").fetchall() == [("300.0 MiB",)]
    assert not Path(folder).exists()


def test_too_little_memory_is_said_as_such() -> None:
    """It is no bug of keval's: the user may end other programs, or name another temporary folder."""
    large = "create table large as select range, repeat('x', 100) from range(3_000_000)"
    with pytest.raises(EnvironmentLacksError, match="not enough memory to compute tables"), copies([], {}) as together:
        together.execute(f"SET memory_limit = '10MB'; SET max_temp_directory_size = '1KB'; {large}")
