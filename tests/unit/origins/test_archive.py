"""Archives are read member by member, and what is damaged is told in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from backports.zstd import zipfile

from keval.errors import InputError
from keval.origins._archive import Archive


def archive(folder: Path, content: bytes, packing: int) -> Path:
    """Write an archive of one member."""
    path = folder / "a.eval"
    with zipfile.ZipFile(path, "w", packing) as file:
        file.writestr("header.json", content)
    return path


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD])
def test_members_of_every_packing_are_read(packing: int, tmp_path: Path) -> None:
    """Inspect has written two of them."""
    with Archive(archive(tmp_path, b'{"a": 1}', packing)) as found:
        assert (found.names, found.member("header.json")) == (["header.json"], {"a": 1})


def test_what_cannot_be_read_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No archive, no such member, no JSON, and more than is read of one."""
    path = tmp_path / "none.eval"
    path.write_bytes(b"text")
    with pytest.raises(InputError, match="no archive of Inspect"):
        Archive(path)
    with Archive(archive(tmp_path, b"{", zipfile.ZIP_ZSTANDARD)) as found:
        with pytest.raises(InputError, match=r"no item named 'x'.*copy it again"):
            found.member("x")
        with pytest.raises(InputError, match=r"header\.json is not JSON"):
            found.member("header.json")
        monkeypatch.setattr("keval.origins._archive.MOST_BYTES", 0)
        with pytest.raises(InputError, match=r"header\.json is larger than"):
            found.member("header.json")
