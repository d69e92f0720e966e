from __future__ import annotations

import errno
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from keval.errors import EnvironmentLacksError
from keval.processes import temporary
from tests.builders import response_event, run_event, write_log
from tests.conftest import Keval

SWEEP = "from keval.processes import temporary; temporary.remove_abandoned()"
MAKE = "from keval.processes import temporary; print(temporary.make()[0], flush=True); input()"

DEEP = """
import os
for _ in range(3000):
    open("f", "w").close()
    os.mkdir("d")
    os.chdir("d")
os.chmod(".", 0)
print("7")
"""
"""Leaves folders so deep in each other that Python cannot remove them."""

UNREMOVABLE = "import subprocess\nopen('f', 'w')\nsubprocess.run(['chattr', '+i', 'f'], check=True)\nprint('7')\n"
"""Leaves a file that not even root can remove, where the file system has such."""

CONFIG = """\
name: folders
dataset: {path: questions.jsonl}
agent: {type: command, command: [python, "{folder}/agent.py"]}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder for temporary files, which is removed by a program that can remove anything."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def python(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)


def evaluation(folder: Path, agent: str) -> None:
    (folder / "agent.py").write_text(agent)
    (folder / "eval.yaml").write_text(CONFIG)
    lines = (f'{{"id": "q{number}", "question": "What?", "answer": "7"}}\n' for number in range(2))
    (folder / "questions.jsonl").write_text("".join(lines))


@pytest.mark.slow
def test_folders_are_removed_however_deep_they_are(tmp_path: Path, scratch: Path, keval: Keval) -> None:
    """Deeper than Python follows them, and than a path may be long; closed folders and files in them, too."""
    evaluation(tmp_path, DEEP)
    done = keval("run", "eval.yaml", "-o", "run.jsonl", "-q")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.jsonl").read_text().count('"type":"response"') == 2
    assert list(scratch.iterdir()) == []
    assert str(scratch) not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what is mounted")
def test_what_cannot_be_removed_is_named_and_ends_no_run(tmp_path: Path, scratch: Path, keval: Keval) -> None:
    """Every answer is in the log, and each folder that stays is told once on stderr."""
    evaluation(tmp_path, UNREMOVABLE)
    if subprocess.run([sys.executable, tmp_path / "agent.py"], cwd=tmp_path, check=False).returncode:
        pytest.skip("this user can make no file that stays")
    done = keval("run", "eval.yaml", "-o", "run.jsonl", "-q")
    assert done.returncode == 0, done.stderr
    left = list(scratch.iterdir())
    told = done.stderr.splitlines()
    subprocess.run(["chattr", "-R", "-i", str(tmp_path)], check=False, stderr=subprocess.DEVNULL)
    assert (tmp_path / "run.jsonl").read_text().count('"type":"response"') == 2
    assert len(left) == 2
    assert [sum(str(path) in line for line in told) for path in left] == [1, 1]


@pytest.mark.slow
def test_a_killed_commands_folders_are_removed_by_the_next(tmp_path: Path, scratch: Path, keval: Keval) -> None:
    """SIGKILL leaves the folders of the tasks in flight; the same command again leaves none."""
    evaluation(
        tmp_path,
        "import pathlib, sys, time\n"
        "pathlib.Path('begun').touch()\n"
        "while not pathlib.Path(sys.argv[0]).with_name('go').exists(): time.sleep(0.05)\n"
        "print('7')\n",
    )
    command = [sys.executable, "-m", "keval", "generate", "eval.yaml", "-o", "run.jsonl", "-q"]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        while len(list(scratch.glob("*/begun"))) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    assert len(list(scratch.iterdir())) == 2
    (tmp_path / "go").touch()
    assert keval(*command[3:]).returncode == 0
    assert list(scratch.iterdir()) == []


def test_a_folder_is_abandoned_when_its_maker_is_dead_and_not_before(scratch: Path) -> None:
    """Another process leaves the folders of the living alone, however old, and takes those of the dead."""
    with temporary.folder() as living:
        (living / "file").touch()
        os.utime(living, (0, 0))
        other = subprocess.Popen([sys.executable, "-c", MAKE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with other:
            assert other.stdout is not None
            dead = Path(other.stdout.readline().strip())
            python(SWEEP)
            assert dead.is_dir()
            other.kill()
        assert set(scratch.iterdir()) == {living, dead}
        python(SWEEP)
        assert list(scratch.iterdir()) == [living]
        assert (living / "file").exists()
    assert list(scratch.iterdir()) == []


def test_a_new_folder_that_another_command_takes_for_abandoned_is_made_anew(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making a folder and locking it a command that begins may remove it: no task fails for that."""
    really_open = os.open
    swept: list[Path] = []

    def opened(path: Path, flags: int, **given: int) -> int:
        if not swept:
            swept.append(path)
            subprocess.run([sys.executable, "-c", SWEEP], env={**os.environ, "TMPDIR": str(scratch)}, check=True)
        return really_open(path, flags, **given)

    monkeypatch.setattr("keval.processes.temporary.os.open", opened)
    path, remove = temporary.make()
    assert [path] == list(scratch.glob(f"{temporary.PREFIX}*"))
    assert path not in swept
    remove()


def test_a_link_is_not_followed(tmp_path: Path, scratch: Path) -> None:
    """A link with the name of a folder leads nowhere, and one inside a folder neither."""
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (scratch / f"{temporary.PREFIX}link").symlink_to(precious)
    abandoned = scratch / f"{temporary.PREFIX}12345678"
    abandoned.mkdir()
    (abandoned / "link").symlink_to(precious)
    closed = abandoned / "closed"
    (closed / "deeper").mkdir(parents=True)
    closed.chmod(0)
    python(SWEEP)
    assert [path.name for path in scratch.iterdir()] == [f"{temporary.PREFIX}link"]
    assert precious.stat().st_mode & 0o777 == 0o500


def test_what_its_owner_has_forbidden_is_removed_all_the_same(scratch: Path) -> None:
    """A folder that an agent has made unreadable goes, too."""
    with temporary.folder() as folder:
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b").chmod(0)
        (folder / "a").chmod(0)
    assert list(scratch.iterdir()) == []


@pytest.mark.usefixtures("scratch")
def test_removing_raises_nothing_when_the_folder_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever removed it before did no harm, and nothing is said."""
    with caplog.at_level(logging.WARNING), temporary.folder() as folder:
        folder.rmdir()
    assert caplog.records == []


@pytest.mark.usefixtures("scratch")
def test_a_folder_costs_one_open_file() -> None:
    """And gives it back."""
    before = psutil.Process().num_fds()
    with temporary.folder():
        assert psutil.Process().num_fds() == before + 1
    assert psutil.Process().num_fds() == before


def refuse_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what NFS does, which no file system that a test can mount here does: refuse to lock a folder."""

    def refused(*_: int) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr("keval.processes.temporary.fcntl.flock", refused)


def test_a_folder_that_cannot_be_locked_serves_as_well(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is used and removed by its maker; what others left stays, and no open file is lost."""
    left = scratch / f"{temporary.PREFIX}12345678"
    left.mkdir()
    temporary.remove_abandoned.cache_clear()
    refuse_locks(monkeypatch)
    before = psutil.Process().num_fds()
    with temporary.folder() as folder:
        (folder / "file").touch()
        assert psutil.Process().num_fds() == before
    assert list(scratch.iterdir()) == [left]


def test_a_broken_place_for_temporary_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the place, the reason and what to set."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    message = rf"{tmp_path}/gone: No such file or directory; TMPDIR names another place"
    with pytest.raises(EnvironmentLacksError, match=message):
        temporary.make()


@pytest.mark.parametrize(
    "command",
    ["report run.jsonl", "aggregate run.jsonl", "sql run.jsonl 'SELECT 1'"],
)
def test_without_room_for_temporary_files_a_command_says_so_in_one_line(command: str, tmp_path: Path) -> None:
    """Where no temporary file can be written, a command ends with exit code 4 and names TMPDIR."""
    write_log(tmp_path / "run.jsonl", [run_event(), response_event()])
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 0; exec {sys.executable} -m keval {command}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.endswith("TMPDIR names another place")


def test_a_task_without_a_folder_is_nobodys_bad_answer(tmp_path: Path, scratch: Path, keval: Keval) -> None:
    """A place for temporary files that breaks in mid-run is a failure of the machine about that task only."""
    evaluation(tmp_path, f"import shutil; print(7, flush=True); shutil.rmtree({str(scratch)!r})")
    one_by_one = CONFIG.replace("repetitions: 1", "repetitions: 1, max_concurrent: 1, retry: {max_attempts: 1}")
    (tmp_path / "eval.yaml").write_text(one_by_one)
    done = keval("generate", "eval.yaml", "-o", "run.jsonl", "-q")
    assert done.returncode == 1, done.stderr
    events = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [(event["type"], event.get("kind")) for event in events] == [
        ("run", None), ("plan", None), ("response", None), ("failure", "infra_error"),
    ]  # fmt: skip
    assert f"no temporary folder can be made in {scratch}: No such file" in events[-1]["message"]


def test_a_folder_beside_a_file_is_named_after_it_and_removed(tmp_path: Path) -> None:
    """What a killed command left there goes with the next one; what is held, and other names, stay."""
    file = tmp_path / "it's [1]*"
    left = tmp_path / f"{file.name}.{temporary.PREFIX}left"
    other = tmp_path / f"it's 1x.{temporary.PREFIX}left"
    held, release = temporary.beside(file)
    for folder in (left, other):
        folder.mkdir()
    made, remove = temporary.beside(file)
    assert sorted(tmp_path.iterdir()) == sorted([held, made, other])
    assert made.name.startswith(f"{file.name}.")
    remove()
    release()
    assert list(tmp_path.iterdir()) == [other]
