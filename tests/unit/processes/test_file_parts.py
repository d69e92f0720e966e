from __future__ import annotations

from pathlib import Path

import pytest

from keval.processes import file_parts
from keval.processes.file_parts import copy_part


@pytest.mark.parametrize("at_once", [1, 3, 100])
@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 10), (3, 7), (9, 10), (4, 4)])
def test_a_part_has_exactly_its_bytes(
    start: int, end: int, at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many bytes are copied at once, the part is what stands between the two places."""
    monkeypatch.setattr(file_parts, "AT_ONCE", at_once)
    (tmp_path / "whole").write_bytes(b"0123456789")
    copy_part(tmp_path / "whole", start, end, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == b"0123456789"[start:end]


def test_what_is_beyond_the_end_is_not_waited_for(tmp_path: Path) -> None:
    """A file that is shorter than it was said to be gives what it has."""
    (tmp_path / "whole").write_bytes(b"012")
    copy_part(tmp_path / "whole", 1, 9, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == b"12"
