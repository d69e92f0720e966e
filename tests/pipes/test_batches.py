"""`keval judge --batch` as a process, against a service that makes batches, fails and takes its time."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval.config.reader import load
from keval.execution.config_session import generate
from keval.mock import Mock
from keval.preparation.request import Request
from tests.fork_server import ForkServer
from tests.growing_log import events_so_far
from tests.lasting_events import lasting
from tests.started_commands import Start, ended

pytestmark = pytest.mark.slow

CONFIG = """\
name: batches
version: "1"
dataset: {path: questions.jsonl}
agent:
  type: command
  command: [sh, -c, 'read line; case "$line" in *politely*) echo "Sir, the sea is wide";; *) echo "the sea";; esac']
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judges:
  - {type: rubric, model: claude-opus-5}
  - {type: jury, models: [claude-opus-5, claude-sonnet-5], replicates: 2}
  - {type: pairwise, model: claude-opus-5}
  - {type: exact_match}
execution: {repetitions: 2, retry: {max_attempts: 3, initial_backoff_s: 0, backoff_multiplier: 1}}
"""
JUDGES = 3
"""Those that ask models."""

JUDGMENTS = 12 + 2 * 12 + 12 + 12
"""Of 3 samples, 2 conditions and 2 repetitions."""

CREATE, MESSAGES = "POST /v1/messages/batches", "POST /v1/messages"
RESULTS = "GET /v1/messages/batches/{id}/results"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of answers that nobody has judged."""
    folder = tmp_path_factory.mktemp("answered")
    (folder / "eval.yaml").write_text(CONFIG)
    samples = [{"id": f"s{number}", "question": "What?", "answer": f"the sea {number}"} for number in range(3)]
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    os.environ["ANTHROPIC_API_KEY"] = "not-a-key"
    try:
        generate(load(folder / "eval.yaml"), folder / "log.jsonl", Request(quiet=True), lambda _: None)
    finally:
        del os.environ["ANTHROPIC_API_KEY"]
    return folder / "log.jsonl"


@pytest.fixture
def log(answered: Path, tmp_path: Path) -> Path:
    """Return a copy of the log to judge."""
    return Path(shutil.copy(answered, tmp_path / "log.jsonl"))


@pytest.fixture
def begin(start: Start) -> Start:
    """Return a function that begins to judge."""
    return lambda mock, log, *options: start(mock, "judge", str(log), *options)


def wait_for(log: Path, condition: Callable[[list[dict[str, Any]]], bool]) -> None:
    """Wait until the `batch` events of a log are as they should be."""
    end = time.monotonic() + 60
    while not condition(events_so_far(log, "batch")):
        assert time.monotonic() < end, "the batches never came that far"
        time.sleep(0.05)


def submitted(batches: list[dict[str, Any]]) -> bool:
    """Return whether each of the three judges that ask models has its first batch."""
    return [batch["status"] for batch in batches].count("in_progress") >= JUDGES


def judgments(log: Path) -> dict[tuple[str, str], Any]:
    """Return the judgments of a log without what differs between two runs."""
    return {key: event for key, event in lasting(log).items() if key[0] == "judgment"}


@pytest.fixture(scope="module")
def one_by_one(answered: Path, fork_server: ForkServer) -> dict[tuple[str, str], Any]:
    """Return the judgments that are made without batches."""
    log = Path(shutil.copy(answered, answered.with_name("one_by_one.jsonl")))
    with Mock() as mock:
        done = fork_server.run(["judge", str(log), "--quiet"], log.parent, {**os.environ, **mock.env})
        assert done.returncode == 0, done.stderr
    assert len(judgments(log)) == JUDGMENTS
    return judgments(log)


def test_batches_bring_the_judgments_that_single_calls_bring(
    log: Path, begin: Start, one_by_one: dict[tuple[str, str], Any]
) -> None:
    """A rubric, a jury, a judge of pairs that asks twice and a program: the same events at half the price."""
    with Mock() as mock:
        ended(begin(mock, log, "--batch"))
        called = mock.requests.by_path
    assert judgments(log) == one_by_one
    assert MESSAGES not in called
    assert called[CREATE] == called[RESULTS]
    batches = events_so_far(log, "batch")
    assert sorted(each["status"] for each in batches[-4:]).count("ended") >= 1
    assert sum(each["status"] == "ended" for each in batches) == called[CREATE]


@pytest.mark.parametrize("how", ["killed", "interrupted", "detached"])
def test_what_was_submitted_is_collected_by_the_next_command(
    log: Path, begin: Start, one_by_one: dict[tuple[str, str], Any], how: str
) -> None:
    """SIGKILL, Ctrl-C or --detach between submitting and fetching: no batch is made again, and no result is lost."""
    with Mock() as mock:
        mock.hold_batches()
        first = begin(mock, log, "--batch", *(["--detach"] if how == "detached" else []))
        wait_for(log, submitted)
        if how == "killed":
            first.kill()
            ended(first, -signal.SIGKILL)
        elif how == "interrupted":
            first.send_signal(signal.SIGINT)
            assert "the same command collects the results" in ended(first, 130)
        else:
            assert "left at the service: 66 requests in 3 batches" in ended(first)
        before = mock.requests.by_path[CREATE]
        if how == "detached":  # a second time there is nothing to collect yet
            assert "left at the service" in ended(begin(mock, log, "--batch", "--detach"))
        mock.release_batches()
        ended(begin(mock, log, "--batch"))
        called = mock.requests.by_path
        held = [each["requests"] for each in events_so_far(log, "batch") if each["status"] == "submitting"]
    assert before == 3
    assert judgments(log) == one_by_one
    assert len(events_so_far(log, "judgment")) == JUDGMENTS
    assert MESSAGES not in called
    assert called[CREATE] == called[RESULTS] == len(held)
    asked = [custom_id for requests in held for custom_id in requests]
    assert len(asked) == len(set(asked))


def test_a_kill_while_the_batch_is_made_makes_no_second_one(log: Path, begin: Start) -> None:
    """The mark in the log was written before, and the answer never came: the service's list has the batch."""
    with Mock() as mock:
        mock.hold_batches()
        first = begin(mock, log, "--batch")
        wait_for(log, submitted)
        first.kill()
        ended(first, -signal.SIGKILL)
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if b'"status":"in_progress"' not in line))
        before = mock.requests.by_path[CREATE]
        mock.release_batches()
        ended(begin(mock, log, "--batch"))
        called = mock.requests.by_path
        # The second question of the judge of pairs depends on the first.
        assert called[CREATE] == before + 1
    assert len(events_so_far(log, "judgment")) == JUDGMENTS
    assert MESSAGES not in called


@pytest.mark.parametrize("fault", ["expired:0.3", "errored:0.3", "canceled:0.3", "batch_cut:1", "results_cut:0.5"])
def test_faults_of_batches_cost_an_attempt_at_most(
    log: Path, begin: Start, one_by_one: dict[tuple[str, str], Any], fault: str
) -> None:
    """What a batch could not do is asked by itself, as another attempt; the judgments are the same."""
    with Mock(errors=fault, seed=5) as mock:
        ended(begin(mock, log, "--batch"))
    made = judgments(log)
    assert {key: event["scores"] for key, event in made.items()} == {
        key: event["scores"] for key, event in one_by_one.items()
    }
    again = [event for event in made.values() if event["attempts"] > 1]
    assert bool(again) == fault.endswith(":0.3")
    assert all("batch" in each["failed_attempts"][0]["message"] or "errored" in fault for each in again)


def test_a_budget_holds_at_the_price_of_batches(log: Path, begin: Start) -> None:
    """What fits at half the price is submitted; the rest is refused as by single calls."""
    lines = log.read_bytes()
    whole = b'"execution":{'
    assert whole in lines
    log.write_bytes(lines.replace(whole, whole + b'"budget_usd":0.1,', 1))
    with Mock() as mock:
        ended(begin(mock, log, "--batch"), 6)
    spent = sum(event["cost_usd"] for event in events_so_far(log, "judgment"))
    assert 0 < spent < 0.1
    assert 0 < len(events_so_far(log, "judgment")) < JUDGMENTS


def test_what_is_paid_for_is_collected_whatever_is_left_of_a_budget(log: Path, begin: Start) -> None:
    """A judge of pairs, whose second question is asked anew, waits for more; the results of all others are there."""
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log, "--batch", "--detach"))
        mock.release_batches()
        log.write_bytes(log.read_bytes().replace(b'"execution":{', b'"execution":{"budget_usd":0.0001,', 1))
        ended(begin(mock, log, "--batch"), 6)
    made = events_so_far(log, "judgment")
    assert sum(each["judge"]["name"] != "pairwise" for each in made) == 12 + 2 * 12 + 12


def test_a_batch_that_may_never_have_been_made_needs_the_budget(log: Path, begin: Start) -> None:
    """Its mark, which is all that a kill left, is no proof that anything was paid."""
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log, "--batch", "--detach"))
    lines = [line for line in log.read_bytes().splitlines(keepends=True) if b'"status":"in_progress"' not in line]
    log.write_bytes(b"".join(lines).replace(b'"execution":{', b'"execution":{"budget_usd":0.0001,', 1))
    with Mock() as another:
        ended(begin(another, log, "--batch"), 6)
        assert CREATE not in another.requests.by_path


def test_single_calls_say_that_batches_are_left(log: Path, begin: Start) -> None:
    """Who judges without --batch what is in a batch pays for it twice, and is told."""
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log, "--batch", "--detach"))
        said = ended(begin(mock, log))
    assert "in earlier batches, not collected yet, asked for again" in said


def test_a_run_says_that_batches_are_left(answered: Path, log: Path, start: Start) -> None:
    """So does who runs the config, which judges what the log lacks."""
    with Mock() as mock:
        mock.hold_batches()
        ended(start(mock, "judge", str(log), "--batch", "--detach"))
        said = ended(start(mock, "run", str(answered.with_name("eval.yaml")), "-o", str(log)))
        assert "42 judgments in earlier batches, not collected yet, asked for again" in said
        assert f"`keval judge {log} --batch` would collect them" in said


def test_a_run_that_asks_again_says_that_batches_hold_what_is_judged_again(
    answered: Path, log: Path, tmp_path: Path, start: Start
) -> None:
    """Answers that come back in the same words have judgments that are paid for; the judge, too, may be added."""
    folder = answered.parent
    judge = "{type: rubric, model: claude-sonnet-5, name: added}"
    (tmp_path / "added.yaml").write_text("name: added\ntype: rubric\nmodel: claude-sonnet-5\n")
    (tmp_path / "questions.jsonl").write_bytes((folder / "questions.jsonl").read_bytes())
    (tmp_path / "eval.yaml").write_text(
        f"{CONFIG.partition('judges:')[0]}judge: {judge}\nexecution: {{repetitions: 2}}\n"
    )
    with Mock() as mock:
        mock.hold_batches()
        ended(start(mock, "judge", str(log), "-j", "added.yaml", "--batch", "--detach"))
        said = ended(start(mock, "run", "eval.yaml", "--fresh", "-o", str(log)))
    (told,) = (line for line in said.splitlines() if "judgments in earlier batches" in line)
    assert told.endswith("would collect them (those of added with -j and its file)")


def generated(folder: Path, golden: str, repetitions: int = 1) -> Path:
    """Generate the answers to two samples, the second with this golden answer, for one judge; return the log."""
    judge = f"judge: {{type: rubric, model: claude-opus-5}}\nexecution: {{repetitions: {repetitions}}}\n"
    (folder / "eval.yaml").write_text(CONFIG.partition("judges:")[0] + judge)
    answers = {"s0": "the sea", "s1": golden}
    samples = [{"id": name, "question": "What?", "answer": answer} for name, answer in answers.items()]
    (folder / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    log = folder / "log.jsonl"
    generate(load(folder / "eval.yaml"), log, Request(quiet=True), lambda _: None)
    return log


def test_what_a_batch_holds_for_a_golden_answer_that_was_corrected_since_is_missed_by_nobody(
    tmp_path: Path, begin: Start
) -> None:
    """Nothing of it is asked again, so no warning says so; once the correction is taken back it is collected."""
    log = generated(tmp_path, "the sea")
    with Mock() as mock:
        mock.hold_batches()
        ended(begin(mock, log, "--batch", "--detach"))
        mock.release_batches()
        generated(tmp_path, "the ocean")
        ended(begin(mock, log, "--batch"))
        generated(tmp_path, "the ocean", repetitions=2)
        assert "not collected yet" not in ended(begin(mock, log))
        made = mock.requests.by_path[CREATE]
        generated(tmp_path, "the sea")
        ended(begin(mock, log, "--batch"))
        assert mock.requests.by_path[CREATE] == made
    batches = events_so_far(log, "batch")
    assert {each["id"] for each in batches if each["status"] == "ended"} == {each["id"] for each in batches}
    assert len(events_so_far(log, "judgment")) == 10


def test_what_cannot_be_batched_is_refused(log: Path, begin: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a log nothing would say what was paid for, and a mock does not outlive its command."""
    with Mock() as mock:
        assert "--batch needs LOG" in ended(begin(mock, Path("-"), "--batch"), 2)
        assert "--detach goes with --batch" in ended(begin(mock, log, "--detach"), 2)
        assert "without --mock" in ended(begin(mock, log, "--batch", "--detach", "--mock"), 2)
        cloud = log.with_name("cloud.yaml")
        cloud.write_text("type: rubric\nmodel: claude-opus-5\nprovider: bedrock\nregion: us-east-1\n")
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "not-a-key")
        assert "which provider bedrock does not have" in ended(begin(mock, log, "-j", str(cloud), "--batch"), 2)


def test_what_a_batch_could_not_do_is_tried_again_before_the_rest_is_left(log: Path, begin: Start) -> None:
    """--detach leaves nothing but batches: an item that waits for its next attempt has not failed yet."""
    log.write_bytes(log.read_bytes().replace(b'"initial_backoff_s":0,', b'"initial_backoff_s":2,'))
    with Mock(errors="expired:0.3", seed=5) as mock:
        ended(begin(mock, log, "--batch", "--detach"))
        for _ in range(3):
            ended(begin(mock, log, "--batch", "--detach"))
    assert len(events_so_far(log, "judgment")) == JUDGMENTS
    assert events_so_far(log, "failure") == []
