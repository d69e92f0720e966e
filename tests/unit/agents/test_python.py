from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from keval.agents import AgentError
from keval.agents.python import Python
from keval.config.plugin_options import identity
from keval.errors import PluginError
from keval.processes import coroutines, functions
from tests.conftest import Keval
from tests.prompts import prompt

FUNCTIONS = """
import asyncio, threading
from keval.agents import AgentError

def tells(user_query, system_prompt, mcp_servers):
    return f"{user_query} {system_prompt} {sorted(mcp_servers)} {threading.current_thread().daemon}"

async def waits(user_query, system_prompt, mcp_servers):
    await asyncio.sleep(0)
    return user_query

class Agent:
    async def __call__(self, user_query, system_prompt, mcp_servers):
        return user_query
called = Agent()

def breaks(user_query, system_prompt, mcp_servers):
    raise ValueError("no index\\nat all")

def leaves(user_query, system_prompt, mcp_servers):
    raise SystemExit("bye")

def busy(user_query, system_prompt, mcp_servers):
    raise AgentError("infra_error", "busy", retryable=True, retry_after_s=3)

def stops(user_query, system_prompt, mcp_servers):
    raise StopIteration

both = threading.Barrier(40)
def meets(user_query, system_prompt, mcp_servers):
    both.wait(30)
    return "met"

is_over = threading.Event()
async def blocks(user_query, system_prompt, mcp_servers):
    is_over.wait(60)
    return user_query
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a config's folder with functions."""
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    return tmp_path


@pytest.mark.parametrize("name", ["waits", "called"])
async def test_a_coroutine_function_is_awaited(folder: Path, name: str) -> None:
    """As an object that can be called is in the end."""
    answer = await Python(function=f"mine.py:{name}").answer(prompt(folder, folder=folder))
    assert answer.text == "What is a kiwi?"


async def test_any_other_function_runs_in_a_thread(folder: Path) -> None:
    """It gets question, system prompt and servers; a thread that never ends does not keep keval from ending."""
    asked = prompt(folder, folder=folder, servers={"docs": {"type": "http", "url": "http://x"}})
    answer = await Python(function="mine.py:tells").answer(asked)
    assert answer.text == "What is a kiwi? Answer briefly. ['docs'] True"


async def test_as_many_functions_run_at_once_as_there_are_tasks(folder: Path) -> None:
    """No pool of threads makes forty tasks wait for each other."""
    agent, asked = Python(function="mine.py:meets"), prompt(folder, folder=folder)
    answers = await asyncio.gather(*(agent.answer(asked) for _ in range(40)))
    assert {answer.text for answer in answers} == {"met"}


@pytest.mark.parametrize(
    ("name", "said"),
    [("breaks", r"ValueError: no index.*\(mine.py:18: "), ("leaves", "SystemExit: bye"), ("stops", "StopIteration")],
)
async def test_an_exception_is_the_agents_failure(folder: Path, name: str, said: str) -> None:
    """Its last line is told, and where it was raised."""
    with pytest.raises(AgentError, match=f"(?s){said}") as caught:
        await Python(function=f"mine.py:{name}").answer(prompt(folder, folder=folder))
    assert (caught.value.kind, caught.value.retryable) == ("agent_error", False)


async def test_a_function_can_say_that_it_is_not_its_fault(folder: Path) -> None:
    """An AgentError is taken as it is."""
    with pytest.raises(AgentError, match="busy") as caught:
        await Python(function="mine.py:busy").answer(prompt(folder, folder=folder))
    assert (caught.value.kind, caught.value.retryable, caught.value.retry_after_s) == ("infra_error", True, 3)


def test_the_file_is_part_of_the_agent(folder: Path) -> None:
    """An edited function, also an installed one, is another agent; one that is not there is told before a run."""
    agent = Python(function="mine.py:tells")
    (file,) = agent.local_files(folder)
    assert file.name == "mine.py"
    assert agent.missing(folder, {}) is None
    assert "there is no file" in str(Python(function="gone.py:query").missing(folder, {}))
    with pytest.raises(PluginError, match="no function gone"):
        Python(function="mine.py:gone").missing(folder, {})
    assert Python(function="os.path:basename").local_files(folder) == ()
    (installed,) = Python(function="click.core:echo").local_files(folder)
    assert installed.name.endswith("core.py")
    assert Python(function="there_is_none:at_all").local_files(folder) == ()


def test_what_the_function_depends_on_is_part_of_the_agent(folder: Path) -> None:
    """As far as `files` names it; a pattern that finds nothing is told before a run, and none changes no identity."""
    (folder / "kb.json").write_text("{}")
    agent = Python(function="mine.py:tells", files=("kb.json",))
    assert [file.name for file in agent.local_files(folder)] == ["mine.py", "kb.json"]
    assert agent.missing(folder, {}) is None
    assert "'kb.md' finds no file" in str(Python(function="mine.py:tells", files=("kb.md",)).missing(folder, {}))
    plain = {"function": "mine.py:tells"}
    assert identity(Python, plain | {"files": []}) == identity(Python, plain)


@pytest.mark.parametrize(("name", "is_held_up"), [("waits", True), ("called", True), ("tells", False)])
async def test_who_waits_for_a_function_that_blocks_is_not_to_blame(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_held_up: bool
) -> None:
    """An async one cannot come to its end beside it, which says what to mend; a plain one has a thread of its own."""
    monkeypatch.setattr(coroutines, "STALLED_S", 0.2)
    is_over, began_s = functions.load("mine.py:blocks", folder).__globals__["is_over"], time.monotonic()
    asked = prompt(folder, folder=folder)
    blocking = asyncio.ensure_future(Python(function="mine.py:blocks").answer(asked))
    await asyncio.sleep(0.6)
    held_up = Python(function=f"mine.py:{name}").held_up(folder, began_s)
    is_over.set()
    assert (await blocking).text == asked.question
    told = f"an async function blocked the others: mine.py:{name} has to await, or to be a plain function"
    assert held_up == (told if is_held_up else None)


async def test_what_a_function_prints_is_no_data(capsys: pytest.CaptureFixture[str]) -> None:
    """In a run it goes to stderr: stdout may be the pipe to `keval judge`."""
    async with Python(function="mine.py:tells").opened():
        print("said")  # noqa: T201 - what is tested
    assert capsys.readouterr() == ("", "said\n")
    print("again", file=sys.stdout)  # noqa: T201 - stdout is back


def test_a_config_asks_a_function(keval: Keval, tmp_path: Path) -> None:
    """From the config to the log, in a pipe, with a function that prints."""
    (tmp_path / "mine.py").write_text(
        "def query(q, s, m):\n    print('noise')\n    return {'text': q, 'cost_usd': 0.5}\n"
    )
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "question": "Why?", "answer": "So."}\n')
    config = {
        "name": "mine",
        "dataset": {"path": "questions.jsonl"},
        "agent": {"type": "python", "function": "mine.py:query"},
        "conditions": {"plain": {"system_prompt": "Answer."}},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1},
    }
    (tmp_path / "eval.yaml").write_text(json.dumps(config))
    done = keval("generate", "eval.yaml")
    assert done.returncode == 0, done.stderr
    (response,) = (e for e in map(json.loads, done.stdout.splitlines()) if e["type"] == "response")
    assert (response["text"], response["cost_usd"]) == ("Why?", 0.5)
