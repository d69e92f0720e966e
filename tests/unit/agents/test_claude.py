from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from claude_agent_sdk import ClaudeSDKClient

from keval.agents import AgentError, Answer, McpUse, Turn, _claude_watch
from keval.agents.claude import Claude
from keval.mock import Mock
from keval.usage import Usage
from tests.prompts import prompt, stdio
from tests.remains import is_gone, left_below
from tests.servers.over_http import is_served, over_http
from tests.servers.scripted_api import LIKE_A_LOST_CONNECTION, Refuse, Say, ScriptedApi, call, text

AGENT = Claude(model="claude-sonnet-5")
PYTHON = "python"
"""What the processes of `stdio` servers are called."""


@pytest.fixture
def mock() -> Iterator[Mock]:
    with Mock() as service:
        yield service


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give private folders a place of their own, and see that none is left behind."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


async def failure(agent: Claude, *arguments: Any, **fields: Any) -> AgentError:  # noqa: ANN401 - those of prompt
    """Return the error that a task ends with."""
    with pytest.raises(AgentError) as caught:
        await agent.answer(prompt(*arguments, **fields))
    return caught.value


def messages(mock: Mock) -> list[dict[str, Any]]:
    """Return the bodies of all message requests that the mock has seen."""
    return [recorded.body for recorded in mock.recorded if recorded.path == "/v1/messages"]


# The real CLI: what an answer holds.


@pytest.mark.slow
async def test_an_answer_holds_everything_that_happened(tmp_path: Path, mock: Mock) -> None:
    """Text, turns, tools offered and called, tokens, cost and models are all recorded, and reported as they grow."""
    reported: list[Answer] = []
    asked = prompt(tmp_path, mock.env, servers={"docs": stdio("docs.py")}, heartbeat=reported.append)
    answer = await AGENT.answer(asked)
    tool_call, said = answer.turns
    assert isinstance(tool_call.duration_ms, int)
    assert tool_call == Turn(
        "tool_call",
        id=tool_call.id,
        name="mcp__docs__search",
        server="docs",
        input={"query": "What is a kiwi?"},
        result='{"result":"found: What is a kiwi?"}',
        error=False,
        duration_ms=tool_call.duration_ms,
    )
    assert said == Turn("text", text=answer.text)
    assert (answer.status, answer.num_turns, answer.models) == ("answered", 2, ("claude-sonnet-5",))
    assert answer.mcp == {"docs": McpUse("connected", ("search", "pages"), 1, 0, "docs", "1.0")}
    assert mock.requests.by_kind == {"tool_call": 1, "from_tool": 1}  # what the CLI adds hides no result from the model
    assert answer.usage is not None
    assert answer.usage.input_tokens
    assert answer.usage.output_tokens
    assert answer.cost_usd
    assert [turn.type for turn in reported[-1].turns] == ["tool_call", "text"]
    assert min(len(partial.turns) for partial in reported) == 0
    assert list(asked.workspace.iterdir()) == []


@pytest.mark.slow
async def test_an_answer_outlives_an_sdk_that_cancels_its_own_end(
    tmp_path: Path, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid; how the SDK fares with its own tasks is not the agent's failure."""
    disconnect = ClaudeSDKClient.disconnect

    async def cancelled(client: ClaudeSDKClient) -> None:
        await disconnect(client)
        raise asyncio.CancelledError

    monkeypatch.setattr(ClaudeSDKClient, "disconnect", cancelled)
    assert (await AGENT.answer(prompt(tmp_path, mock.env))).status == "answered"


@pytest.mark.slow
async def test_a_server_without_the_expected_tools_is_not_asked_with(tmp_path: Path, mock: Mock) -> None:
    """A server that offers other tools than the config expects is not ready, and nothing is paid."""
    servers = {"docs": stdio("docs.py")}
    fine = prompt(tmp_path, mock.env, servers=servers, expected_tools={"docs": ("search",)})
    assert (await AGENT.answer(fine)).status == "answered"
    asked = len(messages(mock))
    error = await failure(AGENT, tmp_path, mock.env, servers=servers, expected_tools={"docs": ("search", "fetch")})
    assert (error.kind, error.retryable) == ("mcp_not_ready", False)
    assert error.message.startswith("docs: the server does not offer fetch (it offers: search, pages)")
    assert len(messages(mock)) == asked


@pytest.mark.slow
async def test_a_server_over_http_gets_its_headers(tmp_path: Path, mock: Mock) -> None:
    """Streamable HTTP works like stdio."""
    with over_http("docs.py", tmp_path) as port:
        config = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Key": "a secret"}}
        answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"docs": config}))
    assert answer.mcp["docs"] == McpUse("connected", ("search", "pages"), 1, 0, "docs", "1.0")


@pytest.mark.slow
async def test_each_message_of_a_conversation_is_asked_in_turn(tmp_path: Path) -> None:
    """The last answer counts; tokens, cost and turns are those of the whole conversation."""
    with ScriptedApi(text("one"), text("two")) as api:
        asked = prompt(tmp_path, api.env, turns=("First?", "Second?"))
        answer = await AGENT.answer(asked)
    assert [turn.text for turn in answer.turns] == ["one", "two"]
    assert (answer.text, answer.num_turns) == ("two", 2)
    assert answer.usage == Usage(20, 40, 6, 4)
    assert len(api.bodies) == 2


@pytest.mark.parametrize(
    ("script", "options", "status", "said"),
    [
        pytest.param([text("in two ", "blocks")], {}, "answered", "in two blocks", marks=pytest.mark.slow),
        ([text("cut off, ", stop_reason="max_tokens"), text("and resumed")], {}, "answered", "cut off, and resumed"),
        pytest.param([text("cut off", stop_reason="max_tokens")], {}, "limit", "cut off" * 4, marks=pytest.mark.slow),
        pytest.param([text("")], {}, "empty", "", marks=pytest.mark.slow),
        ([text("I must not", stop_reason="refusal")], {}, "refused", "I must not"),
        ([call("mcp__docs__search", "x", "I look")], {"max_turns": 1}, "limit", "I look"),
    ],
    ids=["two blocks", "resumed", "never complete", "empty", "refused", "out of turns"],
)
@pytest.mark.slow
async def test_the_text_is_the_last_thing_said_and_the_status_how_it_ended(
    tmp_path: Path, script: list[Any], options: Mapping[str, Any], status: str, said: str
) -> None:
    """All blocks of the last message count, with those that it resumes; the CLI's own words never do."""
    with ScriptedApi(*script) as api:
        servers = {"docs": stdio("docs.py")} if options else {}
        answer = await Claude(model="claude-sonnet-5", **options).answer(prompt(tmp_path, api.env, servers=servers))
    assert (answer.status, answer.text) == (status, said)
    assert answer.cost_usd
    assert answer.usage is not None


@pytest.mark.slow
async def test_a_failed_tool_call_is_recorded_and_does_not_fail_the_task(tmp_path: Path) -> None:
    """Whatever a call brings back, and whether or not there is such a tool, the server is there."""
    script = [
        call("mcp__docs__search", "fail"),
        call("mcp__docs__nothing", "x"),
        call("mcp__docs__pages", "x"),
        text("ok"),
    ]
    with ScriptedApi(*script) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": stdio("docs.py")}))
    assert [turn.error for turn in answer.turns if turn.type == "tool_call"] == [True, True, False]
    assert (answer.turns[0].result or "").endswith("Connection closed")
    assert (answer.mcp["docs"].called, answer.mcp["docs"].failed) == (3, 2)
    assert answer.text == "ok"


@pytest.mark.slow
async def test_a_huge_tool_result_does_not_fail_the_task(tmp_path: Path, mock: Mock) -> None:
    """Five million characters pass through: a condition is not worse off because its tool says much."""
    answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"big": stdio("big_result.py")}))
    assert answer.status == "answered"
    assert answer.mcp["big"].called == 1


@pytest.mark.slow
async def test_a_message_may_be_longer_than_the_sdk_allows_by_itself(tmp_path: Path) -> None:
    """The SDK gives up at 1 MiB, which would fail the conditions that say more."""
    with ScriptedApi(text("x" * 1_100_000)) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env))
    assert len(answer.text) == 1_100_000


@pytest.mark.slow
async def test_a_price_that_the_cli_makes_up_is_no_price(tmp_path: Path, mock: Mock) -> None:
    """For a model that it does not know the CLI guesses; unknown is None."""
    answer = await Claude(model="a-model-of-our-own").answer(prompt(tmp_path, mock.env))
    assert answer.cost_usd is None
    assert answer.models == ("a-model-of-our-own",)
    assert answer.usage is not None


# The real CLI: what goes in.


async def test_prompts_are_delivered_verbatim(tmp_path: Path, mock: Mock) -> None:
    """Slash commands, file mentions and 300 kB of system prompt reach the model as written."""
    (tmp_path / "secret.txt").write_text("the content of a file")
    question = f"/help @{tmp_path}/secret.txt ${{HOME}} 'ä\u2028\n"
    system_prompt = "Be brief. ${HOME} " + "é" * 150_000
    await AGENT.answer(prompt(tmp_path, mock.env, question=question, system_prompt=system_prompt))
    (body,) = messages(mock)
    (sent,) = body["messages"]
    assert [block["text"] for block in sent["content"]] == [question]
    assert body["system"][-1]["text"] == system_prompt
    assert body["model"] == "claude-sonnet-5"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tools", "offered"), [pytest.param((), [], marks=pytest.mark.slow), (("WebSearch", "Glob"), ["Glob", "WebSearch"])]
)
async def test_only_listed_tools_are_built_in(
    tmp_path: Path, mock: Mock, tools: tuple[str, ...], offered: list[str]
) -> None:
    """Without `tools` the model has none; with them, those and no other."""
    await Claude(model="claude-sonnet-5", tools=tools, effort="low").answer(prompt(tmp_path, mock.env))
    body = messages(mock)[0]
    assert [tool["name"] for tool in body.get("tools", [])] == offered
    assert body["output_config"]["effort"] == "low"


def plant(home: Path, parent: Path) -> None:
    """Put everything where a CLI that is not sealed off would find it."""
    hook = {"hooks": [{"type": "command", "command": f"touch {parent}/hooked"}], "matcher": ""}
    settings = json.dumps(
        {"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]}, "env": {"PLANTED": "PLANTED"}}
    )
    for folder in (home / ".claude", parent / ".claude"):
        (folder / "skills" / "planted").mkdir(parents=True)
        (folder / "skills" / "planted" / "SKILL.md").write_text("---\nname: PLANTED\ndescription: PLANTED\n---\n")
        (folder / "settings.json").write_text(settings)
        (folder / "CLAUDE.md").write_text("PLANTED")
    for name in ("CLAUDE.md", "AGENTS.md", "CLAUDE.local.md"):
        (parent / name).write_text("PLANTED")
    server = {"mcpServers": {"PLANTED": stdio("docs.py")}}
    (parent / ".mcp.json").write_text(json.dumps(server))
    account = {"oauthAccount": {"accountUuid": "PLANTED"}, "claudeAiMcpEverConnected": ["claude.ai PLANTED"]}
    (home / ".claude.json").write_text(json.dumps({**server, **account, "projects": {str(parent): server}}))
    login = {"accessToken": "PLANTED", "expiresAt": 9_999_999_999_999, "scopes": ["user:mcp_servers"]}
    (home / ".claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}))


@pytest.mark.slow
async def test_nothing_of_the_machine_reaches_the_agent(
    tmp_path: Path, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory files, settings, hooks, skills, servers and keys of user and project are as if they were not there.

    An MCP server gets the allow-listed environment, the real home and its own settings, but not
    the agent's key. No command line of the task holds a secret. The machine is left as it was, and
    the task is a session of its own, so that Ctrl-C in the terminal does not reach it.
    """
    home = tmp_path / "user"
    plant(home, tmp_path)
    for name in ("JUDGE_KEY", "CLAUDE_CODE_EXTRA", "npm_config_//registry/:_auth"):
        monkeypatch.setenv(name, "sk-PLANTED")
    monkeypatch.setenv("HOME", str(home))
    server = stdio("environment.py", API_ACCESS="a-server-secret")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    asked = prompt(
        tmp_path,
        {**mock.env, "ANTHROPIC_API_KEY": "the-agents-key", "TZ": "UTC", "TMPDIR": str(temporary)},
        servers={"environment": server},
        system_prompt="Not for command lines.",
    )
    answer = await AGENT.answer(asked)
    seen = json.dumps([[recorded.body, dict(recorded.headers)] for recorded in mock.recorded])
    told = json.loads(json.loads(answer.turns[0].result or "")["result"])
    assert "PLANTED" not in seen + json.dumps(told["environment"])
    assert {recorded.path for recorded in mock.recorded} == {"/v1/messages"}  # no servers of the account are asked for
    assert "the-agents-key" not in json.dumps(told)
    assert told["environment"]["API_ACCESS"] == "a-server-secret"
    assert {name: told["environment"][name] for name in ("HOME", "TZ", "PATH")} == {
        "HOME": str(home), "TZ": "UTC", "PATH": asked.env["PATH"]
    }  # fmt: skip
    assert len(told["command_lines"]) >= 2
    for secret in ("the-agents-key", "a-server-secret", "PLANTED", "Not for command lines", "kiwi"):
        assert secret not in json.dumps(told["command_lines"])
    assert {recorded.headers["x-api-key"] for recorded in mock.recorded if recorded.method == "POST"} == {
        "the-agents-key"
    }
    assert not (tmp_path / "hooked").exists()
    assert not (home / ".cache").exists()
    assert list(temporary.iterdir()) == []
    assert told["session"] != os.getsid(0)


def use(tool: str, **arguments: object) -> Say:
    """Call a built-in tool."""
    block = {"type": "tool_use", "id": f"toolu_{tool}_{len(str(arguments))}", "name": tool, "input": arguments}
    return Say([block], "tool_use")


@pytest.mark.parametrize(
    "tools", [pytest.param((), marks=pytest.mark.slow), ("Read", "Edit", "Glob", "Grep", "Write", "WebSearch")]
)
@pytest.mark.slow
async def test_golden_answers_on_the_same_machine_are_out_of_the_agents_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: tuple[str, ...]
) -> None:
    """Tools that the config lists work in the workspace, and not in its parent, the config's folder or the home."""
    home = tmp_path / "user"
    plant(home, tmp_path)
    monkeypatch.setenv("HOME", str(home))
    places = [tmp_path, tmp_path / "config", home]
    places[1].mkdir()
    for place in places:
        (place / "answers.jsonl").write_text('{"answer": "GOLDEN"}')
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "own.txt").write_text("own")
    tries = [
        *(use("Read", file_path=str(place / "answers.jsonl")) for place in places),
        use("Read", file_path="../answers.jsonl"),
        use("Grep", pattern="GOLDEN", path=str(tmp_path), output_mode="content"),
        use("Glob", pattern="**/answers*", path=str(tmp_path)),
        use("Edit", file_path=str(tmp_path / "answers.jsonl"), old_string="GOLDEN", new_string="SPOILT"),
        use("Write", file_path=str(tmp_path / "new.txt"), content="new"),
        use("Read", file_path=str(tmp_path / "workspace" / "own.txt")),
        use("Edit", file_path=str(tmp_path / "workspace" / "own.txt"), old_string="own", new_string="edited"),
    ]
    with ScriptedApi(*tries, text("done")) as api:
        agent = Claude(model="claude-sonnet-5", tools=tools)
        answer = await agent.answer(prompt(tmp_path, api.env, folder=places[1]))
    *outside, read, edit = [turn.error for turn in answer.turns if turn.type == "tool_call"]
    assert (set(outside), read, edit) == ({True}, not tools, not tools)
    results = [turn.result for turn in answer.turns]
    assert "GOLDEN" not in str(results)
    assert "PLANTED" not in json.dumps(api.bodies)
    assert (tmp_path / "answers.jsonl").read_text() == '{"answer": "GOLDEN"}'
    assert not (tmp_path / "new.txt").exists()
    assert not (tmp_path / "hooked").exists()


@pytest.mark.slow
async def test_a_tool_that_there_is_not_is_not_passed_over(tmp_path: Path, mock: Mock) -> None:
    """An agent that lacks what the config lists would be another agent."""
    error = await failure(Claude(model="claude-sonnet-5", tools=("Read", "Raed")), tmp_path, mock.env)
    assert (error.kind, error.retryable) == ("infra_error", False)
    assert error.message == "Claude Code does not offer Raed, which tools lists"


@pytest.mark.slow
async def test_a_key_is_found_under_the_name_that_the_config_gives(tmp_path: Path, mock: Mock) -> None:
    """`api_key_env` renames the variable; the name itself does not reach the agent's processes."""
    agent = Claude(model="claude-sonnet-5", api_key_env="TEAM_KEY")
    assert agent.secret_names == ("TEAM_KEY",)
    env = {**mock.env, "ANTHROPIC_API_KEY": "another", "TEAM_KEY": "ours"}
    answer = await agent.answer(prompt(tmp_path, env, servers={"environment": stdio("environment.py")}))
    assert {recorded.headers["x-api-key"] for recorded in mock.recorded if recorded.method == "POST"} == {"ours"}
    assert "TEAM_KEY" not in (answer.turns[0].result or "")
    assert "another" not in (answer.turns[0].result or "")


async def test_a_missing_key_is_said_at_once(tmp_path: Path) -> None:
    """Without a key nothing is started."""
    error = await failure(AGENT, tmp_path)
    assert (error.kind, error.retryable) == ("infra_error", False)
    assert "ANTHROPIC_API_KEY is not set" in error.message


@pytest.mark.slow
async def test_server_configs_are_taken_as_they_are(tmp_path: Path, mock: Mock) -> None:
    """The config's `${VAR}` are already filled in; what looks like one now is literal, and names may have dots."""
    server = stdio("environment.py", "${HOME}", "${ANTHROPIC_API_KEY:-x}", LITERAL="${HOME}")
    answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"my.docs": server}))
    told = json.loads(json.loads(answer.turns[0].result or "")["result"])
    assert told["environment"]["LITERAL"] == "${HOME}"
    assert any(line[-2:] == ["${HOME}", "${ANTHROPIC_API_KEY:-x}"] for line in told["command_lines"])
    assert answer.turns[0].server == "my.docs"
    assert answer.mcp["my.docs"].called == 1


# The real CLI: MCP servers that are not there.


def nobody() -> dict[str, Any]:
    return {"type": "http", "url": "http://127.0.0.1:9/mcp"}


@pytest.mark.parametrize(
    ("server", "said", "retryable"),
    [
        (stdio("exits.py"), "docs: failed: Connection closed; its stderr ends: the index is not there", True),
        pytest.param({"type": "stdio", "command": "no-such-program"}, "docs: failed: ", True, marks=pytest.mark.slow),
        pytest.param(nobody(), "docs: failed: ECONNREFUSED", True, marks=pytest.mark.slow),
        (stdio("no_tools.py"), "docs: connected, but offers no tools", False),
        pytest.param(stdio("sleeps.py", "600"), "docs: not ready after 1 s", True, marks=pytest.mark.slow),
    ],
    ids=["exits", "missing", "refused", "no tools", "late"],
)
async def test_nothing_is_asked_before_every_server_is_ready(
    tmp_path: Path, mock: Mock, server: Mapping[str, Any], said: str, retryable: bool
) -> None:
    """A condition whose server is absent fails, for free, with the server's name, status and error."""
    agent = Claude(model="claude-sonnet-5", mcp_timeout_s=1 if said.endswith("1 s") else 60)
    error = await failure(agent, tmp_path, mock.env, servers={"docs": server})
    assert (error.kind, error.retryable) == ("mcp_not_ready", retryable)
    assert error.message.startswith(said)
    assert error.partial is not None
    assert error.partial.cost_usd == 0.0
    assert set(error.partial.mcp) == {"docs"}
    assert messages(mock) == []


@pytest.mark.slow
async def test_one_ready_server_does_not_make_up_for_another(tmp_path: Path, mock: Mock) -> None:
    """All servers of a condition have to be ready, and only those that are not are named."""
    servers = {"docs": stdio("docs.py"), "gone": nobody()}
    error = await failure(AGENT, tmp_path, mock.env, servers=servers)
    assert error.kind == "mcp_not_ready"
    assert error.message.startswith("gone: failed")
    assert messages(mock) == []


@pytest.mark.slow
async def test_a_slow_server_is_waited_for(tmp_path: Path, mock: Mock) -> None:
    """A server that needs a while is used like any other."""
    answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"slow": stdio("sleeps.py", "1")}))
    assert (answer.status, answer.mcp["slow"].called) == ("answered", 1)


@pytest.mark.slow
async def test_a_server_that_dies_in_mid_run_fails_the_task(tmp_path: Path) -> None:
    """The model answered without it: that is no answer under this condition, but what was done is kept."""
    with ScriptedApi(*(call("mcp__docs__search", str(n)) for n in range(4)), text("an answer")) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": stdio("dies_at_third_call.py")})
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    # Whether it is there again when keval looks is a matter of milliseconds.
    assert error.message.removesuffix(", and was started again") == (
        "an MCP server went away during the task: docs: its process ended"
    )
    assert error.partial is not None
    assert [turn.error for turn in error.partial.turns[:3]] == [False, False, True]
    assert error.partial.cost_usd
    assert error.partial.usage is not None


@pytest.mark.slow
async def test_a_server_that_is_started_anew_between_two_calls_fails_the_task(tmp_path: Path) -> None:
    """The CLI starts a server that ended again and says nothing of it; what the server knew is lost."""

    def once_it_is_gone(_number: int, _body: dict[str, Any]) -> Any:  # noqa: ANN401 - a message or an error
        pid = int((tmp_path / "workspace" / "server.pid").read_text())
        while not is_gone(pid):
            time.sleep(0.01)
        return call("mcp__docs__search", "again")

    with ScriptedApi(call("mcp__docs__search", "first"), once_it_is_gone, text("an answer")) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": stdio("dies_after_first_call.py")})
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    # Whether it is there again when keval looks is a matter of milliseconds.
    assert error.message.removesuffix(", and was started again") == (
        "an MCP server went away during the task: docs: its process ended"
    )
    assert error.partial is not None
    assert not error.partial.turns[0].error  # whether the second call finds the new server, too, is one


@contextmanager
def obeying(transport: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the config of a server that does what its queries say."""
    if transport == "stdio":
        yield stdio("obeys.py")
        return
    with over_http("obeys.py", folder, *(["sse"] if transport == "sse" else [])) as port:
        yield {"type": transport, "url": f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}"}


def calls(*queries: str) -> list[Say]:
    return [call("mcp__docs__search", query) for query in queries]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_an_error_is_no_lost_connection_whatever_its_words(tmp_path: Path, transport: str) -> None:
    """Over each transport, as an error of the tool and of the protocol, the last thing or not: the answer is kept."""
    words = [f"error:{said}" for said in LIKE_A_LOST_CONNECTION]
    codes = [f"protocol:{code}:{said}" for code in (-32000, -32001, -32603) for said in LIKE_A_LOST_CONNECTION[:2]]
    queries = [*words, *codes, "protocol:404:Session not found", "protocol:401:Unauthorized", "protocol:-32000:fetch"]
    with obeying(transport, tmp_path) as server, ScriptedApi(*calls(*queries), text("an answer")) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": server}))
    assert (answer.status, answer.text) == ("answered", "an answer")
    assert (answer.mcp["docs"].status, answer.mcp["docs"].called) == ("connected", len(queries))
    assert answer.mcp["docs"].failed == len(queries)


@pytest.mark.parametrize(
    "query", [pytest.param("exit:0", marks=pytest.mark.slow), pytest.param("kill", marks=pytest.mark.slow), "later"]
)
@pytest.mark.slow
async def test_a_process_that_ended_is_noticed_although_nothing_else_was_asked_of_it(
    tmp_path: Path, query: str
) -> None:
    """By itself or killed, in its last call or after it: the CLI goes on calling such a server connected."""

    def once_it_is_gone(_number: int, _body: dict[str, Any]) -> Say:
        while own(tmp_path, PYTHON):
            time.sleep(0.01)
        return text("an answer")

    with ScriptedApi(*calls(query), once_it_is_gone) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": stdio("obeys.py")})
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    assert error.message == "an MCP server went away during the task: docs: its process ended"
    assert error.partial is not None
    assert (error.partial.mcp["docs"].called, error.partial.mcp["docs"].failed) == (1, int(query != "later"))


def own(folder: Path, name: str) -> list[psutil.Process]:
    """Return the living processes of this name that work below a folder; those of other tests do not."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it ended meanwhile: a zombie works nowhere
            if process.name() == name and folder in Path(process.cwd()).parents:
                found.append(process)
    return found


@pytest.mark.slow
async def test_an_answer_at_the_limit_is_none_without_its_server(tmp_path: Path) -> None:
    """An agent that met its limit is judged, so its servers must have stayed as well."""
    with ScriptedApi(*calls("kill", "again")) as api:
        agent = Claude(model="claude-sonnet-5", max_turns=1)
        error = await failure(agent, tmp_path, api.env, servers={"docs": stdio("obeys.py")})
    assert error.kind == "mcp_failed"


@pytest.mark.slow
async def test_a_cli_that_cannot_be_asked_about_its_servers_is_no_bad_answer(
    tmp_path: Path, mock: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent has answered by then, and is paid: on a busy machine the task is tried again, or not measured."""
    monkeypatch.setattr(_claude_watch, "STATUS_S", 0.0)
    error = await failure(AGENT, tmp_path, mock.env, servers={"docs": stdio("docs.py")})
    assert (error.kind, error.retryable) == ("infra_error", True)
    assert "does not say what became of the MCP servers: TimeoutError" in error.message
    assert error.partial is not None
    assert error.partial.cost_usd
    assert [turn.type for turn in error.partial.turns] == ["tool_call", "text"]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("queries", [["exit:1"], ["x", "kill", "x"], ["x", "later", "x"]])
async def test_a_remote_server_that_is_gone_fails_the_task(tmp_path: Path, transport: str, queries: list[str]) -> None:
    """In its only call, in one among others, between two."""
    script: list[Any] = calls(*(f"{query}{'' if ':' in query else f':{n}'}" for n, query in enumerate(queries)))
    with obeying(transport, tmp_path) as server:

        def once_it_is_gone(_number: int, _body: dict[str, Any]) -> Say:
            port = int(server["url"].split(":")[2].split("/")[0])
            while is_served(port):
                time.sleep(0.01)
            return script[2] if len(queries) > 2 else text("an answer")

        with ScriptedApi(*script[:2], once_it_is_gone, text("an answer")) as api:
            error = await failure(AGENT, tmp_path, api.env, servers={"docs": server})
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    assert error.message.startswith("an MCP server went away during the task: docs: ")


# The real CLI: failures of the service and of the CLI itself.


@pytest.mark.parametrize(
    ("status", "kind", "passing", "said"),
    [
        (401, "infra_error", False, "the key was refused: HTTP 401: "),
        pytest.param(400, "infra_error", False, "HTTP 400: ", marks=pytest.mark.slow),
        pytest.param(404, "infra_error", False, "HTTP 404: ", marks=pytest.mark.slow),
        pytest.param(429, "infra_error", True, "HTTP 429: ", marks=pytest.mark.slow),
        (529, "infra_error", True, "HTTP 529: "),
    ],
)
async def test_an_error_of_the_service_is_a_failure_although_the_sdk_calls_it_a_success(
    tmp_path: Path, status: int, kind: str, passing: bool, said: str
) -> None:
    """The HTTP status decides what it is, and the CLI's message never becomes an answer."""
    agent = Claude(model="claude-sonnet-5", max_retries=0)
    with Mock(errors=f"{status}:1") as mock:
        error = await failure(agent, tmp_path, mock.env)
    assert (error.kind, error.retryable, error.overloaded) == (kind, passing, passing)
    assert error.message.startswith(said)
    assert error.partial is not None
    assert (error.partial.text, error.partial.turns) == ("", ())


@pytest.mark.slow
async def test_the_clis_own_retries_are_counted(tmp_path: Path) -> None:
    """A failure says how often the CLI had tried again, and passes on what the service asked to wait."""
    with ScriptedApi(Refuse(429, "rate_limit_error", {"retry-after": "1"})) as api:
        error = await failure(Claude(model="claude-sonnet-5", max_retries=1), tmp_path, api.env)
    assert error.message.endswith("(after 1 retries of the CLI)")
    assert error.retry_after_s is not None
    assert error.retry_after_s >= 1
    assert len(api.bodies) == 2


@pytest.mark.slow
async def test_an_unreachable_service_is_worth_another_attempt(tmp_path: Path) -> None:
    """No HTTP status at all means that the network failed."""
    env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "x"}
    error = await failure(Claude(model="claude-sonnet-5", max_retries=0), tmp_path, env)
    assert (error.kind, error.retryable) == ("infra_error", True)


@pytest.mark.slow
async def test_an_error_in_mid_run_keeps_what_was_done(tmp_path: Path) -> None:
    """Turns, tokens and cost up to the failure are in its partial answer."""
    with ScriptedApi(call("mcp__docs__search", "x", "I look"), Refuse(400, "invalid_request_error")) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": stdio("docs.py")})
    assert error.kind == "agent_error"
    assert error.partial is not None
    assert [turn.type for turn in error.partial.turns] == ["text", "tool_call"]
    assert error.partial.usage == Usage(10, 20, 3, 2)
    assert error.partial.cost_usd


@pytest.mark.slow
async def test_a_cli_that_is_killed_is_a_failure_worth_another_attempt(tmp_path: Path) -> None:
    """Whatever was known by then is kept; the price is not known."""

    def kill(number: int, _body: dict[str, Any]) -> Any:  # noqa: ANN401 - a message or an error
        if number == 0:
            return call("mcp__docs__search", "x")
        own(tmp_path, "claude")[0].kill()
        return text("too late")

    with ScriptedApi(kill, kill) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": stdio("docs.py")})
    assert (error.kind, error.retryable) == ("agent_error", True)
    assert "exit code: -9" in error.message
    assert error.partial is not None
    assert [turn.result for turn in error.partial.turns] == ['{"result":"found: x"}']
    assert error.partial.usage == Usage(10, 20, 3, 2)
    assert error.partial.cost_usd is None


# The real CLI: no process is left.


@pytest.mark.slow
async def test_an_mcp_server_cannot_outlive_its_task(tmp_path: Path, mock: Mock) -> None:
    """A server that is deaf to SIGTERM, and the daemon that it left behind, are gone when the answer is there."""
    answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"docs": stdio("forks_daemon.py")}))
    assert answer.status == "answered"
    assert is_gone(int((tmp_path / "workspace" / "daemon.pid").read_text()))
    assert answer.orphaned_processes == (PYTHON,)
    assert left_below(tmp_path) == []


@pytest.mark.parametrize("waits_for", [pytest.param("the model", marks=pytest.mark.slow), "the servers"])
@pytest.mark.slow
async def test_a_cancelled_task_leaves_no_process(tmp_path: Path, waits_for: str) -> None:
    """Whether it is starting or asking, cancelling ends all processes in a few seconds.

    What would have stayed for ever is told by name: the daemon, and the server that is deaf.
    """
    with Mock(errors="hang:1") as mock:
        servers = {"docs": stdio("forks_daemon.py")}
        if waits_for == "the servers":
            servers["slow"] = stdio("sleeps.py", "600")
        reported: list[Answer] = []
        asked = prompt(tmp_path, mock.env, servers=servers, heartbeat=reported.append)
        asking = asyncio.create_task(AGENT.answer(asked))
        pid = tmp_path / "workspace" / "daemon.pid"
        while not pid.exists() or not pid.read_text() or (waits_for == "the model" and not messages(mock)):
            assert not asking.done()
            await asyncio.sleep(0.01)
        begun = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert time.monotonic() - begun < 10
    assert is_gone(int(pid.read_text()))
    assert set(reported[-1].orphaned_processes) == {PYTHON}
    assert left_below(tmp_path) == []


# Without the CLI.


@pytest.mark.parametrize(
    "option",
    [
        {"max_turns": 0},
        {"mcp_timeout_s": 0},
        {"max_starts": 0},
        {"max_retries": -1},
        {"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}},  # with --mock it would ask the paid service
        {"env": {"CLAUDE_CODE_USE_FOUNDRY": "1"}},
        {"env": {"MCP_TIMEOUT": "1"}},
    ],
)
def test_an_impossible_option_is_refused_at_once(option: dict[str, Any]) -> None:
    """Mistakes in the config are found before anything runs."""
    with pytest.raises(ValueError, match=next(iter(option))):
        Claude(model="m", **option)
