from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from keval.processes.packed_folder import packed, unpack


def test_a_folder_is_elsewhere_what_it_was(tmp_path: Path) -> None:
    """Files with their modes, empty folders and links come back; a link leads where it led."""
    folder = tmp_path / "here"
    (folder / "empty").mkdir(parents=True)
    (folder / "run.sh").write_text("echo 1\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    unpack(packed(folder), tmp_path / "there" / "kept")
    there = tmp_path / "there" / "kept"
    assert sorted(path.name for path in there.iterdir()) == ["empty", "link", "run.sh"]
    assert (there / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (there / "link").readlink() == Path("run.sh")


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as made:
        for member, content in members:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return written.getvalue()


def test_nothing_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    """A path that leads up, or through a link that leads out, is refused."""
    with pytest.raises(OSError, match="outside"):
        unpack(archive((tarfile.TarInfo("../out.txt"), b"1")), tmp_path / "one")
    link = tarfile.TarInfo("link")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    with pytest.raises(OSError, match="outside"):
        unpack(archive((link, b""), (tarfile.TarInfo("link/out.txt"), b"1")), tmp_path / "two")
    assert not (tmp_path / "out.txt").exists()
