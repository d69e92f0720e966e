from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from keval.agents import AgentError, Answer, McpUse, Turn, _mcp_connections
from keval.agents._mcp_connections import Connections, NotReadyError
from keval.agents.messages import Messages
from keval.events import encode
from keval.execution.generation import turn_field
from keval.execution.recording import usage_field
from keval.mock import Mock
from keval.models import prices
from keval.processes import tree
from keval.processes.servers import launchable
from keval.usage import Usage
from tests.builders import response_event
from tests.prompts import environment, prompt, stdio
from tests.servers.over_http import has_gone, over_http
from tests.servers.scripted_api import LIKE_A_LOST_CONNECTION, Refuse, Say, ScriptedApi, call, text

AGENT = Messages(model="claude-sonnet-5")
SEARCH = "mcp__docs__search"


def local(folder: Path, script: str, *arguments: str, **env: str) -> dict[str, Any]:
    """Return a server of tests/servers as an agent is given it."""
    return launchable(stdio(script, *arguments, **env), folder)


@contextmanager
def obeying(transport: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a server that does what its queries say."""
    if transport == "stdio":
        yield local(folder, "obeys.py")
        return
    with over_http("obeys.py", folder, *(["sse"] if transport == "sse" else [])) as port:
        yield {"type": transport, "url": f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}"}


def calls(*queries: str) -> list[Say]:
    return [call(SEARCH, query) for query in queries]


async def failure(agent: Messages, folder: Path, env: Mapping[str, str], **fields: Any) -> AgentError:  # noqa: ANN401 - any field of a prompt
    """Return what a task fails with."""
    with pytest.raises(AgentError) as caught:
        await agent.answer(prompt(folder, env, **fields))
    return caught.value


@pytest.mark.slow
async def test_an_answer_holds_everything_that_happened(tmp_path: Path) -> None:
    """Turns, use of the servers, tokens, cost and models are those that Claude Code's record has."""
    servers = {"docs": local(tmp_path, "docs.py"), "pages": local(tmp_path, "docs.py")}
    script = [call(SEARCH, "kiwi", "I look."), call("mcp__pages__search", "fail"), text("A ", "fruit.")]
    with ScriptedApi(*script) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers=servers))
    durations = [turn.duration_ms for turn in answer.turns if turn.type == "tool_call"]
    (failed,) = [turn.result or "" for turn in answer.turns if turn.type == "tool_call" and turn.error]
    assert failed.endswith("Connection closed")
    assert answer == Answer(
        "answered",
        "A fruit.",
        turns=(
            Turn("text", "I look."),
            Turn("tool_call", None, f"toolu_{SEARCH}_kiwi", SEARCH, "docs", {"query": "kiwi"}, "found: kiwi",
                 error=False, duration_ms=durations[0]),
            Turn("tool_call", None, "toolu_mcp__pages__search_fail", "mcp__pages__search", "pages", {"query": "fail"},
                 failed, error=True, duration_ms=durations[1]),
            Turn("text", "A "),
            Turn("text", "fruit."),
        ),
        mcp={
            "docs": McpUse("connected", ("search", "pages"), 1, 0, "docs", "1.0"),
            "pages": McpUse("connected", ("search", "pages"), 1, 1, "docs", "1.0"),
        },
        usage=Usage(30, 60, 9, 6),
        cost_usd=answer.cost_usd,
        num_turns=3,
        models=("claude-sonnet-5",),
    )  # fmt: skip
    assert answer.cost_usd
    first, *_, last = api.bodies
    assert [tool["name"] for tool in first["tools"]] == [
        f"mcp__{server}__{tool}" for server in servers for tool in ("search", "pages")
    ]
    assert first["system"] == "Answer briefly."
    assert [message["role"] for message in last["messages"]] == ["user", "assistant"] * 2 + ["user"]
    assert last["messages"][-1]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_mcp__pages__search_fail",
            "content": [{"type": "text", "text": failed}],
            "is_error": True,
        }
    ]


@pytest.mark.parametrize("said", [text("a", stop_reason="pause_turn"), call("mcp__gone__search", "x")])
async def test_a_model_that_goes_on_for_ever_without_a_tool_comes_to_an_end(tmp_path: Path, said: Say) -> None:
    """Each of its turns is paid for, and in a batch no time limit ends it."""
    with ScriptedApi(lambda _number, _body: said) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env))
    assert (answer.status, answer.num_turns) == ("limit", 20)


async def test_each_message_of_a_conversation_is_asked_in_turn(tmp_path: Path) -> None:
    """The model sees all that was said before; the last answer is the answer."""
    with ScriptedApi(text("one"), text("two")) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, turns=("First?", "Second?")))
    said = [(message["role"], message["content"]) for message in api.bodies[-1]["messages"]]
    assert said == [("user", "First?"), ("assistant", [{"type": "text", "text": "one"}]), ("user", "Second?")]
    assert (answer.text, answer.num_turns) == ("two", 2)


@pytest.mark.parametrize(
    ("script", "options", "status", "answered"),
    [
        ([text("", " ")], {}, "empty", " "),
        ([text("I will not", stop_reason="refusal")], {}, "refused", "I will not"),
        ([text("It is", stop_reason="max_tokens")], {}, "limit", "It is"),
        ([text("a", stop_reason="pause_turn"), text("b")], {}, "answered", "b"),
        ([call("mcp__gone__search", "x", "I look")], {"max_turns": 2}, "limit", "I look"),
        ([call("mcp__gone__search", "x"), text("so")], {}, "answered", "so"),
    ],
)
async def test_the_status_says_how_the_model_ended(
    tmp_path: Path, script: list[Any], options: dict[str, Any], status: str, answered: str
) -> None:
    """By its own account: it answered, said nothing, declined, or met a limit; a tool that there is not is an error."""
    with ScriptedApi(*script) as api:
        answer = await Messages(model="claude-sonnet-5", **options).answer(prompt(tmp_path, api.env))
    assert (answer.status, answer.text) == (status, answered)
    assert all(turn.error for turn in answer.turns if turn.type == "tool_call")


ODDITIES: list[dict[str, Any]] = [
    {"model": 7},
    {"model": ["m"]},
    {"usage": {"input_tokens": 1, "output_tokens": 2**63}},
    {"usage": 5},
    {"stop_reason": ["end_turn"]},
    {"content": [{"type": "text", "text": 5}, {"type": "text", "text": "a fruit"}, 7]},
]


@pytest.mark.parametrize("odd", ODDITIES)
async def test_an_answer_outlives_what_is_odd_beside_it(tmp_path: Path, odd: dict[str, Any]) -> None:
    """What the log could not hold of a paid reply is unknown; the answer is there, and it can be written."""
    with ScriptedApi(replace(text("a fruit"), odd=odd)) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env))
    assert (answer.status, answer.text) == ("answered", "a fruit")
    assert (answer.cost_usd is None) == bool({"model", "usage"} & odd.keys())
    loggable(answer)


def loggable(answer: Answer) -> None:
    """Make the line of an answer, which raises for what no log can hold."""
    encode(
        response_event(
            turns=[turn_field(turn) for turn in answer.turns],
            usage=usage_field(answer.usage),
            cost_usd=answer.cost_usd,
            models=list(answer.models),
        )
    )


def nested(levels: int) -> dict[str, Any]:
    """Return objects in objects."""
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"in": found}
    return found


async def test_a_reply_that_is_too_long_is_not_read_to_its_end(tmp_path: Path) -> None:
    """The agent has failed, not the service; what the reply cost is not known."""
    with ScriptedApi(text("a" * 3000)) as api:
        error = await failure(Messages(model="claude-sonnet-5", max_reply_bytes=2000), tmp_path, api.env)
    assert (error.kind, error.retryable) == ("agent_error", False)
    assert error.message == "the reply is longer than 2000 bytes"
    assert error.partial is not None
    assert error.partial.cost_usd is None


@pytest.mark.parametrize("named", [AGENT.model, "another"])
async def test_the_configs_own_price_takes_the_place_of_the_shipped_one(tmp_path: Path, named: str) -> None:
    """In what is known on the way, too, which is what a failure cost."""
    own = prices.load({named: {"input": 1e6, "output": 0, "cache_read": 0, "cache_write_5m": 0}})
    with ScriptedApi(call(SEARCH, "kiwi"), text("fruit")) as api:
        known: list[Answer] = []
        given = prompt(
            tmp_path, api.env, servers={"docs": local(tmp_path, "docs.py")}, prices=own, heartbeat=known.append
        )
        answer = await AGENT.answer(given)
    assert answer.usage
    assert (answer.cost_usd == pytest.approx(answer.usage.input_tokens)) is (named != "another")
    assert known[-1].cost_usd == answer.cost_usd


async def test_what_is_known_before_a_request_says_that_it_may_cost(tmp_path: Path) -> None:
    """Whatever ends the task while a request is under way, nobody takes its cost for 0."""
    known: list[Answer] = []
    asked: list[float | None] = []

    def script(_number: int, _body: object) -> Say:
        asked.append(known[-1].cost_usd)
        return text("a fruit")

    with ScriptedApi(script) as api:
        await AGENT.answer(replace(prompt(tmp_path, api.env), heartbeat=known.append))
    assert asked == [None]
    assert known[-1].cost_usd


@pytest.mark.slow
async def test_tools_of_one_name_to_the_model_are_told_apart(tmp_path: Path) -> None:
    """Each can be called, though their names differ only in a character that none may have for a model."""
    names = ("mcp__docs__get_page", "mcp__docs__get_page_2")
    with ScriptedApi(*(call(name, "7") for name in names), text("Done.")) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": local(tmp_path, "near_names.py")}))
    assert [tool["name"] for tool in api.bodies[0]["tools"]] == [*names]
    assert [turn.result for turn in answer.turns if turn.type == "tool_call"] == ["path: 7", "number: 7"]


@pytest.mark.slow
async def test_a_call_is_known_before_its_tool_answers(tmp_path: Path) -> None:
    """Should it never answer, and the task be ended, the call counts as one that failed."""
    known: list[Answer] = []
    with ScriptedApi(call(SEARCH, "kiwi"), text("A fruit.")) as api:
        await AGENT.answer(
            prompt(tmp_path, api.env, heartbeat=known.append, servers={"docs": local(tmp_path, "docs.py")})
        )
    calls = [turn.error for each in known for turn in each.turns[:1] if turn.type == "tool_call"]
    assert (calls[0], calls[-1]) == (True, False)
    assert next(each.mcp["docs"].failed for each in known if each.turns) == 1


@pytest.mark.slow
async def test_bytes_of_a_server_that_are_no_text_end_no_task(tmp_path: Path) -> None:
    """A program that the server runs may write to its stdout in another encoding: its call is answered all the same."""
    with ScriptedApi(*calls("noise"), text("Done.")) as api:
        async with asyncio.timeout(60):
            answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": local(tmp_path, "obeys.py")}))
    turn, _ = answer.turns
    assert (answer.text, turn.error) == ("Done.", False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        {"name": 5},
        pytest.param({"name": None}, marks=pytest.mark.slow),
        pytest.param({"name": ["a"]}, marks=pytest.mark.slow),
        pytest.param({"id": 7}, marks=pytest.mark.slow),
        pytest.param({"input": "kiwi"}, marks=pytest.mark.slow),
        {"input": nested(250)},
    ],
)
async def test_a_call_of_another_form_is_told_to_the_model(tmp_path: Path, odd: dict[str, Any]) -> None:
    """It fails, or is made if it says enough; in both cases the answer that comes after it is kept."""
    used = {**call(SEARCH, "kiwi").blocks[0], **odd}
    with ScriptedApi(Say([used], "tool_use"), text("a fruit")) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": local(tmp_path, "docs.py")}))
    turn, _ = answer.turns
    assert (answer.text, turn.error) == ("a fruit", "id" not in odd)
    assert api.bodies[-1]["messages"][-1]["content"][0]["is_error"] == ("id" not in odd)
    loggable(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "said", "retryable"),
    [
        ("exits.py", "its stderr ends: the index is not there", True),
        ("no_tools.py", "docs: the server offers no tools", False),
        ("sleeps.py", "docs: not ready after 0.3 s", True),
        (None, "docs: ", True),
    ],
)
async def test_nothing_is_asked_before_every_server_is_ready(
    tmp_path: Path, server: str | None, said: str, retryable: bool
) -> None:
    """A condition whose server is absent fails, for free, with the server's name and what it said."""
    nobody = {"type": "http", "url": "http://127.0.0.1:9/mcp"}
    found = nobody if server is None else local(tmp_path, server, "600")
    agent = Messages(model="claude-sonnet-5", mcp_timeout_s=0.3 if server == "sleeps.py" else 60)
    if server == "no_tools.py":
        found = local(tmp_path, server)
    with Mock() as mock:
        error = await failure(agent, tmp_path, mock.env, servers={"docs": found})
        assert mock.requests.total == 0
    assert (error.kind, error.retryable) == ("mcp_not_ready", retryable)
    assert said in error.message
    assert error.partial is not None
    assert error.partial.cost_usd == 0.0
    assert not own(tmp_path)


@pytest.mark.slow
async def test_a_server_that_is_never_ready_is_ended_however_many_wait_for_it(tmp_path: Path) -> None:
    """Each that has waited long enough gives it up: the run would else wait until the server ends by itself."""
    connections, server = Connections(), local(tmp_path, "sleeps.py", "600")
    waiting = (connections.ready("sleeps", server, environment(), 1 + number / 10) for number in range(4))
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(each) for each in found} == {NotReadyError}
    async with asyncio.timeout(60):
        await connections.close()
    assert not own(tmp_path)


def own(folder: Path) -> list[psutil.Process]:
    """Return the living processes that work in a folder."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it ended meanwhile: a zombie works nowhere
            if process.status() != psutil.STATUS_ZOMBIE and Path(process.cwd()) == folder:
                found.append(process)
    return found


REMOTE = [pytest.param("http", marks=pytest.mark.slow), pytest.param("sse", marks=pytest.mark.slow)]


@pytest.mark.parametrize("transport", ["stdio", *REMOTE])
@pytest.mark.slow
async def test_an_error_is_no_lost_connection_whatever_its_words(tmp_path: Path, transport: str) -> None:
    """Over each transport, as an error of the tool and of the protocol: the answer is kept."""
    words = [f"error:{said}" for said in LIKE_A_LOST_CONNECTION]
    codes = [f"protocol:{code}:{said}" for code in (-32000, -32001, -32603) for said in LIKE_A_LOST_CONNECTION[:2]]
    queries = [*words, *codes, "protocol:404:Session not found"]
    with obeying(transport, tmp_path) as server, ScriptedApi(*calls(*queries), text("an answer")) as api:
        answer = await AGENT.answer(prompt(tmp_path, api.env, servers={"docs": server}))
    assert (answer.status, answer.text) == ("answered", "an answer")
    use = answer.mcp["docs"]
    assert (use.status, use.called, use.failed) == ("connected", len(queries), len(queries))


@pytest.mark.slow
@pytest.mark.parametrize(
    "query", [pytest.param("exit:0", marks=pytest.mark.slow), "kill", pytest.param("later", marks=pytest.mark.slow)]
)
async def test_a_server_that_went_away_fails_the_task(tmp_path: Path, query: str) -> None:
    """In its last call or after it; what was done until then is kept."""

    def once_it_is_gone(_number: int, _body: dict[str, Any]) -> Say:
        servers = own(tmp_path)
        while any(map(tree.is_alive, servers)):  # one that is about to end has no folder any more, and is still there
            time.sleep(0.01)
        return text("an answer")

    with ScriptedApi(*calls(query), once_it_is_gone) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": local(tmp_path, "obeys.py")})
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    assert error.message.startswith("an MCP server went away during the task: docs: ")
    assert error.partial is not None
    use = error.partial.mcp["docs"]
    assert (use.status, use.called, use.failed) == ("failed", 1, int(query != "later"))


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_remote_server_that_is_gone_fails_the_task(tmp_path: Path, transport: str) -> None:
    """It is told by a call that breaks and by a list of tools that never comes."""
    with obeying(transport, tmp_path) as server, ScriptedApi(*calls("x:1", "kill"), text("so")) as api:
        error = await failure(AGENT, tmp_path, api.env, servers={"docs": server})
        assert has_gone(int(server["url"].split(":")[2].split("/")[0]))
    assert (error.kind, error.retryable) == ("mcp_failed", True)
    assert "it does not answer any more" in error.message


def passed_on(_number: int, body: dict[str, Any]) -> Say:
    """Let the model ask the server for the question, and answer what that says."""
    question, *rest = body["messages"]
    return text(rest[-1]["content"][0]["content"][0]["text"]) if rest else call(SEARCH, question["content"])


@pytest.mark.slow
async def test_a_server_that_hangs_in_a_task_that_is_over_is_not_given_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep every later task waiting, and each would be the agent's failure; one that only was slow is kept."""
    monkeypatch.setattr(_mcp_connections, "PROBE_S", 0.5)
    asked = {"docs": local(tmp_path, "obeys.py")}

    with ScriptedApi(passed_on) as api:
        async with AGENT.opened() as run:

            async def pid(query: str) -> tuple[str, str]:
                answer = await run.answer(prompt(tmp_path, api.env, question=query, servers=asked))
                return answer.text, answer.mcp["docs"].status

            first = await pid("x")
            for query, is_kept in (("sleep:2", True), ("stop", False)):
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.5):
                        await pid(query)
                again = await asyncio.gather(pid("x"), pid("x"))
                assert {each == first for each in again} == {is_kept}
        assert not own(tmp_path)
    assert {status for _, status in again} == {"reconnected"}


@pytest.mark.slow
async def test_a_run_has_one_connection_and_makes_another_when_it_is_lost(tmp_path: Path) -> None:
    """Tasks share a server; the one that lost it fails, and the next says that it is connected anew."""
    asked = {"docs": local(tmp_path, "obeys.py")}

    with ScriptedApi(passed_on) as api:
        async with AGENT.opened() as run:

            async def pid(query: str) -> tuple[str, str]:
                answer = await run.answer(prompt(tmp_path, api.env, question=query, servers=asked))
                return answer.text, answer.mcp["docs"].status

            first = await asyncio.gather(*(pid(f"x:{number}") for number in range(10)))
            with pytest.raises(AgentError, match="went away during the task: docs: ") as caught:
                await pid("kill")
            again = await pid("x")
            assert len(own(tmp_path)) == 1
        assert not own(tmp_path)
    assert caught.value.kind == "mcp_failed"
    assert len(set(first)) == 1
    assert (first[0][1], again[1]) == ("connected", "reconnected")
    assert first[0][0] != again[0]


@pytest.mark.slow
async def test_a_task_may_have_connections_of_its_own(tmp_path: Path) -> None:
    """Then no task meets what another one left in a server."""
    agent = Messages(model="claude-sonnet-5", connections="task")

    def script(_number: int, body: dict[str, Any]) -> Say:
        last = body["messages"][-1]["content"]
        return text(last[0]["content"][0]["text"]) if isinstance(last, list) else call(SEARCH, "x")

    with ScriptedApi(script) as api:
        async with agent.opened() as run:
            asked = prompt(tmp_path, api.env, servers={"docs": local(tmp_path, "obeys.py")})
            pids = {(await run.answer(asked)).text for _ in range(2)}
    assert len(pids) == 2
    assert not own(tmp_path)


@pytest.mark.slow
async def test_a_server_is_not_given_the_key(tmp_path: Path) -> None:
    """A stdio server has the agent's environment without its key, and what its own config sets."""
    server = local(tmp_path, "environment.py", OWN="1")
    with Mock() as mock:
        key = mock.env["ANTHROPIC_API_KEY"]
        answer = await AGENT.answer(prompt(tmp_path, mock.env, servers={"docs": server}))
    (result,) = [turn.result for turn in answer.turns if turn.type == "tool_call"]
    assert result is not None
    assert '"OWN": "1"' in result
    assert key not in result


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (Refuse(429, "rate_limit_error", {"retry-after": "7"}), ("infra_error", True, True, 7.0)),
        (Refuse(529, "overloaded_error"), ("infra_error", True, True, None)),
        (Refuse(500, "api_error"), ("infra_error", True, False, None)),
        (Refuse(401, "authentication_error"), ("infra_error", False, False, None)),
        (Refuse(404, "not_found_error"), ("infra_error", False, False, None)),
        (Refuse(400, "invalid_request_error"), ("agent_error", False, False, None)),
    ],
)
async def test_an_error_of_the_service_says_whose_fault_it_is(
    tmp_path: Path, refusal: Refuse, expected: tuple[str, bool, bool, float | None]
) -> None:
    """A conversation that is too long is the agent's own failure, all else is not; what was done is kept."""
    with ScriptedApi(call("mcp__gone__search", "x", "I look"), refusal) as api:
        error = await failure(AGENT, tmp_path, api.env)
    assert (error.kind, error.retryable, error.overloaded, error.retry_after_s) == expected
    assert error.partial is not None
    assert [turn.type for turn in error.partial.turns] == ["text", "tool_call"]
    assert error.partial.usage == Usage(10, 20, 3, 2)
    assert error.partial.cost_usd


async def test_a_cost_that_nobody_told_is_unknown(tmp_path: Path) -> None:
    """A request that brought no reply may have been paid for."""
    env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "x"}
    error = await failure(AGENT, tmp_path, env)
    assert (error.kind, error.retryable) == ("infra_error", True)
    assert error.partial is not None
    assert error.partial.cost_usd is None


async def test_whatever_happens_is_a_sign_of_life(tmp_path: Path) -> None:
    """Whoever cancels the task knows what was done by then."""
    known: list[Answer] = []
    with ScriptedApi(call("mcp__gone__search", "x", "I look"), text("so")) as api:
        await AGENT.answer(prompt(tmp_path, api.env, heartbeat=known.append))
    assert [len(each.turns) for each in known] == sorted(len(each.turns) for each in known)
    assert known[-1].text == "so"


@pytest.mark.parametrize("refusal", [Refuse(400, "invalid_request_error"), Refuse(404, "not_found_error")])
async def test_what_is_refused_before_the_first_reply_is_no_bad_answer(tmp_path: Path, refusal: Refuse) -> None:
    """An unknown model or a wrong address is the config's mistake: nobody answered, so nobody answered badly."""
    with ScriptedApi(refusal) as api, pytest.raises(AgentError) as caught:
        await AGENT.answer(prompt(tmp_path, api.env))
    assert (caught.value.kind, caught.value.retryable) == ("infra_error", False)
    assert caught.value.partial is not None
    assert caught.value.partial.cost_usd == 0


@pytest.mark.parametrize("name", ["max_tokens", "max_turns", "mcp_timeout_s", "timeout_s"])
def test_an_impossible_option_is_refused_at_once(name: str) -> None:
    """Mistakes in the config are found before anything runs."""
    impossible: Any = {name: 0}
    with pytest.raises(ValueError, match=f"{name}: must be more than 0"):
        Messages(model="m", **impossible)
