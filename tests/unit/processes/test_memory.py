from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from keval.processes import memory

GB = 10**9


def group(folder: Path, **files: str) -> None:
    """Make a control group: its files by name, with `_` for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"memory.{name}").write_text(f"{text}\n")


def left(folder: Path, own: str) -> list[int]:
    """Return what the control groups of a process leave, from the innermost up."""
    (folder / "own").write_text(own)
    return list(memory.left_in_cgroups(folder / "cgroup", folder / "own"))


def test_what_was_read_from_files_is_not_used_up(tmp_path: Path) -> None:
    """The page cache of a log that was just read fills the group, and leaves room all the same."""
    group(
        tmp_path / "cgroup",
        max=f"{4 * GB}",
        current=f"{4 * GB}",
        stat=f"anon {GB}\nfile {3 * GB}\ninactive_file {3 * GB}",
    )
    assert left(tmp_path, "0::/\n") == [3 * GB]


def test_a_group_of_version_1_is_read_with_its_children(tmp_path: Path) -> None:
    """Version 1 has other names; its cache counts that of the groups within."""
    group(
        tmp_path / "cgroup/memory/job",
        limit_in_bytes=f"{4 * GB}",
        usage_in_bytes=f"{2 * GB}",
        stat=f"inactive_file 5\ntotal_inactive_file {GB}",
    )
    assert left(tmp_path, "5:cpu,cpuacct:/job\n4:memory:/job\n") == [3 * GB]


def test_every_group_up_to_the_root_counts_if_it_has_a_limit(tmp_path: Path) -> None:
    """A group within a limited group is limited; `max`, missing files and a missing memory.stat limit nothing."""
    group(tmp_path / "cgroup/outer", max=f"{2 * GB}", current=f"{GB}")
    group(tmp_path / "cgroup/outer/inner", max="max", current=f"{GB}", stat="inactive_file 7")
    assert left(tmp_path, "0::/outer/inner\n") == [GB]


def test_cache_beyond_what_is_used_adds_nothing(tmp_path: Path) -> None:
    """The two files are read one after the other, so the cache may be the larger number."""
    group(tmp_path / "cgroup", max=f"{GB}", current="5", stat="inactive_file 9")
    assert left(tmp_path, "0::/\n") == [GB]


def test_without_control_groups_nothing_is_said(tmp_path: Path) -> None:
    """A system without control groups has no such limit."""
    assert list(memory.left_in_cgroups(tmp_path, tmp_path / "none")) == []


def test_the_shells_limit_counts_and_duckdb_gets_half_of_what_is_left_but_a_minimum() -> None:
    """Under `ulimit -v` less is available than the limit; with next to nothing left, DuckDB gets the least it needs."""
    script = (
        "import resource, sys\nfrom keval.processes import memory\n"
        "size = int(sys.argv[1])\nresource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
        "print(memory.available(), memory.for_queries())"
    )

    def asked(size: int) -> list[int]:
        done = subprocess.run([sys.executable, "-c", script, str(size)], capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    available, granted = asked(2**30)
    assert 0 < available < 2**30
    assert granted >= memory.LEAST
    assert asked(2**28)[1] == memory.LEAST
