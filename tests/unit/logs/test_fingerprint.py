"""Properties of fingerprints: a file is known by its status or by its bytes, and by nothing less."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keval.logs import fingerprint
from keval.logs.fingerprint import CHUNK, Digest, Fingerprint


def taken(path: Path, size: int, *, status: bool) -> Fingerprint:
    with path.open("rb") as file:
        known = fingerprint.status(file.fileno()) if status else None
        return Fingerprint(size, str(fingerprint.digest_of(file.fileno(), size)), known)


def begins(path: Path, known: Fingerprint) -> bool:
    with path.open("rb") as file:
        return fingerprint.still_begins(file.fileno(), known)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file that was changed long ago, as far as its own times say."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    return path


def test_what_was_changed_in_this_moment_has_no_status(file: Path) -> None:
    """The next change might have the same time, also where the clock is ahead."""
    os.utime(file, (2**32, 2**32))
    with file.open("rb") as opened:
        assert fingerprint.status(opened.fileno()) is None


@pytest.mark.parametrize("status", [False, True])
def test_a_file_begins_with_its_beginning(file: Path, status: bool) -> None:
    """What is appended changes nothing of it; a change of one byte and a shorter file do."""
    known = taken(file, 8, status=status)
    assert begins(file, known)
    with file.open("ab") as opened:
        opened.write(b"more")
    assert begins(file, known)
    file.write_bytes(b"0123x56789")
    assert not begins(file, known)
    file.write_bytes(b"0123456")
    assert not begins(file, known)


def test_bytes_after_the_beginning_are_not_looked_at(file: Path) -> None:
    """A file is as it was, though what stands after what was read is something else."""
    known = taken(file, 4, status=False)
    file.write_bytes(b"0123other")
    assert begins(file, known)


@pytest.mark.parametrize("segment", [fingerprint.SEGMENT, CHUNK, CHUNK // 2, 1000, (CHUNK + 1280) // 3])
def test_a_hash_is_of_the_bytes_in_whatever_pieces_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segment: int
) -> None:
    """Read at once, in pieces, or from the middle on after what is before it: the hash is the same."""
    monkeypatch.setattr(fingerprint, "SEGMENT", segment)
    data = bytes(range(256)) * (CHUNK // 256 + 5)
    path = tmp_path / "large"
    path.write_bytes(data)
    pieces = Digest()
    for start in range(0, len(data), 100_003):
        pieces.add(data[start : start + 100_003])
    with path.open("rb") as opened:
        whole = fingerprint.digest_of(opened.fileno(), len(data))
        first = fingerprint.digest_of(opened.fileno(), 1000)
        continued = fingerprint.digest_of(opened.fileno(), len(data), 1000, first)
    assert str(pieces) == str(whole) == str(continued)


def test_a_hash_is_of_the_order_of_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two segments that change places make another hash, and so does a byte in any of them."""
    monkeypatch.setattr(fingerprint, "SEGMENT", 1000)
    data = os.urandom(3500)
    turned = data[1000:2000] + data[:1000] + data[2000:]
    places = (0, 999, 1000, 2500, 3499)
    changed = [data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :] for place in places]
    hashes = set()
    for other in (data, turned, *changed):
        path = tmp_path / "file"
        path.write_bytes(other)
        with path.open("rb") as opened:
            hashes.add(str(fingerprint.digest_of(opened.fileno(), len(data))))
    assert len(hashes) == 7
