import json
import sys
from pathlib import Path

import pytest

from keval.config.reader import judge_from_description, load_judge
from keval.errors import EnvironmentLacksError, InputError, KevalError, PluginError, UsageError
from keval.judges import Case, JudgeError, Judgment, Score
from keval.judges.python import Python
from tests.cases import context
from tests.conftest import Keval

FUNCTIONS = """
import asyncio, os, sys


def same(case):
    return case["response"] == case["answer"]


def length(case):
    return len(case["response"]) / 10


async def later(case):
    await asyncio.sleep(0)
    return {"pass": True, "score": 0.5, "reasoning": case["metadata"]["topic"], "outcome": {"turns": case["turns"]}}


async def never(case):
    await asyncio.sleep(600)


def broken(case):
    return case["nothing"]


def unreachable(case):
    raise TimeoutError("the database does not answer")


def spoils(case):
    case["metadata"].clear()
    return True


def prints(case):
    print("looking")
    return True


class Number(float):
    def __repr__(self):
        return f"np.float64({float(self)})"


def half(case):
    return Number(0.5)


def score_alone(case):
    return {"score": 0.4}


def no_number(case):
    return {"pass": True, "score": float("nan")}


def half_in_a_dict(case):
    return {"pass": True, "score": Number(0.5), "outcome": {"x": [Number(0.25)]}}


def near(case):
    import numpy
    return numpy.isclose(1.0, 1.0)


def of_numpy(case):
    import numpy
    return numpy.float32(0.5)


def of_numpy_in_a_dict(case):
    import numpy
    return {"pass": numpy.bool_(True), "score": numpy.float32(0.5), "outcome": {"x": [numpy.int64(2)]}}


def endless(case):
    return {"pass": True, "reasoning": "x" * 11_000_000}


def huge(case):
    return 10**5000


def leaves(case):
    sys.exit(3)


async def leaves_later(case):
    await asyncio.sleep(0)
    sys.exit(3)


def interrupts(case):
    raise KeyboardInterrupt


def writes(case):
    os.system("echo from a program")
    os.write(1, b"from the system\\n")
    sys.__stdout__.write("from Python\\n")
    sys.__stdout__.flush()
    return True


nothing = None
said = lambda case: {}
text = lambda case: "yes"
"""

SAMPLE = {"id": "s1", "question": "q", "answer": "right", "topic": "t"}


def judge_of(folder: Path, function: str, **options: float) -> Python:
    """Return a judge with a function of the file above."""
    path = folder / "functions.py"
    path.write_text(FUNCTIONS, encoding="utf-8")
    return Python(function=function, **options).placed(folder)  # type: ignore[arg-type] # options that are numbers


CONFIG = """
name: asks
dataset: {path: questions.jsonl}
agent: {type: command, command: [echo, right]}
conditions: {plain: {system_prompt: Answer.}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""


async def judged(judge: Python, text: str) -> Judgment:
    """Return a judgment."""
    return await judge.judge(Case(judge.given(SAMPLE), text), context(judge))


async def test_a_function_says_whether_an_answer_passes_or_its_score_or_both(tmp_path: Path) -> None:
    """By a bool, a number or a dict; sync or async."""
    same = judge_of(tmp_path, "functions.py:same")
    assert (await judged(same, "right")).scores == {"score": Score(1, passed=True)}
    assert (await judged(same, "wrong")).scores == {"score": Score(0, passed=False)}
    assert (await judged(judge_of(tmp_path, "functions.py:length"), "four")).scores == {"score": Score(0.4)}
    judgment = await judged(judge_of(tmp_path, "functions.py:later"), "x")
    assert judgment.scores == {"score": Score(0.5, "t", passed=True)}
    assert judgment.outcome == {"turns": []}


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("broken", r"KeyError: 'nothing' \(.*functions.py:23: return case\[\"nothing\"\]\)"),
        ("said", "'pass' or 'score' is missing"),
        ("leaves", r"SystemExit: 3 \(functions.py:\d+: sys.exit\(3\)\)"),
        ("leaves_later", r"SystemExit: 3 \(functions.py:\d+: sys.exit\(3\)\)"),
        ("interrupts", "KeyboardInterrupt"),
        ("text", "returned str; expected a bool, a number or a dict"),
        ("endless", "returned more than 10485760 bytes"),
        ("huge", "its score, of too many digits, is outside 0 to 1"),
        ("no_number", "its score, nan, is outside 0 to 1"),
    ],
)
async def test_a_broken_function_is_an_error_of_the_judge(tmp_path: Path, function: str, problem: str) -> None:
    """It names the line, and there is no score."""
    with pytest.raises(JudgeError, match=problem) as caught:
        await judged(judge_of(tmp_path, f"functions.py:{function}"), "x")
    assert caught.value.kind == "judge_error"


async def test_what_a_function_prints_is_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to stderr: stdout may be the log."""
    assert (await judged(judge_of(tmp_path, "functions.py:prints"), "x")).scores["score"].passed
    assert tuple(capsys.readouterr()) == ("", "looking\n")


async def test_a_number_of_another_class_is_a_number(tmp_path: Path) -> None:
    """As numpy has them; the judgment can be logged."""
    for name, outcome in (("half", None), ("half_in_a_dict", {"x": [0.25]})):
        judgment = await judged(judge_of(tmp_path, f"functions.py:{name}"), "x")
        assert type(judgment.scores["score"].score) is float
        assert (judgment.scores["score"].score, judgment.outcome) == (0.5, outcome)


async def test_what_numpy_computes_is_what_python_would_have(tmp_path: Path) -> None:
    """A truth, a number, and both in a dict."""
    assert (await judged(judge_of(tmp_path, "functions.py:near"), "x")).scores == {"score": Score(1, passed=True)}
    assert (await judged(judge_of(tmp_path, "functions.py:of_numpy"), "x")).scores == {"score": Score(0.5)}
    judgment = await judged(judge_of(tmp_path, "functions.py:of_numpy_in_a_dict"), "x")
    assert (judgment.scores, judgment.outcome) == ({"score": Score(0.5, passed=True)}, {"x": [2]})


@pytest.mark.slow
def test_what_a_function_writes_past_python_is_no_data(tmp_path: Path, keval: Keval) -> None:
    """Neither the system's call nor a program that it starts reaches the log that stdout is."""
    judge_of(tmp_path, "functions.py:writes")
    (tmp_path / "judge.yaml").write_text("{type: python, function: 'functions.py:writes'}")
    (tmp_path / "questions.jsonl").write_text(json.dumps(SAMPLE))
    (tmp_path / "eval.yaml").write_text(CONFIG)
    done = keval("judge", "-j", "judge.yaml", stdin=keval("generate", "eval.yaml").stdout)
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["type"] for line in done.stdout.splitlines()} >= {"response", "judgment"}
    for said in ("from a program", "from the system", "from Python"):
        assert said in done.stderr


async def test_a_score_may_be_said_without_a_verdict(tmp_path: Path) -> None:
    """Whether it passes is then said by `pass_from`, as for a function that returns a number alone."""
    judgment = await judged(judge_of(tmp_path, "functions.py:score_alone"), "x")
    assert judgment.scores["score"] == Score(0.4, None, passed=None)


async def test_a_score_outside_the_scale_is_an_error(tmp_path: Path) -> None:
    """It is not cut off."""
    with pytest.raises(JudgeError, match="outside 0 to 1"):
        await judged(judge_of(tmp_path, "functions.py:length"), "x" * 11)


async def test_a_function_may_not_take_longer_than_timeout_s(tmp_path: Path) -> None:
    """It is not waited for any longer."""
    with pytest.raises(JudgeError, match=r"took longer than timeout_s, 0\.1 s"):
        await judged(judge_of(tmp_path, "functions.py:never", timeout_s=0.1), "x")


async def test_a_timeout_of_the_functions_own_is_not_taken_for_that_of_the_judge(tmp_path: Path) -> None:
    """It is told like anything else that a function raises, with its line."""
    with pytest.raises(JudgeError, match=r"TimeoutError: the database does not answer \(functions\.py:\d+"):
        await judged(judge_of(tmp_path, "functions.py:unreachable"), "x")


async def test_what_a_function_does_to_its_case_concerns_nobody_else(tmp_path: Path) -> None:
    """It has a copy."""
    judge = judge_of(tmp_path, "functions.py:spoils")
    case = Case(judge.given(SAMPLE), "x")
    await judge.judge(case, context(judge))
    assert case.sample == SAMPLE


async def test_a_module_may_be_installed_or_lie_in_the_configs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are found by their name."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_judges.py").write_text("def passes(case):\n    return True\n", encoding="utf-8")
    assert (await judged(Python(function="my_judges:passes").placed(tmp_path), "x")).scores["score"].passed
    assert (await judged(Python(function="operator:truth"), "x")).scores["score"].passed


@pytest.mark.parametrize(
    ("function", "kind", "problem"),
    [
        (
            "functions.py:nobody",
            PluginError,
            "judge 'python': functions.py:nobody: .* no function nobody",
        ),
        ("functions.py:nothing", PluginError, "has no function nothing"),
        ("operator:add", PluginError, "is given 1 argument: the case"),
        ("elsewhere.py:same", EnvironmentLacksError, "there is no file"),
        ("no_such_module:same", EnvironmentLacksError, "there is no module no_such_module"),
        ("functions.py", InputError, "write module:function or file.py:function"),
    ],
)
def test_a_function_that_cannot_be_called_is_found_with_the_config(
    tmp_path: Path, function: str, kind: type[KevalError], problem: str
) -> None:
    """Before any answer is paid for."""
    (tmp_path / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "judge.yaml").write_text(f"type: python\nfunction: {function}\n", encoding="utf-8")
    with pytest.raises(kind, match=problem):
        load_judge(tmp_path / "judge.yaml")


def test_an_edited_file_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a log's judge is built again only where its file is the one that it was."""
    (tmp_path / "judge.yaml").write_text("type: python\nfunction: f.py:same\n", encoding="utf-8")
    (tmp_path / "f.py").write_text("def same(case): return True\n", encoding="utf-8")
    described = json.loads(json.dumps(load_judge(tmp_path / "judge.yaml").described()))
    monkeypatch.chdir(tmp_path)
    assert judge_from_description(described).judge_id == described["judge_id"]
    (tmp_path / "f.py").write_text("def same(case): return False\n", encoding="utf-8")
    assert load_judge(tmp_path / "judge.yaml").judge_id != described["judge_id"]
    with pytest.raises(InputError, match="not what they were"):
        judge_from_description(described)


def test_options_are_checked() -> None:
    """Those that all judges of own code have, too."""
    with pytest.raises(UsageError, match="max: "):
        Python(function="operator:truth", min=1)
