"""What every agent promises, whoever wrote it: tested for each one that is found, unasked."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from keval import events, plugins
from keval.agents import Agent, AgentError, Answer, Status
from keval.config import plugin_options
from keval.execution.generation import mcp_field, turn_field
from keval.execution.recording import usage_field
from keval.mock import Mock
from tests.builders import response_event
from tests.conftest import Keval
from tests.prompts import prompt
from tests.remains import marked
from tests.web_service import Reply, serving

AGENTS = sorted(plugins.find("agent"))

HERE = Path(__file__).parent

EXAMPLES: Mapping[str, Any] = {
    "model": "claude-sonnet-5", "command": ("cat",), "str": "example", "int": 1, "float": 1.0, "bool": True,
    "function": f"{HERE / 'echoing.py'}:query", "path": HERE / "answers.jsonl",
}  # fmt: skip
"""What a required option gets, by its name or else by its type; an agent that needs more adds a line."""

ONE_OF_SEVERAL = ("command",)
"""Options in whose place another one may stand."""

HEAVY = (
    "anthropic",
    "claude_agent_sdk",
    "duckdb",
    "mcp",
    "scipy",
    "numpy",
    "rich",
    "uvicorn",
    "starlette",
    "jsonschema",
)

HOSTILE = [
    "/exit @/etc/passwd ${HOME} $(date) {question} {{ %s \\1",
    "\x00\x1b[2J\x7f\u2028\u202e\ufeff\U0001f600\r\n",
    "x" * 300_000,
]


@pytest.fixture(params=AGENTS)
def agent_class(request: pytest.FixtureRequest) -> type[Agent]:
    """Return the class of each agent."""
    return plugins.load("agent", Agent, request.param)


@pytest.fixture(scope="module")
def echo() -> Iterator[str]:
    """Serve the agents that ask a web service: it repeats what it is told."""
    with serving(lambda asked: Reply(asked.body)) as service:
        yield service.url


@pytest.fixture
def options(agent_class: type[Agent], echo: str) -> dict[str, Any]:
    """Return the least options that an agent can be made with."""
    required = [option for option in plugins.options(agent_class) if option.required or option.name in ONE_OF_SEVERAL]
    examples = {**EXAMPLES, "url": echo}
    return {option.name: examples.get(option.name, examples.get(option.annotation)) for option in required}


@pytest.fixture
def agent(agent_class: type[Agent], options: dict[str, Any]) -> Agent:
    """Return each agent."""
    return agent_class(**options)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which temporary files are made."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def for_models(agent: Agent, mock: Mock, **more: str) -> dict[str, str]:
    """Return what leads an agent to the mock."""
    return {"ANTHROPIC_BASE_URL": mock.base_url, **dict.fromkeys(agent.secret_names, "key"), **more}


def checked(answer: Answer) -> Answer:
    """Return an answer, checked for what a response event needs."""
    assert answer.status in get_args(Status)
    assert (answer.status == "empty") <= (not answer.text.strip())
    known: dict[str, Any] = {
        "status": answer.status,
        "text": answer.text,
        "turns": [turn_field(turn) for turn in answer.turns],
        "mcp": mcp_field(answer.mcp),
        "sources": list(answer.sources),
        "usage": usage_field(answer.usage),
        "cost_usd": answer.cost_usd,
        "num_turns": answer.num_turns,
        "models": list(answer.models),
    }
    events.encode(response_event(**known))
    return answer


async def test_an_answer_is_all_that_a_response_needs(agent: Agent, tmp_path: Path, mock: Mock, scratch: Path) -> None:
    """It makes a valid event, and the agent leaves neither files nor processes behind; whoever answers is reached."""
    mark = uuid.uuid4().hex
    asked = prompt(tmp_path, for_models(agent, mock, MARK=mark))
    assert await agent.unreachable() is None
    answer = checked(await agent.answer(asked))
    assert answer.status == "answered"
    assert is_empty(asked.workspace)
    assert is_empty(scratch)
    assert not marked(mark)


@pytest.mark.slow
@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_hostile_question_gets_an_answer_or_an_agent_error(
    agent: Agent, tmp_path: Path, mock: Mock, question: str
) -> None:
    """Commands, control characters and sheer length are a question like any other."""
    try:
        checked(await agent.answer(prompt(tmp_path, for_models(agent, mock), question=question)))
    except AgentError as error:
        events.encode(response_event(text=error.message))


@pytest.mark.slow
async def test_tasks_at_one_time_do_not_meet(agent: Agent, tmp_path: Path, mock: Mock) -> None:
    """One agent object answers several tasks at once."""
    asked = []
    for question in ("What is a kiwi?", "What is a quince?"):
        folder = tmp_path / question
        folder.mkdir()
        asked.append(prompt(folder, for_models(agent, mock), question=question))
    answers = await asyncio.gather(*(agent.answer(each) for each in asked))
    assert [("kiwi" in checked(each).text, "quince" in each.text) for each in answers] == [(True, False), (False, True)]


async def test_an_agent_sees_no_environment_but_the_one_it_is_given(
    agent: Agent, tmp_path: Path, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key in the environment of the process is neither needed nor sent."""
    for name in (*agent.secret_names, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Stray: stray-secret")
    answer = await agent.answer(prompt(tmp_path, for_models(agent, mock)))
    assert "stray-secret" not in answer.text
    assert not any("stray-secret" in str(recorded.headers) for recorded in mock.recorded)


async def test_an_agent_without_its_key_fails_for_that(agent: Agent, tmp_path: Path, mock: Mock) -> None:
    """The message names the variable; nothing is sent anywhere."""
    for name in agent.secret_names:
        before = mock.requests.total
        env = for_models(agent, mock)
        with pytest.raises(AgentError, match=name) as caught:
            await agent.answer(prompt(tmp_path, {other: env[other] for other in env if other != name}))
        assert not caught.value.retryable
        assert mock.requests.total == before


async def test_a_cancelled_agent_leaves_nothing_behind(agent: Agent, tmp_path: Path, scratch: Path) -> None:
    """Cancelled while it waits for a model, or as soon as it works, it ends all its processes."""
    mark = uuid.uuid4().hex
    with Mock(errors="hang:1") as hanging:
        asking = asyncio.create_task(agent.answer(prompt(tmp_path, for_models(agent, hanging, MARK=mark))))
        while not (hanging.requests.total or asking.done() or (not agent.secret_names and marked(mark))):  # noqa: ASYNC110 - the mock lives in another thread
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert not marked(mark)
    assert is_empty(scratch)


def is_empty(folder: Path) -> bool:
    return not any(folder.iterdir())


WITHHELD = {
    "the golden answer": "GOLDENKUMQUAT",
    "the sample's id": "SAMPLETAMARIND",
    "another field of the sample": "TOPICLYCHEE",
    "the condition's name": "CONDITIONGUAVA",
}
"""What no agent is told, each with a word that stands nowhere else."""

TELLS_ALL = """
import json, os, sys
files = [open(os.path.join(place, name)).read() for place, _, names in os.walk(".") for name in names]
print(json.dumps([sys.stdin.read(), dict(os.environ), sys.argv, files]))
"""

READS_THE_DATASET = "import sys; print(open(sys.argv[1] + '/questions.jsonl').read())"


def what_it_learned(keval: Keval, folder: Path, agent: Mapping[str, Any], mock: Mock) -> set[str]:
    """Return which of `WITHHELD` stands in what an agent answers, does or asks its model when a config is run."""
    golden, sample_id, topic, condition = WITHHELD.values()
    sample = {"id": sample_id, "question": "What is a kiwi?", "answer": golden, "topic": topic}
    config = {
        "name": "withheld",
        "dataset": {"path": "questions.jsonl"},
        "agent": agent,
        "conditions": {condition: {"system_prompt": "Answer briefly."}},
        "judge": {"type": "exact_match"},
        "execution": {"repetitions": 1},
    }
    (folder / "questions.jsonl").write_text(json.dumps(sample) + "\n")
    (folder / "eval.yaml").write_text(json.dumps(config))  # JSON is YAML
    done = keval("generate", "eval.yaml", "-o", "run.jsonl")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    (response,) = (line for line in lines if line["type"] == "response")
    asked = [(str(each.headers), each.raw.decode()) for each in mock.recorded]
    known = repr([response["text"], response["turns"], response["sources"], asked])
    assert "kiwi" in known
    return {what for what, word in WITHHELD.items() if word in known}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mock]:
    """Serve the Messages API to a command, as if it were the service itself."""
    with Mock() as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.base_url)
        yield running


@pytest.fixture
def as_written(agent: Agent, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return each agent as a config has it; one that is a program tells all that it can find."""
    for name in agent.secret_names:
        monkeypatch.setenv(name, "key")
    written = {"type": type(agent).__module__.rsplit(".", 1)[-1], **json.loads(json.dumps(options, default=str))}
    if "command" in options:
        written["command"] = ["python", "-c", TELLS_ALL.replace("{", "{{").replace("}", "}}")]
    return written


@pytest.mark.slow
def test_an_agent_learns_nothing_that_is_withheld(
    as_written: dict[str, Any], keval: Keval, tmp_path: Path, service: Mock
) -> None:
    """Neither golden answer nor condition nor any other field of the sample reaches what it says, does or asks."""
    assert what_it_learned(keval, tmp_path, as_written, service) == set()


def test_an_agent_that_peeks_is_found_out(keval: Keval, tmp_path: Path, service: Mock) -> None:
    """The test above can fail: an agent that reads the dataset knows what it must not."""
    peeks = {"type": "command", "command": ["python", "-c", READS_THE_DATASET, "{folder}"]}
    assert what_it_learned(keval, tmp_path, peeks, service) == {*WITHHELD} - {"the condition's name"}


def test_an_agent_cannot_be_changed(agent: Agent) -> None:
    """Its identity is its content."""
    for field in dataclasses.fields(agent):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(agent, field.name, None)
    assert hash(agent) == hash(dataclasses.replace(agent))


def test_a_config_can_give_every_option(agent_class: type[Agent], options: dict[str, Any]) -> None:
    """The annotations are such that options can be read from YAML, and the defaults are valid."""
    defaults = {option.name: option.default for option in plugins.options(agent_class) if not option.required}
    written = json.loads(json.dumps(defaults | options, default=str))
    values, mistakes = plugin_options.read(agent_class, written)
    assert not mistakes
    assert agent_class(**values) == agent_class(**options)


def test_an_agent_and_its_options_are_described(agent_class: type[Agent]) -> None:
    """Help, docs and `keval plugins` are made from these texts."""
    assert plugins.summary(plugins.find("agent")[agent_class.__module__.rsplit(".", 1)[-1]]).endswith(".")
    assert inspect.getdoc(agent_class)
    for option in plugins.options(agent_class):
        assert option.help, option.name
        assert not option.help.endswith("."), option.name


@pytest.mark.parametrize("name", AGENTS)
def test_importing_an_agent_is_quiet_and_light(name: str) -> None:
    """SDKs and heavy libraries are imported when an agent is used, not when it is listed."""
    module = plugins.find("agent")[name].module
    script = f"import sys, {module}; sys.exit(' '.join(set({HEAVY!r}) & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_there_are_agents() -> None:
    """The contract is not tested over nothing."""
    assert {"claude", "command", "echo", "http", "messages", "python", "replay"} <= set(AGENTS)
