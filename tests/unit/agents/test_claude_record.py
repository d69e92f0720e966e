from __future__ import annotations

from typing import Any

import claude_agent_sdk
import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeSDKError,
    CLIJSONDecodeError,
    CLINotFoundError,
    ProcessError,
    ResultError,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from hypothesis import given
from hypothesis import strategies as st

from keval.agents import AgentError
from keval.agents._claude_record import Record
from keval.usage import Usage
from tests.servers.scripted_api import LIKE_A_LOST_CONNECTION


def every_exception() -> list[type[ClaudeSDKError]]:
    known = [ClaudeSDKError]
    for kind in known:
        known += [sub for sub in kind.__subclasses__() if sub not in known]
    return known


def made(kind: type[ClaudeSDKError]) -> ClaudeSDKError:
    return kind("a line", ValueError("no")) if kind is CLIJSONDecodeError else kind("what happened")


@pytest.mark.parametrize("kind", every_exception())
def test_every_exception_of_the_sdk_has_a_meaning(kind: type[ClaudeSDKError]) -> None:
    """None of them escapes as something else, and each keeps what it said and what was known."""
    error = Record(()).failure_of(made(kind))
    assert error.kind in ("agent_error", "infra_error")
    assert error.partial is not None
    assert "what happened" in error.message or "a line" in error.message


def test_the_public_exceptions_of_the_sdk_are_among_them() -> None:
    """The walk over the exceptions finds those that the SDK exports."""
    exported = {
        value
        for name in claude_agent_sdk.__all__
        if isinstance(value := getattr(claude_agent_sdk, name), type) and issubclass(value, Exception)
        if not issubclass(value, Warning)
    }
    assert exported <= {*every_exception()}
    assert len(exported) >= 6


TOO_LONG = CLIJSONDecodeError("JSON message exceeded maximum buffer size of 9 bytes", ValueError())


@pytest.mark.parametrize(
    ("error", "kind", "retryable", "said"),
    [
        (CLINotFoundError(), "infra_error", False, "Claude Code is missing"),
        (ProcessError("broke", exit_code=137), "agent_error", True, "exit code: 137"),
        (TOO_LONG, "agent_error", False, "longer than the limit of 67108864 bytes"),
        (ResultError("no", {"api_error_status": 503, "result": "busy"}), "infra_error", True, "HTTP 503: busy"),
        (ResultError("no", {"api_error_status": 403, "result": "no"}), "infra_error", False, "the key was refused"),
        (ResultError("no", {"api_error_status": 400, "result": "no"}), "infra_error", False, "HTTP 400: no"),
        (ResultError("no", {"api_error_status": 404, "result": "no"}), "infra_error", False, "HTTP 404: no"),
        (ResultError("no", {"errors": ["hook failed"]}), "agent_error", True, "hook failed"),
        (Exception("Control request timeout: initialize"), "agent_error", True, "timeout: initialize"),
        (TimeoutError(), "agent_error", True, "TimeoutError"),
    ],
)
def test_an_exception_of_the_sdk_says_what_to_do(error: Exception, kind: str, retryable: bool, said: str) -> None:
    """What may pass is tried again; what will not is not. Before the question is sent it is never the agent's fault."""
    record = Record(())
    assert record.failure_of(error).kind == "infra_error" or isinstance(error, ResultError)
    record.ask()
    found = record.failure_of(error)
    assert (found.kind, found.retryable) == (kind, retryable)
    assert said in found.message


def test_the_end_of_stderr_is_part_of_a_crash() -> None:
    """The CLI's last words are often the reason."""
    record = Record(())
    record.stderr += ["unknown option", "did you mean …"]
    assert record.failure_of(ProcessError("x")).message.endswith("unknown option / did you mean …")


def result(**fields: Any) -> ResultMessage:  # noqa: ANN401 - any field of the message
    given: dict[str, Any] = {
        "subtype": "success", "duration_ms": 1, "duration_api_ms": 1, "is_error": False, "num_turns": 1,
        "session_id": "s", **fields,
    }  # fmt: skip
    return ResultMessage(**given)


def event(told: dict[str, Any]) -> StreamEvent:
    """Return what the CLI passes on of a reply while it comes."""
    return StreamEvent(uuid="u", session_id="s", event=told)


def test_a_cli_that_ends_without_a_result_has_not_answered() -> None:
    """Silence is a failure."""
    with pytest.raises(AgentError, match="without a result"):
        Record(()).answer()


def test_tokens_that_the_prompt_cache_read_and_took_are_counted() -> None:
    """Of all models, in the CLI's sums as in what the stream has told until a task ends without them."""
    one = {"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 300, "cacheCreationInputTokens": 40}
    record = Record(())
    record.add(result(model_usage={"m": one, "helper": one}))
    assert record.answer().usage == Usage(2, 4, 600, 80)
    told = {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40}
    record = Record(())
    for _ in range(2):
        record.add(event({"type": "message_start", "message": {"usage": told}}))
        record.add(event({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 2}}))
    assert record.so_far().usage == Usage(2, 4, 600, 80)


def test_an_unanswered_message_is_not_made_up_for_by_an_earlier_answer() -> None:
    """In a conversation each message needs its own result."""
    record = Record(())
    record.ask()
    record.add(result())
    record.ask()
    with pytest.raises(AgentError, match="without a result"):
        record.answer()


def test_an_error_flag_is_believed_whatever_the_subtype_says() -> None:
    """A «success» with an error flag is a failure, known to the service or not."""
    record = Record(())
    record.add(result(is_error=True, result="odd", terminal_reason="aborted"))
    with pytest.raises(AgentError, match="aborted: odd"):
        record.answer()


def test_a_call_that_was_never_answered_is_an_error_without_a_result() -> None:
    """What was still running when the task ended counts as failed, with no made-up duration."""
    record = Record(("docs",))
    record.add(AssistantMessage([ToolUseBlock("1", "mcp__docs__search", {"q": "x"})], "m"))
    (turn,) = record.so_far().turns
    assert (turn.error, turn.result, turn.duration_ms) == (True, None, None)


def test_two_calls_of_one_tool_are_two_turns() -> None:
    """Each has its own input, result and duration, also when the second is answered first."""
    record = Record(())
    record.add(AssistantMessage([ToolUseBlock("1", "Bash", {"n": 1}), ToolUseBlock("2", "Bash", {"n": 2})], "m"))
    for called in ("2", "1"):
        record.add(UserMessage([ToolResultBlock(called, f"result {called}")]))
    turns = record.so_far().turns
    assert [(turn.input, turn.result) for turn in turns] == [({"n": 1}, "result 1"), ({"n": 2}, "result 2")]
    assert all(turn.duration_ms is not None for turn in turns)


def test_the_duration_of_a_call_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """From when it was made to when its result came, whatever the task took before and after it."""
    now_s = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    record = Record(())
    for call, seconds in (("1", 2), ("2", 5)):
        record.add(AssistantMessage([ToolUseBlock(call, "Bash", {})], "m"))
        now_s += seconds
        record.add(UserMessage([ToolResultBlock(call, "done")]))
        now_s += 30
    assert [turn.duration_ms for turn in record.so_far().turns] == [2000, 5000]


def test_a_result_of_several_blocks_is_one_text() -> None:
    """Blocks are lines; of what is not text only its kind is kept."""
    record = Record(())
    record.add(AssistantMessage([ToolUseBlock("1", "Read", {})], "m"))
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "a"},
        {"type": "image", "source": {}},
        {"type": "text", "text": "b"},
    ]
    record.add(UserMessage([ToolResultBlock("1", blocks)]))
    (turn,) = record.so_far().turns
    assert (turn.result, turn.error, turn.server) == ("a\n[image]\nb", False, None)


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("mcp__a__x", "a"),
        ("mcp__a__b__x", "a__b"),
        ("mcp__a_b__x", "a.b"),
        ("mcp__ab__x", None),
        ("Read", None),
    ],
)
def test_a_call_belongs_to_the_server_with_the_longest_matching_name(name: str, server: str | None) -> None:
    """Server names may hold the separator and characters that tool names may not."""
    record = Record(("a", "a__b", "a.b"))
    record.add(AssistantMessage([ToolUseBlock("1", name, {})], "m"))
    assert record.so_far().turns[0].server == server


@given(words=st.text() | st.sampled_from(LIKE_A_LOST_CONNECTION), as_object=st.booleans())
def test_no_words_of_a_tool_fail_the_task(words: str, as_object: bool) -> None:
    """An error is an error of the call, in whatever form the CLI hands it on."""
    record = Record(("docs",))
    record.add(AssistantMessage([ToolUseBlock("1", "mcp__docs__search", {})], "m"))
    detail: Any = {"content": words} if as_object else f"Error: {words}"
    record.add(UserMessage([ToolResultBlock("1", words, is_error=True)], tool_use_result=detail))
    record.add(AssistantMessage([TextBlock("anyway")], "m"))
    record.statuses["docs"] = {"name": "docs", "status": "connected"}
    record.add(result())
    answer = record.answer()
    assert (answer.text, answer.mcp["docs"].called, answer.mcp["docs"].failed) == ("anyway", 1, 1)


def test_a_server_that_is_not_connected_at_the_end_fails_the_task() -> None:
    """Even if no call met the broken connection."""
    record = Record(("docs",))
    record.statuses["docs"] = {"name": "docs", "status": "pending"}
    record.add(result())
    with pytest.raises(AgentError, match="docs: pending") as caught:
        record.answer()
    assert caught.value.kind == "mcp_failed"
