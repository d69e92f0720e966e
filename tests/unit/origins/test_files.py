"""Files of other tools are read up to a length, and rows are told by their lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.origins import NUMBER, shape
from keval.origins._files import document_of, rows_of

FORM = shape(cost=NUMBER)


def file(folder: Path, content: bytes) -> Path:
    """Write a packed file."""
    path = folder / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    return path


def test_rows_are_told_by_their_lines(tmp_path: Path) -> None:
    """Blank lines count, but are no rows."""
    assert list(rows_of(file(tmp_path, b'{"cost": 1}\n\n{"cost": 2}'), FORM)) == [{"cost": 1}, {"cost": 2}]
    with pytest.raises(InputError, match=r"line 3\.cost"):
        list(rows_of(file(tmp_path, b'{"cost": 1}\n\n{"cost": "2"}'), FORM))
    with pytest.raises(InputError, match="line 1 is not JSON"):
        list(rows_of(file(tmp_path, b"{"), FORM))


def test_numbers_that_are_none_are_null(tmp_path: Path) -> None:
    """As Python writes them; what is no JSON even so is told as ever."""
    rows = list(rows_of(file(tmp_path, b'{"cost": NaN}\n{"cost": -Infinity, "said": "NaN"}'), FORM))
    assert rows == [{"cost": None}, {"cost": None, "said": "NaN"}]
    for content in (b'{"cost": NaN', b"[" * 100_000 + b"NaN", b'{"cost": nan}'):
        with pytest.raises(InputError, match="line 1 is not JSON"):
            list(rows_of(file(tmp_path, content), FORM))


def test_more_than_a_memory_holds_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small packed file may be large."""
    monkeypatch.setattr("keval.origins._files.LONGEST_IMPORTED_LINE", 11)
    monkeypatch.setattr("keval.origins._files.LARGEST_DOCUMENT", 11)
    whole = file(tmp_path, b'{"cost": 1}')
    assert (document_of(whole), len(list(rows_of(whole, FORM)))) == (b'{"cost": 1}', 1)
    with pytest.raises(InputError, match="line 1 is longer than"):
        list(rows_of(file(tmp_path, b'{"cost": 10}'), FORM))
    with pytest.raises(InputError, match="larger than"):
        document_of(file(tmp_path, b'{"cost": 10}'))
