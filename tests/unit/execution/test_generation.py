from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from keval.agents import Agent, AgentError, Answer, McpUse, Prompt, Turn
from keval.config.model import AgentConfig, Config, Execution, Gates
from keval.config.reader import load
from keval.execution.budget import Ledger
from keval.execution.progress import Progress
from keval.ids import JsonObject
from keval.models import prices
from keval.preparation.tasks import work_list
from keval.retry import Retry
from keval.usage import Usage
from tests.builders import Kept
from tests.sessions import session_of

SAMPLES = [{"id": f"s{number}", "question": f"What is {number}?", "answer": str(number)} for number in range(3)]
CONFIG = """\
name: unit
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo}
mcp_servers:
  docs: {type: stdio, command: docs, env: {TOKEN: "${TOKEN}"}}
conditions:
  plain: {system_prompt: "Answer with ${STYLE}."}
judge: {type: exact_match}
"""


@dataclass(frozen=True, kw_only=True)
class Scripted(Agent):
    """An agent that does what a function says."""

    script: Callable[[Prompt], Answer]
    asked: list[Prompt]
    pause_s: float = 0.0

    async def answer(self, prompt: Prompt) -> Answer:
        self.asked.append(prompt)
        prompt.heartbeat(Answer("answered", "", turns=(Turn("text", text="thinking"),)))
        await asyncio.sleep(self.pause_s)
        return self.script(prompt)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Return a config with one condition, whose agent tests replace."""
    (tmp_path / "questions.jsonl").write_text('{"question": "q", "answer": "a"}\n')
    (tmp_path / "eval.yaml").write_text(CONFIG)
    loaded = load(tmp_path / "eval.yaml", environ={"TOKEN": "tok-secret-1", "STYLE": "flair", "PATH": "/bin"})
    once = Execution(repetitions=1, max_concurrent=2, retry=Retry(3, 0, 1))
    return replace(loaded, execution=once)


def generated(
    config: Config, script: Callable[[Prompt], Answer], ledger: Ledger | None = None, **changes: object
) -> tuple[list[JsonObject], list[Prompt]]:
    """Run the stage over the samples and return its events and what the agent was asked."""
    pause_s = changes.pop("pause_s", 0.0)
    condition = replace(config.conditions[0], **changes.pop("condition", {}))  # type: ignore[arg-type] # any field
    agent = Scripted(script=script, asked=[], pause_s=float(str(pause_s)))
    samples: list[JsonObject] = changes.pop("samples", SAMPLES)  # type: ignore[assignment] # any field
    kept = changes.pop("kept", None) or Kept()
    assert isinstance(kept, Kept)
    changed = replace(
        config,
        agent=AgentConfig("scripted", "scripted", agent, {}),
        conditions=(condition,),
        **changes,  # type: ignore[arg-type] # any field
    )

    async def main() -> None:
        session = session_of(changed, kept, ledger or Ledger(), env={"PATH": "/bin"})
        stage = session.generation(changed, Progress("generate"))
        await stage.work_off(work_list(changed, samples))

    asyncio.run(main())
    return kept.events, agent.asked


def fine(prompt: Prompt) -> Answer:
    return Answer("answered", prompt.question, usage=Usage(1, 2, 3, 4), cost_usd=0.5, num_turns=1, models=("m",))


def test_each_task_ends_in_one_response_that_carries_its_sample(config: Config) -> None:
    """Three samples are three responses, each with its whole sample and the mark of the mock."""
    events, _ = generated(config, fine)
    assert [event["type"] for event in events] == ["response"] * 3
    assert sorted(event["sample"]["id"] for event in events) == ["s0", "s1", "s2"]
    assert all(event["mock"] and event["attempts"] == 1 and event["cost_usd"] == 0.5 for event in events)


def test_no_more_tasks_run_at_once_than_the_config_says(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so many do: `max_concurrent` reaches the agent."""
    running, most = 0, 0

    async def answer(_: Scripted, prompt: Prompt) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return fine(prompt)

    monkeypatch.setattr(Scripted, "answer", answer)
    many = [{"id": f"s{number}", "question": f"What is {number}?", "answer": "?"} for number in range(12)]
    generated(config, fine, samples=many)
    assert most == config.execution.max_concurrent == 2


def test_the_agent_never_sees_the_golden_answer_or_the_conditions_name(config: Config) -> None:
    """Nothing of a prompt holds the sample's answer, its id, or the name of the condition."""
    _, asked = generated(config, fine)
    for prompt in asked:
        told = repr((prompt.question, prompt.turns, prompt.system_prompt, prompt.mcp_servers, prompt.env))
        assert "plain" not in told
        assert "'s0'" not in told
        assert not hasattr(prompt, "answer")


def test_the_workspace_is_empty_opaque_and_gone_afterwards(config: Config) -> None:
    """Each task has a folder of its own that tells nothing and does not outlive it."""
    seen: list[list[str]] = []

    def look(prompt: Prompt) -> Answer:
        seen.append([path.name for path in prompt.workspace.iterdir()])
        assert "plain" not in str(prompt.workspace)
        return fine(prompt)

    _, asked = generated(config, look)
    assert seen == [[], [], []]
    assert not any(prompt.workspace.exists() for prompt in asked)


class Watching(Kept):
    """Keeps with each event what is in the folders that tasks have been given."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: list[Path] = []
        self.seen: list[list[str]] = []

    async def write(self, line: bytes) -> None:
        await asyncio.sleep(0.01)
        self.seen.append([path.name for folder in self.folders if folder.exists() for path in folder.iterdir()])
        await super().write(line)


def test_an_answer_is_logged_before_anything_is_cleaned(config: Config) -> None:
    """While the event of an answer, or of a failure, is written, what the agent left is still there."""
    watching = Watching()

    def script(prompt: Prompt) -> Answer:
        watching.folders.append(prompt.workspace)
        (prompt.workspace / prompt.question).touch()
        if "1" in prompt.question:
            raise AgentError("agent_error", "no")
        return fine(prompt)

    execution = replace(config.execution, max_concurrent=1)
    generated(config, script, kept=watching, execution=execution)
    assert [seen[-1:] for seen in watching.seen] == [[event_question(event)] for event in watching.events]
    assert not any(folder.exists() for folder in watching.folders)


def event_question(event: JsonObject) -> str:
    return str(event["sample"]["question"] if "sample" in event else f"What is {event['sample_id'][1:]}?")


def test_one_tasks_failure_touches_no_other(config: Config) -> None:
    """A task that fails is a failure event of its kind; the others have their responses."""

    def script(prompt: Prompt) -> Answer:
        if "1" in prompt.question:
            raise AgentError("agent_error", "400: no", partial=Answer("empty", "", cost_usd=0.25))
        return fine(prompt)

    events, _ = generated(config, script)
    failures = [event for event in events if event["type"] == "failure"]
    assert [(event["kind"], event["sample_id"], event["cost_usd"]) for event in failures] == [
        ("agent_error", "s1", 0.25)
    ]
    assert len(events) == 3


def test_an_exception_of_the_plug_in_is_about_its_task(config: Config) -> None:
    """Whatever an agent raises becomes an `agent_error` that names the exception."""

    def script(prompt: Prompt) -> Answer:
        raise ZeroDivisionError(prompt.question)

    events, _ = generated(config, script)
    assert {event["kind"] for event in events} == {"agent_error"}
    assert events[0]["message"].startswith("ZeroDivisionError: ")


@pytest.mark.parametrize("raised", [asyncio.CancelledError(), SystemExit(3), GeneratorExit()])
def test_nothing_that_a_plug_in_raises_ends_the_run_or_loses_its_task(config: Config, raised: BaseException) -> None:
    """Not even what Python uses to end a task or a program."""

    def script(prompt: Prompt) -> Answer:
        if "1" in prompt.question:
            raise raised
        return fine(prompt)

    events, _ = generated(config, script)
    assert sorted(event["type"] for event in events) == ["failure", "response", "response"]
    assert [event["kind"] for event in events if event["type"] == "failure"] == ["agent_error"]


@pytest.mark.parametrize("made", [None, "text", Answer("answered", "yes", usage={"input_tokens": 3})])  # type: ignore[arg-type] # what is tested
def test_what_is_no_answer_is_a_failure_of_its_task(config: Config, made: Answer) -> None:
    """A plug-in may return anything; it is named."""
    events, _ = generated(config, lambda _: made)
    assert {event["kind"] for event in events} == {"agent_error"}
    assert "returned what is no answer" in events[0]["message"]


def test_failed_attempts_stay_in_the_record_with_their_cost(config: Config) -> None:
    """A response after two failures has three attempts, and the two failures beside it."""
    tries: dict[str, int] = {}

    def script(prompt: Prompt) -> Answer:
        tries[prompt.question] = tries.get(prompt.question, 0) + 1
        if tries[prompt.question] < 3:
            raise AgentError("infra_error", "529", retryable=True, partial=Answer("empty", "", cost_usd=0.1))
        return fine(prompt)

    events, _ = generated(config, script)
    assert [event["attempts"] for event in events] == [3, 3, 3]
    assert [attempt["cost_usd"] for attempt in events[0]["failed_attempts"]] == [0.1, 0.1]
    assert events[0]["cost_usd"] == 0.5


@pytest.mark.parametrize(
    ("told", "models", "cost_usd"),
    [(None, ("m",), 4.0), (0.5, ("m",), 0.5), (None, ("m", "n"), None), (None, (), None)],
)
def test_what_the_agent_does_not_say_costs_what_the_config_says(
    config: Config, told: float | None, models: tuple[str, ...], cost_usd: float | None
) -> None:
    """The agent's own word counts; several models, or one without a price in the config, have no cost."""
    usage = Usage(1_000_000, 1_000_000, 0, 0)
    events, _ = generated(
        config,
        lambda _: Answer("answered", "yes", usage=usage, cost_usd=told, models=models),
        prices=prices.load({"m": {"input": 1, "output": 3}, "n": {"input": 1, "output": 3}}),
    )
    assert {event["cost_usd"] for event in events} == {cost_usd}


def test_what_a_gate_refused_has_a_cost_like_an_answer(config: Config) -> None:
    """All that it used is known: the price that the config gives counts."""
    events, _ = generated(
        config,
        lambda _: Answer("answered", "yes", usage=Usage(1_000_000, 0, 0, 0), models=("m",)),
        condition={"gates": Gates(require_mcp_tool_use=True)},
        prices=prices.load({"m": {"input": 1, "output": 3}}),
    )
    assert {(event["kind"], event["cost_usd"]) for event in events} == {("mcp_unused", 1.0)}


def test_processes_that_an_agent_left_behind_are_in_its_event(config: Config) -> None:
    """Their names are in a response and in a failure; without any the field is absent."""

    def script(prompt: Prompt) -> Answer:
        left = replace(fine(prompt), orphaned_processes=("python", "sh"))
        if "0" in prompt.question:
            raise AgentError("agent_error", "no", partial=left)
        return left if "1" in prompt.question else fine(prompt)

    events, _ = generated(config, script)
    told = {(event["type"], tuple(event.get("orphaned_processes", ("absent",)))) for event in events}
    assert told == {("failure", ("python", "sh")), ("response", ("python", "sh")), ("response", ("absent",))}


def test_processes_that_a_failed_attempt_left_behind_are_in_its_record(config: Config) -> None:
    """Each attempt answers for its own."""

    def script(prompt: Prompt) -> Answer:
        raise AgentError("agent_error", "no", retryable=True, partial=replace(fine(prompt), orphaned_processes=("sh",)))

    events, _ = generated(config, script)
    attempts = [attempt for event in events for attempt in (*event["failed_attempts"], event)]
    assert [attempt["orphaned_processes"] for attempt in attempts] == [["sh"]] * 9


def test_a_task_that_takes_too_long_is_a_timeout_with_what_was_there(config: Config) -> None:
    """A timeout keeps the turns so far; it is not tried again in the same run."""
    execution = replace(config.execution, timeout_s=0.05)
    events, asked = generated(config, fine, pause_s=5, execution=execution)
    assert {event["kind"] for event in events} == {"timeout"}
    assert events[0]["turns"] == [{"type": "text", "text": "thinking"}]
    assert len(asked) == 3


def test_a_sample_may_have_a_timeout_of_its_own(config: Config) -> None:
    """It counts in place of the config's, whichever is longer, and asks nothing again: it is in no id."""
    hurried = [SAMPLES[0] | {"timeout_s": 0.05}, SAMPLES[1] | {"timeout_s": "60"}, SAMPLES[2] | {"timeout_s": None}]
    events, _ = generated(config, fine, pause_s=0.2, samples=hurried)
    by_sample = {event.get("sample_id") or event["sample"]["id"]: event for event in events}
    assert [by_sample[name]["type"] for name in ("s0", "s1", "s2")] == ["failure", "response", "response"]
    assert by_sample["s0"]["message"] == "no answer: 0.05 s in all"
    usual, _ = generated(config, fine)
    assert {event["id"] for event in usual} == {event.get("response_id", event["id"]) for event in events}
    execution = replace(config.execution, timeout_s=0.05)
    events, _ = generated(config, fine, pause_s=0.2, execution=execution, samples=[SAMPLES[0] | {"timeout_s": 60}])
    assert [event["type"] for event in events] == ["response"]


def test_an_agent_that_shows_no_life_is_a_timeout(config: Config) -> None:
    """The idle timeout ends a task long before the timeout for all of it."""
    execution = replace(config.execution, idle_timeout_s=0.05)
    events, _ = generated(config, fine, pause_s=5, execution=execution)
    assert "without a heartbeat" in events[0]["message"]


@pytest.mark.parametrize(
    ("gates", "use", "kind"),
    [
        (Gates(require_mcp_tool_use=True), McpUse("connected", called=0), "mcp_unused"),
        (Gates(require_mcp_tool_use=True), McpUse("connected", called=1, failed=1), None),
        (Gates(require_mcp_tool_success=True), McpUse("connected", called=2, failed=2), "mcp_all_failed"),
        (Gates(require_mcp_tool_success=True), McpUse("connected", called=2, failed=1), None),
        (Gates(require_mcp_tool_success=True), McpUse("connected", called=0), None),
    ],
)
def test_gates_are_failures_of_their_kind(config: Config, gates: Gates, use: McpUse, kind: str | None) -> None:
    """A gate fires on what it names and on nothing else, is not sampled again, and keeps cost and turns."""

    def script(prompt: Prompt) -> Answer:
        return replace(fine(prompt), mcp={"docs": use})

    events, asked = generated(config, script, condition={"gates": gates})
    assert {event.get("kind") for event in events} == {kind}
    assert {event["cost_usd"] for event in events} == {0.5}
    assert len(asked) == 3


def test_secrets_are_in_no_byte_of_an_event(config: Config) -> None:
    """Values that came from the environment are replaced in answers, tool results and error texts."""
    servers = {"docs": config.mcp_servers["docs"]}

    def script(prompt: Prompt) -> Answer:
        token = prompt.mcp_servers["docs"]["env"]["TOKEN"]
        if "1" in prompt.question:
            raise AgentError("agent_error", f"refused {token}")
        turn = Turn("tool_call", name="mcp__docs__x", result=f"token={token}", input={token: token}, error=False)
        return replace(fine(prompt), text=f"it is {token}", turns=(turn,))

    events, _ = generated(config, script, condition={"mcp_servers": servers})
    assert "tok-secret-1" not in repr(events)
    assert "${TOKEN}" in repr(events)


def test_variables_in_a_system_prompt_are_resolved_for_the_agent(config: Config) -> None:
    """The agent gets the value, the log keeps the name."""
    _, asked = generated(config, fine)
    assert {prompt.system_prompt for prompt in asked} == {"Answer with flair."}


def test_a_budget_that_is_reached_stops_new_tasks(config: Config) -> None:
    """No task is begun that does not fit; what was spent stays within the limit."""
    ledger = Ledger(limit_usd=1.0)
    ledger.assume(config.conditions[0].condition_id, 0.5, "plain")
    events, _ = generated(config, fine, ledger)
    assert len(events) == 2
    assert (ledger.spent_usd, ledger.reserved_usd, ledger.refused) == (1.0, 0.0, 1)


def test_a_condition_may_ask_again_for_what_its_gate_refuses(config: Config) -> None:
    """With `retry_gates` the refused attempts stay in the record of the answer that was let through."""
    uses = iter([0, 0, 1, 1, 1])

    def script(prompt: Prompt) -> Answer:
        return replace(fine(prompt), mcp={"docs": McpUse("connected", called=next(uses))})

    gates = Gates(require_mcp_tool_use=True, retry_gates=True)
    events, asked = generated(config, script, condition={"gates": gates})
    assert [event["type"] for event in events] == ["response"] * 3
    refused = [attempt for event in events for attempt in event["failed_attempts"]]
    assert [(each["kind"], each["cost_usd"]) for each in refused] == [("mcp_unused", 0.5)] * 2
    assert len(asked) == 5


def test_a_gate_that_lets_nothing_through_ends_with_its_attempts(config: Config) -> None:
    """Even with `retry_gates` it is a failure in the end."""
    gates = Gates(require_mcp_tool_use=True, retry_gates=True)
    events, asked = generated(config, fine, condition={"gates": gates})
    assert {(event["kind"], event["attempts"]) for event in events} == {("mcp_unused", 3)}
    assert len(asked) == 9


def deep(levels: int) -> JsonObject:
    return {"a": deep(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"sources": (b"bytes",)}, "is no JSON"),
        ({"num_turns": 2**63}, "$.num_turns: 9223372036854775808 is more than 1000000000000"),
    ],
)
def test_an_answer_that_no_log_can_hold_is_a_failure_that_says_why(config: Config, given: JsonObject, why: str) -> None:
    """One task fails, what it cost is kept, and the run goes on."""
    bad = replace(fine(Prompt("q", (), "", {}, 1, Path(), {})), **given)
    events, _ = generated(config, lambda prompt: bad if "1" in prompt.question else fine(prompt))
    (failure,) = [event for event in events if event["type"] == "failure"]
    assert [event["type"] for event in events].count("response") == 2
    assert (failure["kind"], failure["cost_usd"]) == ("agent_error", 0.5)
    assert why in failure["message"]


@pytest.mark.parametrize("given", [deep(300), deep(201), {"a": {1, 2}}, {"a": 2**70}, {1: "a"}])
def test_a_call_that_no_log_can_hold_does_not_cost_the_answer(config: Config, given: JsonObject) -> None:
    """Its arguments are left out as not known; the answer is what is judged."""
    call = Turn("tool_call", name="t", input=given, result="found")
    events, _ = generated(config, lambda prompt: replace(fine(prompt), turns=(call,)))
    assert [(event["type"], event["cost_usd"]) for event in events] == [("response", 0.5)] * 3
    assert {(event["turns"][0]["input"], event["turns"][0]["result"]) for event in events} == {(None, "found")}


def test_the_arguments_of_a_call_are_kept_where_a_log_can_hold_them(config: Config) -> None:
    """Deep ones, and those with what UTF-8 cannot hold, too."""
    call = Turn("tool_call", name="t", input={"a": deep(190), "b": "\ud800"}, result="found")
    events, _ = generated(config, lambda prompt: replace(fine(prompt), turns=(call,)))
    assert [event["turns"][0]["input"] for event in events] == [{"a": deep(190), "b": "\ufffd"}] * 3


USAGE = {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}


@pytest.mark.parametrize(
    ("partial", "known"),
    [
        ({"turns": (Turn("tool_call", name="t", duration_ms=-1),)}, (0.5, USAGE)),
        ({"usage": Usage(-1)}, (0.5, None)),
        ({"cost_usd": 1e300}, (None, None)),
    ],
)
def test_what_is_known_of_a_failed_attempt_need_not_be_fit_for_a_log(
    config: Config, partial: JsonObject, known: tuple[float | None, JsonObject | None]
) -> None:
    """An attempt that fails for a reason that may pass is tried again; what it cost is kept, if a log can hold that."""
    so_far = replace(fine(Prompt("q", (), "", {}, 1, Path(), {})), **partial)
    tried: list[str] = []

    def fails(prompt: Prompt) -> Answer:
        raise AgentError("timeout", f"late: {prompt.question}", partial=so_far)

    def twice(prompt: Prompt) -> Answer:
        tried.append(prompt.question)
        if tried.count(prompt.question) == 1:
            raise AgentError("infra_error", "overloaded", retryable=True, partial=so_far)
        return fine(prompt)

    events, _ = generated(config, twice)
    assert [(event["type"], event["attempts"]) for event in events] == [("response", 2)] * 3
    attempts = [event["failed_attempts"][0] for event in events]
    assert [(attempt["cost_usd"], attempt["usage"]) for attempt in attempts] == [known] * 3
    ledger = Ledger()
    failures, _ = generated(config, fails, ledger)
    assert [(event["kind"], event["cost_usd"], event["usage"]) for event in failures] == [("timeout", *known)] * 3
    assert ledger.spent_usd == 3 * (known[0] or 0)
