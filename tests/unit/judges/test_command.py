import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keval.config.reader import judge_from_description, load_judge
from keval.errors import EnvironmentLacksError, InputError, UsageError
from keval.judges import Case, JudgeError, Judgment, Score
from keval.judges.command import Command
from tests.cases import context

linux = pytest.mark.skipif(sys.platform != "linux", reason="there are no real-time signals elsewhere")

ECHO = "import json, sys; case = json.load(sys.stdin); print(json.dumps({'pass': True, 'outcome': case}))"


async def judged(script: str, **options: Any) -> Judgment:  # noqa: ANN401 - any option
    """Let a Python program judge."""
    judge = Command(command=("python", "-I", "-S", "-c", script), **options)
    return await judge.judge(Case({"question": "q", "answer": "a", "id": "s1"}, "x"), context(judge))


async def test_a_program_gets_the_case_and_says_its_verdict() -> None:
    """As JSON, both ways."""
    judgment = await judged(ECHO)
    assert judgment.scores == {"score": Score(1, passed=True)}
    assert judgment.outcome is not None
    assert (judgment.outcome["response"], judgment.outcome["metadata"]) == ("x", {"id": "s1"})


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("import sys; sys.exit('broken')", "exit status 1; stderr ends: broken"),
        ("raise SystemExit(3)", "exit status 3; nothing on stderr"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        pytest.param("import os; os.kill(os.getpid(), 35)", "ended by signal 35", marks=linux),
        ("", "wrote nothing to stdout"),
        ("print('yes')", "not JSON: .*it is 'yes"),
        ("print('[]')", "expected an object"),
        ('print(\'{"pass": true, "score": 1.2}\')', "outside 0 to 1"),
        ("print('{}')", "'pass' or 'score' is missing"),
    ],
)
async def test_a_broken_program_is_an_error_of_the_judge(script: str, problem: str) -> None:
    """It says what was wrong, and there is no score."""
    with pytest.raises(JudgeError, match=problem) as caught:
        await judged(script)
    assert (caught.value.kind, caught.value.retryable) == ("judge_error", False)


async def test_a_byte_order_mark_is_none_of_the_output() -> None:
    """Programs on Windows write one."""
    judgment = await judged("import sys; sys.stdout.buffer.write(b'\\xef\\xbb\\xbf{\"pass\": true}')")
    assert judgment.scores["score"].passed


async def test_a_program_that_hangs_is_ended() -> None:
    """After timeout_s."""
    with pytest.raises(JudgeError, match="took longer than timeout_s"):
        await judged("import time; time.sleep(600)", timeout_s=0.2)


async def test_a_program_may_ask_to_be_tried_again() -> None:
    """By exit status 75."""
    with pytest.raises(JudgeError) as caught:
        await judged("raise SystemExit(75)")
    assert caught.value.retryable


async def test_no_key_reaches_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment is made from an allow-list."""
    monkeypatch.setenv("SOME_API_KEY", "secret")
    script = "import json, os; print(json.dumps({'pass': 'SOME_API_KEY' not in os.environ}))"
    assert (await judged(script)).scores["score"].passed


def config(folder: Path, verdict: str = "true") -> Path:
    """Write a judge's file beside its program."""
    (folder / "verdict.py").write_text(f"print('{{\"pass\": {verdict}}}')", encoding="utf-8")
    path = folder / "judge.yaml"
    path.write_text('type: command\ncommand: [python, "{folder}/verdict.py"]\n', encoding="utf-8")
    return path


async def test_the_program_is_found_from_the_configs_folder(tmp_path: Path) -> None:
    """Wherever keval runs."""
    judge = load_judge(config(tmp_path)).judge
    assert (await judge.judge(Case({"question": "q"}, "x"), context(judge))).scores["score"].passed


def test_an_edited_program_is_another_judge(tmp_path: Path) -> None:
    """Its old judgments are not mixed with the new ones."""
    ids = {load_judge(config(tmp_path, verdict)).judge_id for verdict in ("true", "false", "true")}
    assert len(ids) == 2


def test_a_log_names_the_program_that_it_was_judged_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge is built again where that program is, and refused where it is not or is another one."""
    described = json.loads(json.dumps(load_judge(config(tmp_path)).described()))
    monkeypatch.chdir(tmp_path)
    assert judge_from_description(described).judge_id == described["judge_id"]
    config(tmp_path, "false")
    with pytest.raises(InputError, match="the files that it names are not here, or not what they were"):
        judge_from_description(described)


def test_a_program_that_cannot_be_started_is_found_with_the_config(tmp_path: Path) -> None:
    """Before any answer is paid for."""
    path = tmp_path / "judge.yaml"
    path.write_text("type: command\ncommand: [./nowhere]\n", encoding="utf-8")
    with pytest.raises(EnvironmentLacksError, match=r"judge 'command': cannot start .* does not exist"):
        load_judge(path)
    path.write_text('{type: command, name: mine, command: [python, "{folder}/nowhere.py"]}\n', encoding="utf-8")
    with pytest.raises(EnvironmentLacksError, match="judge 'mine': its command names"):
        load_judge(path)
    with pytest.raises(UsageError, match="command: names no program"):
        Command(command=())
