"""The benchmarks work, and what they say is what was measured; how long anything takes is asked nowhere."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import benchmark, child, frameworks, growth, growth_chart, installed, synthetic_log, tables, workload
from benchmarks.__main__ import NAMES
from benchmarks.benchmark import Benchmark, Measurement, Size
from keval.events import encode

MIB = 2**20


def grown(exponent: float) -> list[Measurement]:
    """Return figures of one command that grow with a power of the events."""
    return [{"what": "judge", "events": n, "wall_s": n**exponent, "peak_mib": 50.0} for n in (10, 100, 1_000)]


# What the three others measure is run by tests/pipes/test_kill.py and by the tests of the agent.
@pytest.mark.parametrize("name", sorted({*NAMES} - {"kills", "messages", "claude"}))
@pytest.mark.slow
def test_each_benchmark_measures_and_keeps_what_it_measured(name: str, tmp_path: Path) -> None:
    """At the tiny size a benchmark does all of its work, prints what its file holds, and names no folder of ours."""
    command = [sys.executable, "-m", f"benchmarks.{name}", "--size", "tiny", "--repeat", "1", "--into", str(tmp_path)]
    done = subprocess.run(command, cwd=child.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [path] = tmp_path.iterdir()
    results = benchmark.read(path)
    assert results.run.benchmark == name
    assert results.measurements
    text = path.read_text()
    assert not [folder for folder in (str(child.ROOT), str(tmp_path), sys.prefix) if folder in text]


def test_all_benchmarks_are_run_together() -> None:
    """What can be called as a benchmark is in the list of `python -m benchmarks`."""
    folder = Path(benchmark.__file__).parent
    assert {path.stem for path in folder.glob("*.py") if "\nBENCHMARK = " in path.read_text()} == set(NAMES)


@pytest.mark.slow
def test_the_others_go_on_when_one_fails() -> None:
    """A benchmark that fails is named at the end, after all the others."""
    command = [sys.executable, "-m", "benchmarks", "--size", "no such size"]
    done = subprocess.run(command, cwd=child.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == f"failed: {', '.join(NAMES)}"


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    """It is kept how it failed, and no median counts it."""
    fails = child.run([sys.executable, "-c", "raise SystemExit('no space')"], tmp_path).record()
    assert fails["failed"] == "exit 1: no space"
    assert tables.middle([fails, {"wall_s": 5.0}], "wall_s") == 5.0


def test_a_log_that_lacks_something_is_told(tmp_path: Path) -> None:
    """What a run was asked for is counted in its log: one event less, and it did not do its work."""
    log = tmp_path / "log.jsonl"
    assert workload.missing(log, responses=1, judgments=1) is not None
    log.write_bytes(b"".join(encode(each) for each in synthetic_log.events(3)))
    assert workload.missing(log, responses=3, judgments=3) is None
    assert workload.missing(log, responses=3, judgments=4) == "3 responses and 3 judgments, not 3 and 4"


@pytest.mark.slow
def test_a_childs_memory_is_its_own(tmp_path: Path) -> None:
    """The peak is that of the command, and unknown where it is below that of the process that measures."""
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 + 100
    large, small = (
        child.run([sys.executable, "-S", "-c", f"b'x' * {size * MIB}"], tmp_path).peak_mib for size in (more, 0)
    )
    assert large is not None
    assert more < large < more + 100
    assert small is None


def test_a_command_is_kept_as_a_reader_would_type_it() -> None:
    """The folders of this machine are in no command."""
    script = child.ROOT / "benchmarks" / "others" / "means.jq"
    assert child.shown([*child.KEVAL, "report", "log.jsonl"]) == "keval report log.jsonl"
    assert child.shown(["/usr/bin/jq", "-f", str(script)]) == "jq -f benchmarks/others/means.jq"


def kept(folder: Path, day: str, name: str, size: Size) -> Path:
    """Write raw results without a measurement."""
    line = f"""{{"benchmark": "{name}", "date": "{day}", "commit": "abc", "uncommitted": false, "size": "{size}",
        "repeat": 3, "python": "3", "packages": {{}}, "system": "", "cores": 2}}"""
    path = folder / f"{day}-abc-{name}.jsonl"
    path.write_text(line.replace("\n", "") + "\n")
    return path


def test_the_newest_results_are_shown(tmp_path: Path) -> None:
    """Of the files of a benchmark the newest counts, if it is not one that only shows that the script works."""
    kept(tmp_path, "2026-01-01T0000", "growth", Size.MODEST)
    newer = kept(tmp_path, "2026-02-01T0000", "growth", Size.LARGE)
    kept(tmp_path, "2026-03-01T0000", "growth", Size.TINY)
    kept(tmp_path, "2026-04-01T0000", "scan", Size.LARGE)
    found = benchmark.newest("growth", tmp_path)
    assert found is not None
    assert found.path == newer
    assert benchmark.newest("latency", tmp_path) is None


@pytest.mark.slow
def test_what_was_broken_off_is_no_result(tmp_path: Path) -> None:
    """A benchmark that ends in the middle leaves no file that would be shown."""

    def broken(_: Size, __: int) -> Iterator[Measurement]:
        yield {"wall_s": 1.0}
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Benchmark(name="broken", measure=broken, tables=str).main(["--into", str(tmp_path)])
    assert benchmark.newest("broken", tmp_path) is None
    assert [path.suffix for path in tmp_path.iterdir()] == [".unfinished"]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_the_slope_is_the_exponent(exponent: float) -> None:
    """What grows with a power of the events has that power as its slope."""
    assert growth.slope(grown(exponent), "judge", "wall_s") == pytest.approx(exponent)


def test_the_picture_has_a_line_for_each_command() -> None:
    """It is an SVG, and each of its two panels has a line with a point for each size of each command."""
    measurements = [*grown(1.0), *({**each, "what": "generate"} for each in grown(2.0))]
    picture = ET.fromstring(growth_chart.svg(measurements))  # noqa: S314 - our own text
    lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3, 3, 3]


def tool(code: str) -> frameworks.Tool:
    """Return a tool that is a piece of Python."""
    return frameworks.Tool(
        name="own",
        keeps="nothing",
        prepare=lambda folder, _: folder.mkdir(),
        command=lambda _: (sys.executable, "-c", code),
        count=lambda folder: {"done": int((folder / "said.txt").read_text())},
    )


def test_a_tool_has_to_do_what_it_is_timed_for() -> None:
    """One that did fewer evaluations than it was asked for is a failure, whatever its exit code."""
    assert "failed" not in frameworks.measured(tool("print(30)"), 30)
    assert "failed" in frameworks.measured(tool("print(29)"), 30)


def test_a_tool_that_is_not_here_is_skipped_with_the_reason() -> None:
    """What cannot be installed stops nothing, and the table says why it is not in it."""

    def missing(_: int) -> list[Path]:
        return [installed.installed_program("no-such-program")]

    absent = frameworks.Tool(
        name="own", keeps="", prepare=frameworks.TOOLS[0].prepare, command=missing, count=lambda _: {}
    )
    assert frameworks.measured(absent, 30) == {"skipped": "no-such-program is missing"}
