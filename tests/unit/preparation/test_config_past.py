from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keval.config.reader import load
from keval.failure_kinds import GATES
from keval.ids import JsonObject
from keval.preparation.prepared import Prepared, prepare
from keval.preparation.tasks import work_list
from tests.builders import response_event, retraction_event
from tests.tasks import answer_to, config_past, failure_of, tasks_of

CONFIG = """\
name: unit
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions:
  plain: {system_prompt: "Answer."}
  gated: {system_prompt: "Search.", require_mcp_tool_use: true}
  eager: {system_prompt: "Search.", require_mcp_tool_use: true, retry_gates: true}
judge: {type: exact_match}
execution: {repetitions: 2}
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """Return a config of two samples, three conditions and two repetitions."""
    folder = tmp_path_factory.mktemp("config")
    lines = [f'{{"id": "q{number}", "question": "Q{number}?", "answer": "A"}}' for number in range(2)]
    (folder / "questions.jsonl").write_text("\n".join(lines))
    (folder / "eval.yaml").write_text(CONFIG)
    return prepare(load(folder / "eval.yaml"), None, warn=lambda _: None)


def as_mock(prepared: Prepared) -> Prepared:
    """Return the config of a mock run."""
    return Prepared(prepared.config, prepared.datasets, prepared.samples, "http://127.0.0.1:1")


def skipped(prepared: Prepared, events: Sequence[JsonObject], *, retry_failed: bool = True) -> tuple[set[str], int]:
    """Return the ids of the responses that are not asked for, and how many of these have failed."""
    with config_past(prepared, events) as about:
        bits, failed = about.skipped(retry_failed=retry_failed)
    return {task.response_id for task in tasks_of(prepared) if bits and bits[number_of(prepared, task)] == "1"}, failed


def number_of(prepared: Prepared, task: object) -> int:
    """Return the number of a task."""
    return tasks_of(prepared).index(task)  # type: ignore[arg-type] # any of its tasks


@pytest.mark.slow
def test_a_task_is_its_number_in_sql_as_in_python(prepared: Prepared) -> None:
    """Each task by itself is found done, and no other, and what remains of all has the order of all."""
    everything = [task.response_id for task in work_list(prepared.config, prepared.samples)]
    for task in tasks_of(prepared):
        with config_past(prepared, [answer_to(prepared, task)]) as about:
            bits, _ = about.skipped(retry_failed=True)
        rest = [each.response_id for each in work_list(prepared.config, prepared.samples, bits)]
        assert rest == [target for target in everything if target != task.response_id]


def test_answers_to_other_tasks_do_none_of_these(prepared: Prepared) -> None:
    """Another question, agent, condition or a repetition too many; nothing of it is skipped."""
    task = tasks_of(prepared)[0]
    others = [
        answer_to(prepared, task, id="1", agent_id="another"),
        answer_to(prepared, task, id="2", condition_id="another"),
        answer_to(prepared, task, id="3", question_id="another"),
        answer_to(prepared, task, id="4") | {"repetition": 3},
        response_event("q9"),
    ]
    assert skipped(prepared, others) == (set(), 0)
    assert skipped(prepared, []) == (set(), 0)


def test_what_a_gate_refused_is_not_asked_again_unless_its_condition_says_so(prepared: Prepared) -> None:
    """Asking until an answer passes would be a bias; what failed otherwise is tried again, if that is wanted."""
    failures = {
        (task.condition.name, kind): failure_of(prepared, task, kind)
        for task, kind in zip(
            [task for task in tasks_of(prepared) if task.condition.name in {"gated", "eager"}],
            ["mcp_unused", "mcp_unused", "timeout", "timeout"],
            strict=False,
        )
    }
    gated = failures["gated", "mcp_unused"]["response_id"]
    assert skipped(prepared, list(failures.values())) == ({gated}, 1)
    every = {each["response_id"] for each in failures.values()}
    assert skipped(prepared, list(failures.values()), retry_failed=False) == (every, len(every))


def test_to_a_real_run_the_mock_did_nothing(prepared: Prepared) -> None:
    """Its answers and failures are none, and take nothing away from what is real; to a mock run real answers count."""
    first, second, third = tasks_of(prepared)[:3]
    events = [
        answer_to(prepared, first, mock=True),
        answer_to(prepared, second),
        answer_to(prepared, second, mock=True),
        failure_of(prepared, third, mock=True),
    ]
    assert skipped(prepared, events, retry_failed=False) == ({second.response_id}, 0)
    of_mock = skipped(as_mock(prepared), events, retry_failed=False)
    assert of_mock == ({first.response_id, second.response_id, third.response_id}, 1)


@pytest.mark.slow
def test_a_failure_counts_until_its_task_has_a_response(prepared: Prepared) -> None:
    """And not again if that is retracted, nor if the failure is: then the task is to do."""
    task = next(task for task in tasks_of(prepared) if task.condition.name == "gated")
    refused, answer = failure_of(prepared, task, "mcp_unused"), answer_to(prepared, task)
    given_up = ({task.response_id}, 1)
    assert skipped(prepared, [refused]) == given_up
    assert skipped(prepared, [refused, answer]) == ({task.response_id}, 0)
    assert skipped(prepared, [refused, answer, retraction_event(answer)]) == (set(), 0)
    assert skipped(prepared, [refused, retraction_event(refused)]) == (set(), 0)
    assert skipped(prepared, [answer, refused, retraction_event(answer)]) == given_up


def asked_for(prepared: Prepared, events: Sequence[JsonObject], *, retry_failed: bool) -> set[str]:
    """Return the responses to ask for, found by a plain loop: what has no answer that counts, and is not given up."""
    mock = prepared.mock_url is not None
    retried = {each.condition_id for each in prepared.config.conditions if each.gates.retry_gates}
    there: dict[str, bool] = {}
    failures: dict[str, list[JsonObject]] = {}
    for each in events:
        if each["type"] == "response":
            there[each["id"]] = there.get(each["id"], False) or not each.get("mock")
            if mock or not each.get("mock"):
                failures.pop(each["id"], None)
        elif each["type"] == "failure" and (mock or not each.get("mock")):
            failures.setdefault(each["response_id"], []).append(each)
        elif each["type"] == "retraction":
            there.pop(each["target"], None)
            for known in failures.values():
                known[:] = [failure for failure in known if failure["id"] != each["target"]]
    done = {target for target, is_real in there.items() if mock or is_real}
    given_up = {
        target
        for target, known in failures.items()
        if known and (not retry_failed or (known[-1]["kind"] in GATES and known[-1]["condition_id"] not in retried))
    }
    return {task.response_id for task in tasks_of(prepared)} - done - given_up


@given(data=st.data(), mock=st.booleans(), retry_failed=st.booleans())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_what_remains_is_what_a_plain_loop_over_the_log_finds(
    prepared: Prepared, data: st.DataObject, mock: bool, retry_failed: bool
) -> None:
    """Whatever was answered, failed or was retracted, in whatever order: each task that is asked for costs money."""
    events: list[JsonObject] = []
    for number in range(data.draw(st.integers(0, 14))):
        task = data.draw(st.sampled_from(tasks_of(prepared)[1:3]))
        by = {"mock": data.draw(st.booleans()), "run_id": f"run {number}"}
        match data.draw(st.sampled_from(["response", "failure", "retraction"])):
            case "failure":
                kind = data.draw(st.sampled_from(["timeout", "mcp_unused"]))
                events.append(failure_of(prepared, task, kind, id=f"f{number}", **by))
            case "retraction" if events:
                events.append(retraction_event(data.draw(st.sampled_from(events)), id=f"r{number}"))
            case _:
                events.append(answer_to(prepared, task, **by))
    planned = as_mock(prepared) if mock else prepared
    not_asked, _ = skipped(planned, events, retry_failed=retry_failed)
    every = {task.response_id for task in tasks_of(prepared)}
    assert every - not_asked == asked_for(planned, events, retry_failed=retry_failed)
