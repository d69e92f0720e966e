from __future__ import annotations

import asyncio
import errno
import json
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import orjson
import pytest

from keval.config.reader import load
from keval.execution.config_session import generate, run_all
from keval.execution.judge_session import JudgeWork, judge_log
from keval.executors.workspaces import MOST_REMOVED, Workspaces
from keval.ids import JsonObject
from keval.preparation.request import Request
from keval.processes import temporary, workspace_template
from keval.processes.workspace_template import TemplateError

CONFIG = """\
name: work
dataset: {path: questions.jsonl}
agent: {type: command, command: [sh, -c, SCRIPT]}
workspace: WORKSPACE
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judge: JUDGE
execution: {repetitions: 2, max_concurrent: 3, retry: {max_attempts: 1}}
"""

WRITES = "ls; echo done >>made.txt; echo more >>a.txt"
EXACT = "{type: exact_match}"
LOOKS = '{type: command, workspace: true, command: [python, "{folder}/look.py"]}'
LOOK = """\
import json, pathlib, sys
made = pathlib.Path(json.load(sys.stdin)["workspace"], "made.txt")
print(json.dumps({"pass": made.read_text() == "done\\n", "reasoning": str(made.parent)}))
"""


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this test's temporary folders are made."""
    made = tmp_path / "scratch"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


def written(folder: Path, workspace: str = "{}", judge: str = EXACT, script: str = WRITES) -> Path:
    """Write a config of two samples, whose ids differ only in what no file name can hold."""
    samples = [{"id": name, "question": f"{name}?", "answer": "x"} for name in ("a/b", "a_b")]
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    (folder / "template").mkdir(exist_ok=True)
    (folder / "template" / "a.txt").write_text("one\n")
    (folder / "look.py").write_text(LOOK)
    config = CONFIG.replace("SCRIPT", json.dumps(script)).replace("WORKSPACE", workspace).replace("JUDGE", judge)
    (folder / "eval.yaml").write_text(config)
    return folder / "eval.yaml"


def asked(config: Path, log: Path, *, judged: bool = False, fresh: bool = False) -> tuple[list[JsonObject], list[str]]:
    """Generate or run a config, and return the log's events and what was said."""
    said: list[str] = []
    do = run_all if judged else generate
    do(load(config), log, Request(quiet=True, fresh=fresh), said.append)
    return events_of(log), [line for line in said if "will be asked for" not in line]


def events_of(log: Path, *types: str) -> list[JsonObject]:
    events = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    return [event for event in events if not types or event["type"] in types]


def responses(events: list[JsonObject]) -> list[JsonObject]:
    return [event for event in events if event["type"] == "response"]


def test_each_attempt_begins_with_a_copy_of_the_template(tmp_path: Path, scratch: Path) -> None:
    """What one task does to its folder no other finds, and the template stays as it was."""
    events, _ = asked(written(tmp_path, "{copy: template}"), tmp_path / "log.jsonl")
    assert [event["text"] for event in responses(events)] == ["a.txt"] * 8
    assert (tmp_path / "template" / "a.txt").read_text() == "one\n"
    assert [path.name for path in (tmp_path / "template").iterdir()] == ["a.txt"]
    assert not any("workspace" in event for event in responses(events))
    assert not list(scratch.iterdir())
    assert not (tmp_path / "work.workspaces").exists()


def test_another_template_makes_another_agent_and_keeping_does_not(tmp_path: Path) -> None:
    """What an agent finds in its folder decides its answers; what becomes of the folder does not."""
    log = tmp_path / "log.jsonl"
    empty = load(written(tmp_path)).agent
    assert empty.agent_id == load(written(tmp_path, "{keep: all, keep_in: kept}")).agent.agent_id
    asked(written(tmp_path, "{copy: template}"), log)
    first = load(tmp_path / "eval.yaml").agent
    assert len({empty.agent_id, first.agent_id}) == 2
    assert first.described()["workspace"] == {"copy": "template", "sha256": first.described()["workspace"]["sha256"]}
    (tmp_path / "template" / "a.txt").write_text("two\n")
    events, said = asked(tmp_path / "eval.yaml", log)
    assert len(responses(events)) == 16
    assert said == ["agent command changed (its workspace): 8 responses of plain, polite will be asked again"]


def test_a_checkout_is_recorded_by_its_commit(tmp_path: Path) -> None:
    """The run event says what each task began with."""
    for arguments in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=K", "-c", "user.email=k@example.org", "commit", "--quiet", "--message", "m"],
    ):
        (tmp_path / "repo").mkdir(exist_ok=True)
        (tmp_path / "repo" / "a.txt").write_text("one\n")
        subprocess.run(["git", "-C", tmp_path / "repo", *arguments], check=True, timeout=60, capture_output=True)
    script = "git diff --stat | wc -l; echo two >a.txt; git diff --unified=0 | tail -1"
    events, _ = asked(written(tmp_path, "{git: repo, keep: all}", script=script), tmp_path / "log.jsonl")
    assert {event["text"] for event in responses(events)} == {"0\n+two"}
    head = (tmp_path / "repo" / ".git" / "HEAD").read_text().removeprefix("ref: ").strip()
    commit = (tmp_path / "repo" / ".git" / head).read_text().strip()
    assert events[0]["agent"]["workspace"] == {"git": "repo", "commit": commit}
    kept = Path(responses(events)[0]["workspace"])
    diff = subprocess.run(["git", "-C", kept, "diff", commit], check=True, timeout=60, capture_output=True, text=True)
    assert diff.stdout.endswith("-one\n+two\n")


@pytest.mark.slow
def test_kept_workspaces_are_all_different_and_as_they_were_left(tmp_path: Path) -> None:
    """Also for ids that a file name would make equal, for repetitions, and when the same is asked again."""
    config, log = written(tmp_path, "{copy: template, keep: all, keep_in: kept}"), tmp_path / "log.jsonl"
    events, _ = asked(config, log)
    places = {event["workspace"] for event in responses(events)}
    assert len(places) == 8
    assert {Path(place).parents[1] for place in places} == {tmp_path / "kept"}
    assert all(Path(place, "made.txt").read_text() == "done\n" for place in places)
    again, _ = asked(config, log, fresh=True)
    assert len({event["workspace"] for event in responses(again)}) == 16


def test_only_those_of_failures_are_kept_on_request(tmp_path: Path) -> None:
    """The failure's event says where its folder is; that of an answer is gone."""
    script = 'read task; case "$task" in *politely*) echo why >why.txt; exit 3;; esac; echo fine'
    events, _ = asked(written(tmp_path, "{keep: failed}", script=script), tmp_path / "log.jsonl")
    failures = [event for event in events if event["type"] == "failure"]
    assert [Path(event["workspace"], "why.txt").read_text() for event in failures] == ["why\n"] * 4
    assert not any("workspace" in event for event in responses(events))
    assert len(list((tmp_path / "work.workspaces").glob("*/*"))) == 4


@pytest.mark.slow
def test_a_judge_in_the_same_command_sees_what_is_not_kept(tmp_path: Path, scratch: Path) -> None:
    """`run` judges before a folder is gone, and leaves none."""
    events, said = asked(written(tmp_path, "{copy: template}", LOOKS), tmp_path / "log.jsonl", judged=True)
    judgments = [event for event in events if event["type"] == "judgment"]
    assert [event["scores"]["score"]["score"] for event in judgments] == [1.0] * 8
    seen = {event["scores"]["score"]["reasoning"] for event in judgments}
    assert len(seen) == 8
    assert not any(Path(place).exists() for place in seen)
    assert not list(scratch.iterdir())
    assert not said


@pytest.mark.slow
def test_a_later_judge_sees_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge of another command finds the folder where the event says that it is."""
    config, log = written(tmp_path, "{keep: all}", LOOKS), tmp_path / "log.jsonl"
    _, said = asked(config, log)
    assert not said
    monkeypatch.chdir(tmp_path)
    assert judge_log(log, JudgeWork.of([], Request(quiet=True), {}, said.append)) == 0
    assert [event["scores"]["score"]["score"] for event in events_of(log, "judgment")] == [1.0] * 8
    kept = {event["workspace"] for event in events_of(log, "response")}
    assert {event["scores"]["score"]["reasoning"] for event in events_of(log, "judgment")} == kept


def test_a_later_judge_of_what_is_gone_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a failure of the judge and never a score, and `generate` says it before anything is paid."""
    config, log = written(tmp_path, "{}", LOOKS), tmp_path / "log.jsonl"
    _, said = asked(config, log)
    assert said == ["command: needs the workspaces, which will be gone by then; set `workspace: {keep: all}`"]
    monkeypatch.chdir(tmp_path)
    assert judge_log(log, JudgeWork.of([], Request(quiet=True), {}, said.append)) == 8
    failures = events_of(log, "failure")
    assert {event["kind"] for event in failures} == {"judge_error"}
    assert "that was not kept or is not here" in failures[0]["message"]


def test_an_answer_outlives_a_folder_that_cannot_be_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What was paid for is in the log; its event does not name a place where nothing is."""
    (tmp_path / "work.workspaces").write_text("a file in the way")
    events, _ = asked(written(tmp_path, "{keep: all}"), tmp_path / "log.jsonl")
    assert len(responses(events)) == 8
    assert not any("workspace" in event for event in responses(events))
    assert "the workspace could not be kept there" in caplog.text


def test_a_template_that_changes_in_the_middle_of_a_run_answers_nothing(tmp_path: Path) -> None:
    """A task begins with what the run says, or it is a failure of the machine."""
    config = load(written(tmp_path, "{copy: template}"))
    (tmp_path / "template" / "a.txt").write_text("two\n")
    generate(config, tmp_path / "log.jsonl", Request(quiet=True), lambda _: None)
    failures = events_of(tmp_path / "log.jsonl", "failure")
    assert {event["kind"] for event in failures} == {"infra_error"}
    assert "template was changed after the run had begun" in failures[0]["message"]


def test_a_second_copy_is_made_from_the_first(tmp_path: Path, scratch: Path) -> None:
    """So that all tasks of a run begin with the same; after the end of a run it is looked at anew."""
    written(tmp_path)
    template = workspace_template.of_folder(tmp_path / "template", "template")

    async def main() -> None:
        workspaces = Workspaces(template)
        first = await workspaces.new()
        (first / "a.txt").write_text("spoilt\n")
        (tmp_path / "template" / "a.txt").write_text("two\n")
        second = await workspaces.new()
        assert (second / "a.txt").read_text() == "one\n"
        await workspaces.close()
        with pytest.raises(TemplateError, match="was changed"):
            await workspaces.new()
        for workspace in (first, second):
            workspaces.remove(workspace)
            workspaces.remove(workspace)
        await workspaces.move(first, tmp_path / "kept")  # there is nothing to move

    asyncio.run(main())
    assert not list(scratch.iterdir())
    assert not (tmp_path / "kept").exists()


async def test_other_tasks_go_on_while_folders_are_removed_and_only_many_of_them_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thousands of files hold up nobody, and there are never many more folders than attempts at once."""
    workspaces, may_go = Workspaces(), threading.Event()
    first, remove = [await workspaces.new() for _ in range(MOST_REMOVED)], temporary._remove  # noqa: SLF001 - made slow

    def slowly(path: Path) -> None:
        assert may_go.wait(10)
        remove(path)

    monkeypatch.setattr(temporary, "_remove", slowly)
    for folder in first[1:]:
        workspaces.remove(folder)
    another = await workspaces.new()
    workspaces.remove(first[0])
    making = asyncio.ensure_future(workspaces.new())
    await asyncio.sleep(0.05)
    assert ([folder.exists() for folder in first], making.done()) == ([True] * MOST_REMOVED, False)
    may_go.set()
    for folder in (another, await making):
        workspaces.remove(folder)
    await workspaces.close()
    assert not any(folder.exists() for folder in (*first, another, making.result()))


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, OSError])
def test_a_folder_that_is_being_removed_is_gone_however_the_command_ends(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Its removal is not cancelled with what else runs."""
    remove = temporary._remove  # noqa: SLF001 - made slow

    def slowly(path: Path) -> None:
        time.sleep(0.1)
        remove(path)

    async def main() -> None:
        workspaces = Workspaces()
        made = [await workspaces.new() for _ in range(10)]  # more than there are threads
        monkeypatch.setattr(temporary, "_remove", slowly)
        for workspace in made:
            workspaces.remove(workspace)
        raise error

    with pytest.raises(error):
        asyncio.run(main())
    assert not list(scratch.iterdir())


async def test_of_a_folder_that_cannot_be_moved_whole_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full would stay full of what no event names; the task's own folder is removed as any other."""

    def move(workspace: Path, place: Path) -> None:
        shutil.copytree(workspace, place)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "move", move)
    workspaces = Workspaces()
    workspace = await workspaces.new()
    (workspace / "made.txt").write_text("done")
    with pytest.raises(OSError, match="No space left"):
        await workspaces.move(workspace, tmp_path / "kept" / "one")
    assert list((tmp_path / "kept").iterdir()) == []
    workspaces.remove(workspace)
    await workspaces.close()
    assert not workspace.exists()
