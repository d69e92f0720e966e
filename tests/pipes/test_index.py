"""The index beside a log, with real commands: whatever happens to either, every number is as it is without."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from keval.events import encode
from keval.ids import JsonObject
from tests.announcements import without_announcements
from tests.builders import judgment_event, response_event, retraction_event, run_event, write_log

ANSWERS = [response_event(f"q{number}", text=f"{number} {'x' * 150_000}") for number in range(30)]
EVENTS = [run_event(samples=30), *ANSWERS, *(judgment_event(answer, 3) for answer in ANSWERS[:29])]

QUERY = (
    "select sample_id, score, length(r.text) as length from responses r left join scores s using (sample_id) order by 1"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("made") / "run.jsonl", EVENTS)


@pytest.fixture
def log(made: Path, tmp_path: Path) -> Path:
    """Return a log that is large enough for an index."""
    return Path(shutil.copy(made, tmp_path / "run.jsonl"))


def beside(log: Path) -> Path:
    return log.with_name(f"{log.name}.index")


def start(*arguments: str | Path, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "keval", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]  # options as they come


def output(running: subprocess.Popen[bytes]) -> bytes:
    """Return what a command prints that does what it shall without a word."""
    out, err = running.communicate(timeout=200)
    assert (running.returncode, without_announcements(err.decode())) == (0, "")
    return out


def numbers(printed: bytes) -> list[JsonObject]:
    """Return the aggregates in what `aggregate` prints, without what differs each time."""
    events = map(orjson.loads, printed.splitlines())
    return [
        {name: value for name, value in event.items() if name not in {"time", "run_id"}}
        for event in events
        if event["type"] in {"aggregate", "comparison"}
    ]


def aggregated(log: Path) -> list[JsonObject]:
    return numbers(output(start("aggregate", log)))


def without(log: Path) -> list[JsonObject]:
    """Return the aggregates of a log on stdin, which never has an index."""
    with log.open("rb") as stdin:
        return numbers(output(start("aggregate", stdin=stdin)))


def replace_score(log: Path) -> None:
    """Change a number in the middle of a log by hand, in place, and set its time back."""
    before, text = log.stat(), log.read_bytes()
    changed = text.replace(b'"completeness":{"score":3', b'"completeness":{"score":5', 1)
    assert changed != text
    with log.open("r+b") as file:
        file.write(changed)
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
def test_every_command_says_the_same_without_with_and_after(log: Path) -> None:
    """A report, aggregates and texts are byte for byte those without an index; an edit by hand counts at once."""
    commands = [["report", "-f", "json"], ["sql", "-f", "jsonl"], ["report", "-f", "json", "--all"]]

    def printed(command: list[str]) -> bytes:
        query = [QUERY] if command[0] == "sql" else []
        return output(start(*command, "run.jsonl", *query, cwd=log.parent))

    first = [printed(command) for command in commands]
    assert [printed(command) for command in commands] == first
    beside(log).unlink()
    assert printed(commands[1]) == first[1]
    assert aggregated(log) == without(log)
    replace_score(log)
    assert printed(commands[0]) != first[0]
    assert aggregated(log) == without(log)


@pytest.mark.slow
def test_stdin_and_pipes_get_no_index(log: Path, tmp_path: Path) -> None:
    """Nothing is written beside a pipe, nor beside a log that is read from stdin."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    running = start("aggregate", fifo)
    fifo.write_bytes(log.read_bytes())
    assert numbers(output(running)) == without(log)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fifo", "run.jsonl"]


@pytest.mark.slow
def test_views_for_another_duckdb_need_no_index(log: Path) -> None:
    """`--print-views` names the log, whether it has an index or not, and writes none."""
    before = output(start("sql", log, "--print-views"))
    assert not beside(log).exists()
    aggregated(log)
    assert output(start("sql", log, "--print-views")) == before


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--all"], ["--apart"]])
def test_several_logs_with_and_without_indexes(log: Path, tmp_path: Path, options: list[str]) -> None:
    """One has an index, one a smaller size, one has grown: each text comes from its own log."""
    small = write_log(tmp_path / "small.jsonl", [run_event(samples=30), response_event("q1", text="small")])
    grown = Path(shutil.copy(log, tmp_path / "grown.jsonl"))
    aggregated(grown)
    with grown.open("ab") as file:
        file.write(encode(judgment_event(ANSWERS[29], 5)))
    query = "select log, sample_id, length(text) as length from responses order by all"
    logs = [log.name, small.name, grown.name]
    first = output(start("sql", *options, "-f", "jsonl", *logs, query, cwd=tmp_path))
    rows = [orjson.loads(line) for line in first.splitlines()]
    assert ("--apart" in options) == (len(rows) == 61)
    assert {row["length"] for row in rows if row["log"] == "small.jsonl"} <= {5}
    for path in tmp_path.glob("*.index"):
        path.unlink()
    assert output(start("sql", *options, "-f", "jsonl", *logs, query, cwd=tmp_path)) == first


@pytest.mark.slow
def test_two_aggregates_and_a_judge_at_once(log: Path, tmp_path: Path) -> None:
    """Each of them is right at its moment, and what is left is an index and a log."""
    (tmp_path / "judge.yaml").write_text("type: exact_match\n")
    before = without(log)
    readers = [start("aggregate", log) for _ in range(2)]
    judge = start("judge", log, "-j", tmp_path / "judge.yaml", "--quiet")
    found = [numbers(output(reader)) for reader in readers]
    output(judge)
    after = aggregated(log)
    assert after == without(log)
    assert {each["judge"] for each in after} == {"rubric", "exact_match"}
    for one in found:
        assert [each for each in one if each["judge"] == "rubric"] in (
            before,
            [each for each in after if each["judge"] == "rubric"],
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["judge.yaml", "run.jsonl", "run.jsonl.index"]


@pytest.mark.slow
def test_reports_while_a_run_appends(log: Path, tmp_path: Path) -> None:
    """Reports of a log that grows never stop the one who writes it, and the last one has all of it."""
    (tmp_path / "questions.jsonl").write_text(
        "".join(f'{{"id":"n{n}","question":"{n}","answer":"{n}"}}\n' for n in range(300))
    )
    (tmp_path / "eval.yaml").write_text(
        "name: test\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        "conditions: {plain: {system_prompt: Answer.}}\njudges: [{type: exact_match}]\nexecution: {repetitions: 5}\n"
    )
    writer = start("generate", tmp_path / "eval.yaml", "-o", log, "--quiet", cwd=tmp_path)
    reports = 0
    while writer.poll() is None or not reports:
        running = start("report", log, "-f", "json")
        out, err = running.communicate(timeout=200)
        assert (running.returncode, out != b"") == (0, True), err
        reports += 1
    output(writer)
    assert aggregated(log) == without(log)


ADDED = {
    "a retraction": encode(retraction_event(ANSWERS[2])),
    "a run": encode(run_event(samples=30, seed=7)),
    "a torn line": encode(judgment_event(ANSWERS[29], 5))[:-20],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ADDED)
def test_what_was_appended_counts(log: Path, name: str) -> None:
    """A command that finds an index says of later lines what it would say without one, on stderr too."""
    aggregated(log)
    with log.open("ab") as file:
        file.write(ADDED[name])
    found = start("aggregate", log).communicate(timeout=200)
    beside(log).unlink()
    expected = start("aggregate", log).communicate(timeout=200)
    assert numbers(found[0]) == numbers(expected[0]) != []
    assert found[1] == expected[1]


@pytest.mark.slow
def test_an_invalid_line_is_named_or_skipped_as_without_an_index(log: Path) -> None:
    """Exit code 3 and the line's number; with `--skip-invalid` what is left counts."""
    aggregated(log)
    with log.open("ab") as file:
        file.write(b"{}\n" + encode(judgment_event(ANSWERS[29], 5)))
    for options in ([], ["--skip-invalid"]):
        results = []
        for _ in range(2):
            running = start("aggregate", log, *options)
            out, err = running.communicate(timeout=200)
            results.append((running.returncode, numbers(out), err))
            beside(log).unlink(missing_ok=True)
        assert results[0] == results[1]
        assert f"run.jsonl:{len(EVENTS) + 1}: ".encode() in results[0][2]
        assert results[0][0] == (0 if options else 3)


def _no_large_files(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 20_000, 600_000])
def test_a_disk_that_is_full_leaves_no_wrong_index(log: Path, tmp_path: Path, size: int) -> None:
    """Wherever writing ends, the command answers rightly or says that there is no room; the next one is right."""
    running = start("aggregate", log, preexec_fn=_no_large_files(size))
    out, err = running.communicate(timeout=200)
    if running.returncode == 0:
        assert numbers(out) == without(log)
    else:
        assert (running.returncode, b"Traceback" in err) == (4, False), err
    assert {path.name for path in tmp_path.iterdir()} <= {"run.jsonl", "run.jsonl.index"}
    assert aggregated(log) == without(log)


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_of_small_logs_too(tmp_path: Path) -> None:
    """One log, and two of which one copy is made: it is no bug of keval, and TMPDIR names another folder."""
    logs = [write_log(tmp_path / f"{name}.jsonl", [run_event(), response_event(name)]) for name in ("a", "b")]
    for few in (logs[:1], logs):
        running = start("report", *few, preexec_fn=_no_large_files(100))
        _, err = running.communicate(timeout=200)
        assert (running.returncode, b"no room for" in err, b"TMPDIR" in err) == (4, True, True), err


@pytest.mark.slow
def test_where_nothing_can_be_written_commands_do_without(log: Path, tmp_path: Path) -> None:
    """A read-only folder, and an index that one may not read: the same numbers, and nothing is left anywhere."""
    if os.geteuid() != 0:
        tmp_path.chmod(0o500)
        try:
            assert aggregated(log) == aggregated(log) == without(log)
        finally:
            tmp_path.chmod(0o700)
    elif subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("root may write everywhere, and this one may mount nothing")
    else:
        keval = f'"{sys.executable}" -m keval aggregate run.jsonl'
        mounted = f'mount --bind "{tmp_path}" "{tmp_path}" && mount -o remount,ro,bind "{tmp_path}" && cd "{tmp_path}"'
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", f"{mounted} && {keval} && {keval}"], capture_output=True, check=True
        )
        assert numbers(done.stdout) == without(log) * 2
        assert done.stderr == b""
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize("kills", range(3))
def test_a_command_that_is_killed_while_it_makes_an_index(log: Path, tmp_path: Path, kills: int) -> None:
    """Killed at any moment it leaves nothing that is believed, and what it left is removed by the next one."""
    running = start("aggregate", log)
    while not list(tmp_path.glob("run.jsonl.index.*")) and running.poll() is None:
        pass
    for _ in range(kills):  # later and later: as long as a process takes to start
        subprocess.run(["true"], check=True)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    assert aggregated(log) == without(log)
    assert aggregated(log) == without(log)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.jsonl", "run.jsonl.index"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_while_it_makes_an_index_takes_away_what_it_made(
    log: Path, tmp_path: Path, number: int
) -> None:
    """By Ctrl-C, `kill` or the end of a terminal: nothing stays beside the log until another index is made."""
    running = start("aggregate", log)
    while not list(tmp_path.glob("run.jsonl.index.*")) and running.poll() is None:
        pass
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b""), err.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


@pytest.mark.slow
def test_an_index_is_no_log(log: Path) -> None:
    """Who names the index is told to name the log, whether lines may be left out or not."""
    aggregated(log)
    beside(log).write_bytes(b"check\nsu" + beside(log).read_bytes()[8:])  # a checksum, which may hold a newline
    for options in ([], ["--skip-invalid"]):
        running = start("report", beside(log), *options)
        out, err = running.communicate(timeout=200)
        assert (running.returncode, out) == (3, b"")
        assert b"run.jsonl.index is not a keval log: it looks like a DuckDB file, as the index of a log is; name" in err
