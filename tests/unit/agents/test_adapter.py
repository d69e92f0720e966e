from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.agents import AgentError, Answer
from keval.agents._adapter import _toml, load
from keval.agents.command import Command
from keval.usage import Usage
from tests.prompts import environment, prompt

SERVERS = {
    "docs": {"type": "stdio", "command": "python", "args": ["-m", "docs"], "env": {"TOKEN": 'a"b'}},
    "web": {"type": "http", "url": "http://localhost:1/mcp", "headers": {"X-Key": "k"}},
}

FAKE = """\
#!{python}
# Keeps what it was given, and says what the test gives it to say, in the published form of the real program.
import json, os, pathlib, sys
home = pathlib.Path(os.environ.get("CODEX_HOME") or os.environ.get("HOME"))
files = {{str(path.relative_to(home)): path.read_text() for path in home.rglob("*") if path.is_file()}}
given = {{"arguments": sys.argv[1:], "files": files, "home": str(home), "stdin": sys.stdin.read()}}
with open({kept!r}, "a") as kept:
    kept.write(json.dumps(given) + "\\n")
sys.stdout.write(pathlib.Path({said!r}).read_text())
sys.exit({status})
"""

FAILED_TURN = {"type": "turn.failed", "error": {"message": "quota"}}
LOST_TURN = {"type": "turn.failed", "error": {"message": "ran out of room in its context window"}}
NO_KEY = {"type": "result", "status": "error", "error": {"message": "no key"}}
SAID = Path(__file__).parent / "said"
CODEX, GEMINI = (
    [json.loads(line) for line in (SAID / f"{name}.jsonl").read_text().splitlines()] for name in ("codex", "gemini")
)
"""What `codex exec --json` and `gemini --output-format stream-json` say, by their published types."""


def is_gone(path: str) -> bool:
    return not Path(path).exists()


def lines(events: list[dict[str, Any]]) -> str:
    """Return events as the programs print them, without a line feed at the end."""
    return "\n".join(json.dumps(event) for event in events)


class Fake:
    """A program that stands in the path under the name of an agent."""

    def __init__(self, folder: Path, name: str, said: str, status: int = 0) -> None:
        self._kept, said_file = folder / "kept.jsonl", folder / "said.jsonl"
        said_file.write_text(said)
        self._folder = folder / "bin"
        self._folder.mkdir(exist_ok=True)
        program = self._folder / name
        program.write_text(FAKE.format(python=sys.executable, kept=str(self._kept), said=str(said_file), status=status))
        program.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        """The environment in which the program is found."""
        usual = environment()
        return {**usual, "PATH": f"{self._folder}:{usual['PATH']}"}

    @property
    def given(self) -> list[dict[str, Any]]:
        """What each run of the program was given."""
        return [json.loads(line) for line in self._kept.read_text().splitlines()]


async def answer(fake: Fake, agent: Command, folder: Path, **fields: Any) -> Answer:  # noqa: ANN401 - any field of a prompt
    return await agent.answer(prompt(folder, **{"env": fake.env, "question": "What is a kiwi?", **fields}))


async def test_codex_answers_with_its_steps(tmp_path: Path) -> None:
    """Texts, calls of MCP servers and of its own tools, tokens apart by the cache, and the last text as the answer."""
    fake = Fake(tmp_path, "codex", lines(CODEX))
    said = await answer(fake, Command(adapter=Path("codex"), model="gpt-5"), tmp_path, servers=SERVERS)
    assert (said.status, said.text, said.usage) == ("answered", "A fruit.", Usage(20, 7, 100, None))
    turns = [(turn.name or turn.text, turn.server, turn.input, turn.result, turn.error) for turn in said.turns]
    assert turns == [
        ("I look.", None, None, None, None),
        ("search", "docs", {"q": "kiwi"}, "a fruit", False),
        ("open", "docs", {}, "no such page", True),
        ("command_execution", None, {"input": "ls"}, "a.txt\n", False),
        ("A fruit.", None, None, None, None),
    ]
    assert {name: (use.called, use.failed) for name, use in said.mcp.items()} == {"docs": (2, 1), "web": (0, 0)}


async def test_codex_is_told_prompt_and_servers_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Nothing of them is on the command line, which everybody on the machine can read; the folder is gone then."""
    fake = Fake(tmp_path, "codex", lines(CODEX))
    agent = Command(adapter=Path("codex"), arguments=("--profile", "x"))
    await answer(fake, agent, tmp_path, servers=SERVERS, system_prompt='Say "a"\nand\x7f.')
    (given,) = fake.given
    assert given["arguments"] == [
        *("exec", "--json", "--skip-git-repo-check"),
        *("--profile", "x", "--", "What is a kiwi?"),
    ]
    needed = {"required": True, "default_tools_approval_mode": "approve", "startup_timeout_sec": 60}
    assert tomllib.loads(given["files"]["config.toml"]) == {
        "approval_policy": "never",
        "sandbox_mode": "workspace-write",
        "developer_instructions": 'Say "a"\nand\x7f.',
        "mcp_servers": {
            "docs": {"command": "python", "args": ["-m", "docs"], "env": {"TOKEN": 'a"b'}, **needed},
            "web": {"url": "http://localhost:1/mcp", "http_headers": {"X-Key": "k"}, **needed},
        },
    }
    assert is_gone(given["home"])


async def test_gemini_answers_with_its_steps(tmp_path: Path) -> None:
    """Pieces of one text are one; each call has its own time; one that was not answered counts as failed."""
    fake = Fake(tmp_path, "gemini", lines(GEMINI))
    said = await answer(fake, Command(adapter=Path("gemini")), tmp_path, servers=SERVERS)
    assert (said.status, said.text, said.usage, said.models) == (
        "answered", "A fruit.", Usage(20, 7, 100, None), ("gemini-3-pro",),
    )  # fmt: skip
    turns = [(turn.name or turn.text, turn.server, turn.result, turn.error, turn.duration_ms) for turn in said.turns]
    assert turns == [
        ("I look.", None, None, None, None),
        ("mcp_docs_search", "docs", "a fruit", False, 250),
        ("run_shell_command", None, "denied", True, 1000),
        ("run_shell_command", None, None, True, None),
        ("A fruit.", None, None, None, None),
    ]
    (given,) = fake.given
    assert given["files"]["system.md"] == "Answer briefly."
    assert json.loads(given["files"][".gemini/settings.json"])["mcpServers"] == {
        "docs": {"command": "python", "args": ["-m", "docs"], "env": {"TOKEN": 'a"b'}, "trust": True},
        "web": {"httpUrl": "http://localhost:1/mcp", "headers": {"X-Key": "k"}, "trust": True},
    }


@pytest.mark.parametrize(
    ("name", "events", "session", "usage"),
    [("codex", CODEX, "th-1", Usage(20, 7, 100, None)), ("gemini", GEMINI, "s-1", Usage(40, 14, 200, None))],
)
async def test_several_messages_are_one_session(
    tmp_path: Path, name: str, events: list[dict[str, Any]], session: str, usage: Usage
) -> None:
    """The second message goes on with the first one's session, in the same home; tokens are those of both."""
    fake = Fake(tmp_path, name, lines(events))
    agent = Command(adapter=Path(name))
    assert agent.takes_turns
    said = await answer(fake, agent, tmp_path, turns=("First?", "Second?"))
    first, second = fake.given
    assert (first["arguments"][-1].removeprefix("--prompt="), session in first["arguments"]) == ("First?", False)
    assert (second["arguments"][-1].removeprefix("--prompt="), session in second["arguments"]) == ("Second?", True)
    assert first["home"] == second["home"]
    assert said.usage == usage  # codex counts from the beginning of a session
    assert [turn.text for turn in said.turns if turn.text == "A fruit."] == ["A fruit."] * 2


@pytest.mark.parametrize("turns", [("First?", "Second?"), ("?", "?")])
async def test_without_a_session_no_second_message_is_asked(tmp_path: Path, turns: tuple[str, str]) -> None:
    """It would begin another conversation, also where both messages are the same text."""
    fake = Fake(tmp_path, "codex", lines(CODEX[1:]))
    with pytest.raises(AgentError, match="named no session"):
        await answer(fake, Command(adapter=Path("codex")), tmp_path, turns=turns)
    assert len(fake.given) == 1


@pytest.mark.parametrize(
    ("name", "said", "status", "kind", "told"),
    [
        ("codex", lines([*CODEX[:4], FAILED_TURN]), 1, "infra_error", "quota"),
        ("codex", lines([*CODEX[:4], LOST_TURN]), 1, "agent_error", "context window"),
        ("codex", lines([*CODEX[:1], FAILED_TURN]), 1, "infra_error", "quota"),
        ("codex", lines(CODEX[:4]), 3, "agent_error", "exit status 3"),
        ("codex", lines(CODEX[:1]), 3, "infra_error", "exit status 3"),
        ("codex", lines(CODEX[:4]) + '\n{"type": "item', 0, "agent_error", "line 5 of stdout is not JSON"),
        ("codex", "", 127, "infra_error", "exit status 127"),
        ("gemini", "", 41, "infra_error", "exit status 41"),
        ("gemini", lines([NO_KEY]), 0, "infra_error", "no key"),
        ("gemini", "Please log in.", 0, "infra_error", "the adapter gemini reads; stdout begins: Please log in."),
        ("codex", "", 0, "infra_error", "stdout is empty"),
    ],
)
async def test_a_failure_is_told_with_what_was_done_until_then(  # noqa: PLR0917 - a column of the table is an argument
    tmp_path: Path, name: str, said: str, status: int, kind: str, told: str
) -> None:
    """An error that the agent reports, an exit status, and output that breaks off are failures, never answers.

    Who has said and done nothing was not asked: a quota or a wrong key is no bad answer. Nor is a quota later on.
    """
    fake = Fake(tmp_path, name, said, status)
    with pytest.raises(AgentError, match=told) as caught:
        await answer(fake, Command(adapter=Path(name)), tmp_path)
    assert caught.value.kind == kind
    assert caught.value.partial is not None


async def test_an_agent_that_meets_its_limit_says_so(tmp_path: Path) -> None:
    """Its exit status has a meaning in the adapter, and what it said until then is its answer."""
    said = await answer(Fake(tmp_path, "gemini", lines(GEMINI[:3]), 53), Command(adapter=Path("gemini")), tmp_path)
    assert (said.status, said.text) == ("limit", "I ")


OWN = {
    "name": "own",
    "written_for": "own 1",
    "command": [sys.executable, "-c", "import sys; print(sys.stdin.read())"],
    "stdin": '{{"result": {{"text": "{question}", "usd": 0.5, "by": null}}}}',
    "output": "json",
    "events": [
        {"when": {"$.result.text": "*"}, "answer": "$.result.text", "cost_usd": "$.result.usd"},
        {"when": {"$.result.by": "*"}, "model": "$.result.by"},
    ],
}


def own(folder: Path, **changes: Any) -> Command:  # noqa: ANN401 - any JSON
    """Return an agent with an adapter of the user's."""
    path = folder / "own.yaml"
    path.write_text(json.dumps(OWN | changes))
    return Command(adapter=path)


async def test_an_adapter_of_the_users_may_read_one_document(tmp_path: Path) -> None:
    """What a rule is not about changes nothing; an adapter without calls reports none."""
    agent = own(tmp_path)
    said = await agent.answer(prompt(tmp_path, question="What?"))
    assert (said.text, said.cost_usd, said.models, said.mcp) == ("What?", 0.5, (), {})
    assert (agent.takes_turns, agent.reports_tool_calls) == (False, False)


async def test_an_adapter_may_limit_the_time_for_one_message(tmp_path: Path) -> None:
    """What was said until then is kept, and the program is ended."""
    script = 'import time; print(\'{"a": "so far"}\', flush=True); time.sleep(600)'
    agent = own(
        tmp_path, command=[sys.executable, "-c", script.replace("{", "{{").replace("}", "}}")], stdin="", timeout_s=1,
        output="jsonl", events=[{"text": "$.a"}],
    )  # fmt: skip
    with pytest.raises(AgentError, match="no answer to a message in 1 s") as caught:
        await agent.answer(prompt(tmp_path))
    assert caught.value.kind == "timeout"
    assert caught.value.partial is not None


async def test_a_server_that_an_adapter_cannot_name_is_no_answer(tmp_path: Path) -> None:
    """The agent would answer without it."""
    agent = own(tmp_path)
    with pytest.raises(AgentError, match="does not say how to name an MCP server of type stdio: docs"):
        await agent.answer(prompt(tmp_path, servers=SERVERS))


def test_an_edited_adapter_makes_another_agent(tmp_path: Path) -> None:
    """It is a file that the agent is made of; where keval is installed is nobody's business."""
    before = own(tmp_path).local_files(tmp_path)
    after = own(tmp_path, written_for="own 2").local_files(tmp_path)
    assert before[0].name == after[0].name == "own.yaml"
    assert before[0].sha256 != after[0].sha256
    (shipped,) = Command(adapter=tmp_path / "codex").local_files(tmp_path)
    assert shipped.name == "codex.adapter.yaml"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"output": "xml"}, r"own\.yaml: \$\.output: 'xml' is not one of 'json', 'jsonl'"),
        ({"command": ["x", "{answer}"]}, r"unknown placeholder \{answer\}"),
        ({"events": [{"text": "$.a["}]}, r"'\$\.a\[' is not a JSON path"),
        ({"events": [{"text": "a"}]}, "a path such as"),
        ({"files": {"a": {"b": "{secret}"}}}, r"unknown placeholder \{secret\}"),
        ({"mcp_servers": {"stdio": {"a": "{url}"}}}, r"unknown placeholder \{url\}"),
        ({"files": {"../a": "b"}}, r"files: \.\./a is not in the private folder"),
        ({"event": []}, "unknown key 'event'"),
        ({"service_failures": "(429"}, "service_failures: missing \\)"),
    ],
)
def test_what_is_wrong_with_an_adapter_is_told(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    """When the config is read, with the file and the place."""
    with pytest.raises(ValueError, match=told):
        own(tmp_path, **changes)


def test_options_that_the_adapter_leaves_no_room_for_are_refused(tmp_path: Path) -> None:
    """Two ways to say the same could differ."""
    with pytest.raises(ValueError, match="command: the adapter says that"):
        Command(adapter=Path("codex"), command=("codex",))
    with pytest.raises(ValueError, match="arguments: go with adapter"):
        Command(command=("cat",), arguments=("-n",))
    with pytest.raises(ValueError, match="adapters that come with keval: codex, gemini"):
        Command(adapter=tmp_path / "cursor")


def test_a_program_that_is_not_there_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    """As for every command."""
    agent = Command(adapter=Path("codex"))
    assert str(agent.missing(tmp_path, {"PATH": str(tmp_path)})).startswith("no program 'codex' in the path")
    assert agent.missing(tmp_path, Fake(tmp_path, "codex", "").env) is None


def test_shipped_adapters_say_what_they_were_written_for() -> None:
    """Formats change: who reads an answer that lacks something wants to know."""
    for name in ("codex", "gemini"):
        adapter = load(Path(name))
        assert adapter.written["name"] == name
        assert f"`{name} " in adapter.written["written_for"]
        assert adapter.is_shipped
        assert adapter.takes_turns
        assert adapter.reports_tool_calls


VALUES: Any = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=5,
)


@given(VALUES)
def test_any_value_survives_toml(value: object) -> None:
    """A prompt that is cut off at a quote would be another prompt."""
    assert tomllib.loads(f"a = {_toml(value)}\n") == {"a": value}
