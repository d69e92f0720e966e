"""`keval generate --batch` as a process, against a service that makes batches and takes its time."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval.mock import Mock
from tests.growing_log import events_so_far
from tests.lasting_events import lasting
from tests.started_commands import Start, ended

pytestmark = pytest.mark.slow

CONFIG = """\
name: batches
version: "1"
dataset: {path: questions.jsonl}
agent: {type: messages, model: claude-opus-5}
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judge: {type: exact_match}
execution: {repetitions: 2, retry: {max_attempts: 3, initial_backoff_s: 0, backoff_multiplier: 1}}
"""
TASKS = 12
"""Of 3 samples, 2 conditions and 2 repetitions."""

CREATE, MESSAGES = "POST /v1/messages/batches", "POST /v1/messages"
RESULTS = "GET /v1/messages/batches/{id}/results"


@pytest.fixture
def begin(tmp_path: Path, start: Start) -> Start:
    """Return a function that begins to generate."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    samples: list[dict[str, Any]] = [
        {"id": f"s{number}", "question": f"What is {number}?", "answer": "sea"} for number in range(2)
    ]
    samples.append({"id": "talk", "question": ["Which sea?", "How deep?"], "answer": "sea"})
    (tmp_path / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    return lambda mock, log, *options: start(mock, "generate", "eval.yaml", *(["-o", log] if log else []), *options)


def wait_for_batch(log: Path) -> None:
    """Wait until a log says that a batch was made."""
    end = time.monotonic() + 60
    while "in_progress" not in [each["status"] for each in events_so_far(log, "batch")]:
        assert time.monotonic() < end, "no batch was made"
        time.sleep(0.05)


def responses(log: Path) -> dict[tuple[str, str], Any]:
    """Return the responses of a log without what differs between two runs."""
    return {key: event for key, event in lasting(log).items() if key[0] == "response"}


def test_batches_bring_the_answers_that_single_calls_bring(begin: Start, tmp_path: Path) -> None:
    """The same events at half the price; a conversation takes a batch for each of its messages."""
    with Mock() as mock:
        ended(begin(mock, "single.jsonl"))
    with Mock() as mock:
        ended(begin(mock, "batch.jsonl", "--batch"))
        called = mock.requests.by_path
    single, batch = tmp_path / "single.jsonl", tmp_path / "batch.jsonl"
    assert len(responses(batch)) == TASKS
    assert responses(batch) == responses(single)
    assert MESSAGES not in called
    assert called[CREATE] == called[RESULTS] == 2
    assert [each["status"] for each in events_so_far(batch, "batch")].count("ended") == 2
    paid, usual = (sum(each["cost_usd"] for each in events_so_far(log, "response")) for log in (batch, single))
    assert paid == pytest.approx(usual / 2)


@pytest.mark.parametrize("how", ["killed", "interrupted", "detached"])
def test_what_was_submitted_is_collected_by_the_next_command(begin: Start, tmp_path: Path, how: str) -> None:
    """SIGKILL, Ctrl-C or --detach between submitting and fetching: no batch is made again, and no answer is lost."""
    log = tmp_path / "log.jsonl"
    with Mock() as mock:
        mock.hold_batches()
        first = begin(mock, log.name, "--batch", *(["--detach"] if how == "detached" else []))
        wait_for_batch(log)
        if how == "killed":
            first.kill()
            ended(first, -signal.SIGKILL)
        elif how == "interrupted":
            first.send_signal(signal.SIGINT)
            ended(first, 130)
        else:
            assert "left at the service: 12 requests in a batch" in ended(first)
        mock.release_batches()
        ended(begin(mock, log.name, "--batch"))
        called = mock.requests.by_path
    assert len(events_so_far(log, "response")) == len(responses(log)) == TASKS
    assert MESSAGES not in called
    assert called[CREATE] == called[RESULTS] == 2


def test_what_is_paid_for_is_collected_whatever_is_left_of_the_budget(begin: Start, tmp_path: Path) -> None:
    """Another answer is asked for by a larger one only, and the results would be gone after 29 days."""
    log, config = tmp_path / "log.jsonl", tmp_path / "eval.yaml"
    single = [
        question for question in (tmp_path / "questions.jsonl").read_text().splitlines() if "talk" not in question
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(single[:1]))
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log.name, "--batch", "--detach"))
        mock.release_batches()
        (tmp_path / "questions.jsonl").write_text("\n".join(reversed(single)))
        config.write_text(config.read_text().replace("{repetitions: 2", "{repetitions: 2, budget_usd: 0.000001"))
        assert "budget_usd 1e-06 is reached" in ended(begin(mock, log.name, "--batch"), 6)
        called = mock.requests.by_path
    assert {event["sample"]["id"] for event in responses(log).values()} == {"s0"}
    assert len(responses(log)) == 4
    assert called[CREATE] == called[RESULTS] == 1


@pytest.mark.parametrize(("errors", "sample"), [("expired:1", "s0"), ("", "talk")])
def test_what_a_batch_did_not_bring_needs_the_budget(begin: Start, tmp_path: Path, errors: str, sample: str) -> None:
    """A request that expired is asked anew at the full price, and the next message of a conversation is one more."""
    log, config = tmp_path / "log.jsonl", tmp_path / "eval.yaml"
    asked = [line for line in (tmp_path / "questions.jsonl").read_text().splitlines() if f'"{sample}"' in line]
    (tmp_path / "questions.jsonl").write_text("\n".join(asked))
    with Mock(errors=errors) as mock:
        mock.hold_batches()
        ended(begin(mock, log.name, "--batch", "--detach"))
        mock.release_batches()
        config.write_text(config.read_text().replace("{repetitions: 2", "{repetitions: 2, budget_usd: 0.000001"))
        ended(begin(mock, log.name, "--batch"), 6)
        called = mock.requests.by_path
    assert MESSAGES not in called
    assert called[CREATE] == 1


def test_what_failed_before_it_was_in_a_batch_is_not_paid_for_twice(begin: Start, tmp_path: Path) -> None:
    """A failure of an earlier run says nothing of a batch that was made since."""
    log = tmp_path / "log.jsonl"
    with Mock(errors="400:1") as mock:
        ended(begin(mock, log.name), 1)
    assert len(events_so_far(log, "failure")) == TASKS
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log.name, "--batch", "--detach"))
        mock.release_batches()
        ended(begin(mock, log.name, "--batch"))
        assert mock.requests.by_path[CREATE] == 2
    assert len(responses(log)) == TASKS


def test_single_calls_say_that_batches_are_left(begin: Start) -> None:
    """Who asks without --batch what is in a batch pays for it twice, and is told."""
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, "log.jsonl", "--batch", "--detach"))
        assert "12 answers in earlier batches, not collected yet, asked for again" in ended(begin(mock, "log.jsonl"))


def test_what_cannot_be_batched_is_refused(begin: Start, tmp_path: Path) -> None:
    """Without a log nothing would say what was paid for; a batch calls no tools; another agent asks by itself."""
    with Mock() as mock:
        assert "--batch needs -o LOG" in ended(begin(mock, "", "--batch"), 2)
        (tmp_path / "eval.yaml").write_text(CONFIG.replace("type: messages, model: claude-opus-5", "type: echo"))
        assert "this one is of type 'echo'" in ended(begin(mock, "log.jsonl", "--batch"), 2)
        assert not mock.requests.by_path
