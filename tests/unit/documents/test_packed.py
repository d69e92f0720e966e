"""Files that are packed, as their names say."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from keval.documents.packed import opened, unpacked_name
from keval.errors import InputError, UsageError
from keval.logs.collect import collected
from keval.logs.writer import open_log
from tests.builders import response_event, write_log

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_a_packed_log_is_read_as_the_log(suffix: str, tmp_path: Path) -> None:
    """Its lines are the same, also from two parts packed one after the other; nothing can be appended to it."""
    log = write_log(tmp_path / "run.jsonl", [response_event("q1"), response_event("q2")])
    first, second = log.read_bytes().splitlines(keepends=True)
    path = tmp_path / f"run.jsonl{suffix}"
    path.write_bytes(PACK[suffix](first) + PACK[suffix](second))
    assert unpacked_name(path) == log
    with collected([path], print) as (file,):
        assert b"".join(file.read()) == first + second
    with pytest.raises(UsageError, match="is packed"), open_log(path, (), print):
        pass


@pytest.mark.parametrize("suffix", PACK)
def test_a_damaged_file_is_an_error_that_names_it(suffix: str, tmp_path: Path) -> None:
    """Cut off, or not packed at all: what was read of it counts for nothing."""
    path = tmp_path / f"run.jsonl{suffix}"
    line = write_log(tmp_path / "run.jsonl", [response_event()]).read_bytes()
    for content in (PACK[suffix](line)[:-20], line):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"run.jsonl{suffix}: damaged"), collected([path], print):
            pass
        with pytest.raises(OSError, match="damaged"), opened(path) as file:
            file.read()
