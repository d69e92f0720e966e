# ruff: noqa: E501 - programs in one line, to be seen beside each other

import asyncio
import os
import platform
import shutil
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from keval.config.reader import load_judge
from keval.errors import InputError, UsageError
from keval.judges import Case, JudgeError, Judgment, Score, code_execution
from keval.judges.code_execution import CodeExecution
from tests.cases import context

UNSHARE = {"x86_64": 272, "aarch64": 97}

PROMPT = '''from typing import List


def total(numbers: List[int], start: int = 0) -> int:
    """ Return the sum.
    >>> total([1, 2])
    3
    """
'''

TEST = """
def check(candidate):
    assert candidate([1, 2]) == 3
    assert candidate([], 5) == 5
    assert candidate(numbers=[4]) == 4
"""

RIGHT = {
    "a body": "    result = start\n    for n in numbers:\n        result += n\n    return result\n",
    "a body of one line without its indentation": "return start + sum(numbers)",
    "a body whose first line has lost its indentation": "result = start\n    for n in numbers:\n        result += n\n    return result\n",
    "a body that has lost all of it": "result = start\nfor n in numbers:\n    result += n\nreturn result",
    "a whole function": "def total(numbers, start=0):\n    return sum(numbers) + start",
    "a fence with prose around it": "Here it is:\n```python\ndef total(numbers, start=0):\n    return sum(numbers) + start\n```\nIt sums.",
    "a fenced body": "```python\n    return sum(numbers) + start\n```",
    "of two fences the one that defines the name": "```python\ndef total(numbers, start=0):\n    return sum(numbers, start)\n```\nUse it:\n```python\nprint(total([1]))\n```",
    "else the last one": "```\nx\n```\n```\n    return sum(numbers) + start\n```",
    "prose around a function": "Sure!\n\ndef total(numbers, start=0):\n    return sum(numbers) + start\n\nThis works because sum adds.",
    "imports": "import math\n\ndef total(numbers, start=0):\n    return int(math.fsum(numbers)) + start",
    "prints 10 MB": "    print('x' * 10_000_000)\n    return sum(numbers) + start",
    "reads stdin": "    import sys\n    sys.stdin.read()\n    return sum(numbers) + start",
    "prose after a body": "    return sum(numbers) + start\n\nThis is the answer, isn't it?",
    "writes a file of its own": "    open('x','w').write('y')\n    import os\n    os.remove('x')\n    return sum(numbers)+start",
    "a class with what is tested in it": "class Sum:\n    def __call__(self, numbers, start=0):\n        return sum(numbers, start)\n\ntotal = Sum()",
}

WRONG = {
    "nothing": "",
    "a syntax error": "    return sum(numbers",
    "a wrong result": "    return 0",
    "sys.exit(0)": "import sys\nsys.exit(0)",
    "sys.exit(0) when called": "    import sys\n    sys.exit(0)",
    "os._exit(0)": "    import os\n    os._exit(0)",
    "a check of its own": "def check(candidate):\n    pass\ndef total(numbers, start=0):\n    return 0",
    "an object that equals everything": "    class E:\n        def __eq__(self, o): return True\n    return E()",
    "a number that equals everything": "    class E(int):\n        def __eq__(self, o): return True\n    return E(99)",
    "a variable of the environment": "    import os\n    return os.environ['SECRET']",
    "an endless loop": "    while True: pass",
    "forks": "    import os\n    for i in range(20): os.fork()\n    return 0",
    "prose alone": "I cannot do that.",
    "a failure of its own, told as the child would": """import os\nfor n in range(3, 20):\n    try: os.write(n, b'{"lost": "x"}\\n')\n    except OSError: pass\ndef total(*_): return 0""",
    "endless recursion": "    return total(numbers)",
    "4 GB of memory": "    x = bytearray(4 * 10**9)\n    return sum(numbers)+start",
    "kills its parent": "    import os\n    os.kill(os.getppid(), 9)\n    return 0",
    "a fork bomb": "    import os\n    while True: os.fork()",
    "a file of 64 MB": "    open('big','wb').write(b'x'*(64<<20))\n    return sum(numbers)+start",
    "looks for the mark": "    import gc\n    t=[o for o in gc.get_objects() if isinstance(o, dict) and 'mark' in o]\n    return t[0]",
}
"""What fails on every system."""

SHUT_IN = {
    "another file": "    print(open('/etc/passwd').read())\n    return sum(numbers)+start",
    "the network": "    import socket\n    s=socket.create_connection(('127.0.0.1', 22),1)\n    return sum(numbers)+start",
    "a file elsewhere": "    open('/tmp/pwned','w').write('x')\n    return sum(numbers)+start",
    "other processes": "    import os\n    for p in os.listdir('/proc'):\n        pass\n    return sum(numbers)+start",
}
"""What would be right if it could do what it does first."""


async def judged(answer: str, judge: CodeExecution | None = None, **sample: Any) -> Judgment:  # noqa: ANN401 - any field
    """Return a judgment."""
    judge = judge or CodeExecution(allow_code_execution=True, timeout_s=30)
    case = Case(judge.given({"prompt": PROMPT, "test": TEST, "entry_point": "total"} | sample), answer)
    return await judge.judge(case, context(judge))


async def passed(answers: Mapping[str, str], judge: CodeExecution | None = None) -> dict[str, bool | None]:
    """Return which answers pass; some are judged at once."""
    some = asyncio.Semaphore(3)

    async def one(answer: str) -> bool | None:
        async with some:
            return (await judged(answer, judge)).scores["code_execution"].passed

    return dict(zip(answers, await asyncio.gather(*map(one, answers.values())), strict=True))


async def isolation() -> list[str]:
    """Return what this system takes from code."""
    outcome = (await judged(RIGHT["a body"])).outcome
    assert outcome is not None
    taken: list[str] = outcome["isolation"]
    return taken


@pytest.mark.slow
async def test_right_code_passes_however_it_is_written() -> None:
    """As a body, a function or a class, fenced or not, with prose around it."""
    assert await passed(RIGHT) == dict.fromkeys(RIGHT, True)


@pytest.mark.slow
async def test_wrong_code_fails_whatever_it_tries() -> None:
    """None of it ends the judge, and none passes."""
    judge = CodeExecution(allow_code_execution=True, timeout_s=5)
    assert await passed(WRONG, judge) == dict.fromkeys(WRONG, False)


async def test_code_is_shut_in() -> None:
    """Without network, other processes and other files, where the system can do that."""
    if not {"network", "files"} <= set(await isolation()):
        pytest.skip("this system has neither namespaces nor Landlock for everyone")
    assert await passed(SHUT_IN) == dict.fromkeys(SHUT_IN, False)
    assert not await asyncio.to_thread(Path("/tmp/pwned").exists)  # noqa: S108 - where the code would have written


async def test_bubblewrap_is_used_where_it_is_installed() -> None:
    """And said; code that would reach out of it fails in there, too."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    outcome = (await judged(RIGHT["a body"])).outcome
    if outcome is None or not outcome["bubblewrap"]:
        pytest.skip("bubblewrap may not make namespaces here")
    assert await passed(SHUT_IN) == dict.fromkeys(SHUT_IN, False)


async def test_what_the_code_started_is_gone() -> None:
    """Also what has left its group and emptied its environment."""
    started = """
    import os
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve("/bin/sleep", ["sleep", "986.75"], {})
        os._exit(0)
    return sum(numbers, start)
"""
    await judged(started)
    assert "986.75" not in {
        word for process in psutil.process_iter(["cmdline"]) for word in process.info["cmdline"] or ()
    }


async def test_a_pass_says_how_the_code_was_shut_in() -> None:
    """And a failure why it failed."""
    judgment = await judged(RIGHT["a body"])
    assert judgment.outcome is not None
    assert set(judgment.outcome) == {"isolation", "bubblewrap"}
    failed = await judged("    return 0")
    assert failed.scores["code_execution"].reasoning == "assertion failed in `assert candidate([1, 2]) == 3`"


@pytest.mark.parametrize(
    ("prompt", "test", "answer"),
    [
        ("def swap(pair):\n", "assert swap((1, 'a')) == ('a', 1)", "return pair[::-1]"),
        ("def odd(n):\n", "assert list(odd(3)) == [1, 3, 5]", "for i in range(n):\n    yield 2 * i + 1"),
        ("def sort(items):\n", "items = [2, 1]\nsort(items)\nassert items == [1, 2]", "items.sort()"),
        ("def half(n):\n", "assert abs(half(1) - 0.5) < 1e-9 and half(float('inf')) == float('inf')", "return n / 2"),
        ("def fail(n):\n", "try:\n    fail(1)\n    assert False\nexcept ValueError: pass", "raise ValueError(n)"),
        (
            "def helper(n):\n    return n + 1\n\ndef twice(n):\n",
            "def check(f):\n    assert f(1) == helper(helper(1))",
            "return helper(helper(n))",
        ),
        (
            "",
            "s = Stack()\ns.push({1: b'x'})\nassert s.pop() == {1: b'x'} and len(s) == 0",
            "class Stack:\n    def __init__(self):\n        self.items = []\n    def push(self, item):\n        self.items.append(item)\n    def pop(self):\n        return self.items.pop()\n    def __len__(self):\n        return len(self.items)",
        ),
    ],
)
async def test_tests_see_values_as_the_code_gave_them(prompt: str, test: str, answer: str) -> None:
    """With their types, changed arguments, raised errors, and objects that live in the code."""
    entry_point = "Stack" if not prompt else prompt.rpartition("def ")[2].partition("(")[0]
    judgment = await judged(answer, prompt=prompt, test=test, entry_point=entry_point)
    assert judgment.scores["code_execution"].passed, judgment


VECTOR = """
class Vector:
    def __init__(self, *items):
        self.items = list(items)
    def __repr__(self):
        return f"<{self.items}>"
    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.items, other.items)))
    def __rmul__(self, number):
        return Vector(*(number * item for item in self.items))
    def __eq__(self, other):
        return self.items == other.items
    def __lt__(self, other):
        return self.items < other.items
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        self.items = [str(error)]
        return kind is ValueError
    def __getitem__(self, index):
        return self.items[index]
    def __setitem__(self, index, value):
        self.items[index] = value
    def __contains__(self, item):
        return item in self.items
    def __float__(self):
        return 0.5
"""

BY_VALUE = {
    "decimals": (
        "from decimal import Decimal\ndef f(n):\n    return Decimal('0.10')",
        "assert str(f(1)) == '0.10' and f(1) + 1 > 1",
    ),
    "fractions": (
        "from fractions import Fraction\ndef f(n):\n    return Fraction(n, 2)",
        "from fractions import Fraction\nassert f(3) == Fraction(3, 2) == 1.5",
    ),
    "dates": (
        "import datetime as d\ndef f(n):\n    return n + d.timedelta(1), d.datetime(2020, 1, 1, 5)",
        "import datetime as d\nassert f(d.date(2020, 1, 1)) == (d.date(2020, 1, 2), d.datetime(2020, 1, 1, 5))",
    ),
    "deques": (
        "def f(n):\n    n.rotate(1)\n    return n",
        "from collections import deque\nn = deque([1, 2])\nassert f(n) == deque([2, 1]) == n",
    ),
    "ranges": ("def f(n):\n    return range(n)", "assert f(3) == range(3) and f(3)[1] == 1"),
    "named tuples": (
        "from collections import namedtuple\ndef f(n):\n    return namedtuple('P', 'x y')(n, 2)",
        "assert f(1).x == 1 and f(1) == (1, 2)",
    ),
    "by keyword in place": ("def f(n):\n    n.append(1)", "n = []\nf(n=n)\nassert n == [1]"),
    "keys": ("def f(n):\n    return {n: 2}.keys()", "assert f(1) == {1} and list(f(1)) == [1] and 1 in f(1)"),
    "paths": (
        "import pathlib\ndef f(n):\n    return pathlib.Path(n) / 'b'",
        "from pathlib import Path\nassert f('a') == Path('a/b')",
    ),
    "what it yields": ("def f(n):\n    yield from range(n)", "assert 2 in f(3) and 3 not in f(3)"),
    "its name": ("def f(n):\n    pass", "assert f.__name__ == 'f' and f(1) is None"),
    "coroutines": ("async def f(n):\n    return n + 1", "import asyncio\nassert asyncio.run(f(2)) == 3"),
    "errors of its own kind": (
        "class MyErr(ValueError):\n    pass\ndef f(n):\n    raise MyErr('no')",
        "try:\n    f(1)\n    assert 0\nexcept ValueError as e:\n    assert str(e) == 'no'",
    ),
}
"""Code and tests that use more than numbers, text and lists."""


@pytest.mark.slow
async def test_tests_may_use_what_the_standard_library_makes() -> None:
    """Right code is right whichever kind of value it gives."""
    for name, (code, test) in BY_VALUE.items():
        judgment = await judged(code, prompt="", test=test, entry_point="f")
        assert judgment.scores["code_execution"].passed, (name, judgment)


async def test_tests_of_a_class_may_do_with_its_objects_what_python_does() -> None:
    """Operators, comparisons, items, attributes, blocks and types."""
    test = """
v, w = Vector(1, 2), Vector(3, 4)
assert repr(v) == "<[1, 2]>" and v + w == Vector(4, 6) == 2 * Vector(2, 3) and v < w and v != w
v[0] = 5
v.name = "v"
assert 5 in v and v[0] == 5 and v.name == "v" and float(v) == 0.5 and isinstance(v, Vector) and not isinstance(5, Vector)
with v as entered:
    assert entered == v
    raise ValueError("left")
assert v.items == ["left"]
"""
    judgment = await judged(VECTOR, prompt="", test=test, entry_point="Vector")
    assert judgment.scores["code_execution"].passed, judgment


CHEAT = """
class Cheat:
    def __eq__(self, other): return True
    def __bool__(self): return True
    def __lt__(self, other): return True
    def __contains__(self, item): return True
    def __sub__(self, other): return 0.0
    def __getattr__(self, name): return lambda *_: True
def f(n):
    return Cheat()
"""

METHODS = "import types\nf = lambda n: types.SimpleNamespace(startswith=lambda *_: True)"
"""No class of its own, and yet an object that says what is expected."""


@pytest.mark.parametrize("code", [CHEAT, "from unittest.mock import MagicMock\nf = lambda n: MagicMock()"])
async def test_an_object_of_its_own_cannot_say_that_a_test_is_right(code: str) -> None:
    """Where a function is asked for, what tests decide by is not what the answer's own class says."""
    tests = ("f(2) == f(3)", "f('abc').startswith('ab')", "7 in f(2)", "f(2)", "f(2) < f(3)", "abs(f(2) - 7) < 1e-6")
    for test in tests:
        judgment = await judged(code, prompt="def f(n):\n", test=f"assert {test}", entry_point="f")
        score = judgment.scores["code_execution"]
        assert score.passed is False, test


async def test_an_object_whose_methods_are_a_texts_does_not_say_that_a_test_is_right() -> None:
    """Nor does it need a class of its own for that."""
    judgment = await judged(METHODS, prompt="def f(n):\n", test="assert f(1).startswith('ab')", entry_point="f")
    assert judgment.scores["code_execution"].passed is False


UNGUARDED = """
import sys
frame = sys._getframe()
while frame is not None and "check_decides" not in frame.f_globals:
    frame = frame.f_back
if frame is not None:
    frame.f_globals["check_decides"] = lambda *_: None
"""
"""Takes from the child what tells objects of the answer's own class."""


@pytest.mark.parametrize("test", ["f(2) == f(3)", "7 in f(2)", "f(2) < 7", "abs(f(2) - 7) < 1e-6"])
async def test_code_that_changes_its_own_process_does_not_pass_either(test: str) -> None:
    """What the tests hang on is not asked of an object, whatever the code's process says."""
    try:
        judgment = await judged(UNGUARDED + CHEAT, prompt="def f(n):\n", test=f"assert {test}", entry_point="f")
    except JudgeError as error:
        assert "an object that only the code knows" in str(error)  # noqa: PT017 - either is right
    else:
        assert judgment.scores["code_execution"].passed is False


async def test_what_lives_in_another_process_cannot_be_copied() -> None:
    """That is no fault of the answer."""
    with pytest.raises(JudgeError, match="the tests copy an object"):
        await judged(VECTOR, prompt="", test="import copy\ncopy.copy(Vector(1))", entry_point="Vector")


async def test_a_long_name_of_an_exception_does_not_go_into_the_log() -> None:
    """It is cut off."""
    code = "def f(n):\n    raise type('E' * 600_000, (Exception,), {})('m' * 600_000)"
    judgment = await judged(code, prompt="", test="f(1)", entry_point="f")
    score = judgment.scores["code_execution"]
    assert score.passed is False
    assert len(score.reasoning or "") < 1000


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        ({"entry_point": None}, "names no function"),
        ({"entry_point": "to tal"}, "names no function"),
        ({"test": ["assert True"]}, "'test' is not a text"),
        ({"test": "def check(candidate):\n    pass"}, "never call 'total'"),
        ({"test": "def check(candidate:"}, "SyntaxError"),
        ({"test": "assert totally(1)"}, "NameError"),
        ({"test": "total(print)"}, "not plain data"),
    ],
)
async def test_a_sample_that_cannot_be_tested_is_an_error_and_never_a_pass(sample: Any, problem: str) -> None:  # noqa: ANN401 - any fields
    """It is the dataset's mistake."""
    with pytest.raises(JudgeError, match=problem) as caught:
        await judged(RIGHT["a body"], **sample)
    assert caught.value.kind == "judge_error"


async def test_other_work_goes_on_while_bubblewrap_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """To try it takes a moment, in which the other answers are asked for."""
    tried_in: list[int] = []

    def tried(*_: object) -> list[str]:
        tried_in.append(threading.get_ident())
        return []

    monkeypatch.setattr(code_execution, "_bubblewrap", tried)
    judge = CodeExecution(allow_code_execution=True, allow_weak_isolation=True)
    sample = {"prompt": "", "test": "assert f() == 1", "entry_point": "f"}
    assert (await judge.judge(Case(sample, "def f(): return 1"), context(judge))).scores["code_execution"].passed
    assert tried_in
    assert threading.get_ident() not in tried_in


async def test_a_sample_without_tests_has_no_score() -> None:
    """The metric is not applicable."""
    given = (await judged("x", test=None)).scores["code_execution"]
    assert given == Score(None, not_applicable="the sample has no 'test'", outside=True)


def test_nothing_is_run_unless_the_config_allows_it(tmp_path: Path) -> None:
    """A config that does not is refused before any answer is paid for."""
    path = tmp_path / "judge.yaml"
    path.write_text("type: code_execution\nallow_code_execution: false\n", encoding="utf-8")
    with pytest.raises(InputError, match="say allow_code_execution: true if it may"):
        load_judge(path)
    path.write_text("type: code_execution\n", encoding="utf-8")
    with pytest.raises(InputError, match="'allow_code_execution' is missing"):
        load_judge(path)


async def test_a_judge_that_may_not_run_code_says_so() -> None:
    """It gives no score."""
    with pytest.raises(JudgeError) as caught:
        await judged(RIGHT["a body"], CodeExecution(allow_code_execution=False))
    assert caught.value.kind == "code_refused"


REFUSES = """#!{python}
import ctypes, os, struct, sys
calls = [(0x20, 0, 0, 0), (0x15, 2, 0, {unshare}), (0x15, 1, 0, 444), (6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x00050001)]
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in calls))
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
ctypes.CDLL(None).prctl(22, 2, struct.pack("HxxxxxxQ", len(calls), ctypes.addressof(filters)), 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""A Python for which the kernel refuses namespaces and Landlock, as in many containers."""


@pytest.mark.skipif(shutil.which("bwrap") is not None, reason="bubblewrap shuts code in")
@pytest.mark.skipif(platform.machine() not in UNSHARE, reason="the number of the system call is not known here")
async def test_what_the_system_cannot_shut_in_is_refused_before_answers_are_paid(tmp_path: Path) -> None:
    """The config says what is lacking and what to write; nothing runs until it does."""
    python = tmp_path / "python"
    python.write_text(REFUSES.format(python=sys.executable, unshare=UNSHARE[platform.machine()]))
    python.chmod(0o755)
    path = tmp_path / "judge.yaml"
    path.write_text(f"{{type: code_execution, allow_code_execution: true, python: {python}}}")
    with pytest.raises(InputError, match=r"the network and the files of this user.*allow_weak_isolation: true"):
        load_judge(path)
    with pytest.raises(JudgeError, match="the network and the files"):
        await judged(RIGHT["a body"], CodeExecution(allow_code_execution=True, python=str(python)))
    weak = CodeExecution(allow_code_execution=True, allow_weak_isolation=True, python=str(python))
    judgment = await judged(RIGHT["a body"], weak)
    assert judgment.scores["code_execution"].passed
    assert (judgment.outcome or {})["isolation"] == []


def test_limits_are_above_0() -> None:
    """All problems at once."""
    with pytest.raises(UsageError) as caught:
        CodeExecution(allow_code_execution=True, timeout_s=float("inf"), memory_mb=0)
    assert len(caught.value.problems) == 2


async def test_another_python_may_run_the_code() -> None:
    """One with packages of the user's."""
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        pytest.skip(f"there is no {python}")
    assert (
        (await judged(RIGHT["a body"], CodeExecution(allow_code_execution=True, python=python)))
        .scores["code_execution"]
        .passed
    )
