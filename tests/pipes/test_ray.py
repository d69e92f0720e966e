"""`--executor ray` as a process, over a cluster of several nodes on this machine: the same log, whatever is lost."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from keval.mock import Mock
from tests.fork_server import OF_PYTHON, ForkServer
from tests.forked_command import Command
from tests.lasting_events import lasting
from tests.ray_nodes import Nodes, nodes
from tests.started_commands import starting

RUNS = int(os.environ.get("NODE_RUNS", "2"))
"""In how many runs nodes are killed; `make test-ray` kills them in more."""

NODES, MOST_KILLS = 2, 3

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

CONFIG = """\
name: cluster
version: "1"
dataset: {path: questions.jsonl}
agent: {type: messages, model: claude-opus-5}
conditions:
  plain: {system_prompt: "Answer."}
  polite: {system_prompt: "Answer politely."}
judge: {type: rubric, model: claude-opus-5}
execution:
  repetitions: 5
  max_concurrent: 8
  retry: {max_attempts: 9, initial_backoff_s: 0, backoff_multiplier: 1}
"""
SAMPLES, TASKS = 12, 120
AT_ONCE = 8

MESSAGES = "POST /v1/messages"

AGENT = """\
name: files
version: "1"
dataset: {path: questions.jsonl}
agent: {type: command, command: [python, "{folder}/agent.py"], env: {PASSWORD: "${PASSWORD}"}}
workspace: {keep: all}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
execution: {repetitions: 1, max_concurrent: 4}
"""
AGENT_CODE = """\
import os, pathlib
pathlib.Path("found.txt").write_text("kept")
print(f"the password has {len(os.environ['PASSWORD'])} letters")
"""
PASSWORD = "tok-of-the-cluster-81"  # noqa: S105 - a dummy

KEPT = ("PATH", "NO_PROXY", "no_proxy", *OF_PYTHON)
"""How variables begin that the cluster takes over."""

WITHOUT_ATTEMPTS = {"attempts", "failed_attempts", "cost_usd"}
"""What an event says of attempts that were lost."""


@pytest.fixture(scope="module")
def service() -> Iterator[Mock]:
    with Mock(latency_ms=100) as mock:
        yield mock


@pytest.fixture(scope="module")
def environment(service: Mock, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what every process of the cluster has in its environment, the command's too."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    return {**kept, "HOME": str(tmp_path_factory.mktemp("home")), "PASSWORD": PASSWORD, **service.env}


@pytest.fixture(scope="module")
def cluster(environment: dict[str, str]) -> Iterator[Nodes]:
    with nodes(NODES, environment) as found:
        yield found


Keval = Callable[..., Command]


@pytest.fixture
def begin(tmp_path: Path, environment: dict[str, str], fork_server: ForkServer) -> Iterator[Keval]:
    """Return a function that begins a command in a folder with two evaluations, and end what it began."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "files.yaml").write_text(AGENT)
    (tmp_path / "agent.py").write_text(AGENT_CODE)
    samples = [{"id": f"s{number}", "question": f"What is {number}?", "answer": "sea"} for number in range(SAMPLES)]
    (tmp_path / "questions.jsonl").write_bytes(b"\n".join(map(orjson.dumps, samples)))
    with starting(fork_server, tmp_path) as start:
        yield lambda *arguments, **env: start({**environment, **env}, *arguments)


def ended(command: Command, code: int = 0) -> tuple[str, str]:
    """Wait for a command and return what it printed."""
    printed, said = command.communicate(timeout=600)
    assert command.returncode == code, said
    return printed, said


def on(cluster: Nodes) -> list[str]:
    return ["--executor", "ray", "--address", cluster.address]


def facts(log: Path) -> dict[tuple[str, str], Any]:
    """Return the answers and judgments of a log, without what differs when an attempt was lost."""
    return {
        key: {name: value for name, value in event.items() if name not in WITHOUT_ATTEMPTS}
        for key, event in lasting(log).items()
        if key[0] in {"response", "judgment", "failure"}
    }


def wait_for_lines(log: Path, number: int) -> None:
    """Wait until a log has so many lines."""
    end = time.monotonic() + 300
    while not log.exists() or log.read_bytes().count(b"\n") < number:
        assert time.monotonic() < end, "the log does not grow"
        time.sleep(0.05)


@pytest.mark.parametrize("seed", range(RUNS))
def test_nodes_that_are_killed_lose_nothing(
    begin: Keval, cluster: Nodes, service: Mock, tmp_path: Path, seed: int
) -> None:
    """Any node, at any moment: what was in flight is asked for once more, and the log is that of one process."""
    drawn = random.Random(seed)  # noqa: S311 - moments to kill at
    kills = drawn.randint(1, MOST_KILLS)
    ended(begin("run", "eval.yaml", "-o", "here.jsonl"))
    before = service.requests.by_path.get(MESSAGES, 0)
    running = begin("run", "eval.yaml", "-o", "there.jsonl", *on(cluster))
    for lines in sorted(drawn.choices(range(2 * TASKS), k=kills)):
        wait_for_lines(tmp_path / "there.jsonl", lines)
        cluster.add()
        cluster.kill(drawn.randrange(NODES))
    printed, _ = ended(running)
    assert printed.startswith("keval report: cluster")
    assert facts(tmp_path / "there.jsonl") == facts(tmp_path / "here.jsonl")
    assert len(facts(tmp_path / "there.jsonl")) == 2 * TASKS
    asked = service.requests.by_path.get(MESSAGES, 0) - before
    counted = sum(each["attempts"] for each in lasting(tmp_path / "there.jsonl").values() if "attempts" in each)
    # A worker has half of the answers and half of the judgments in flight.
    assert 2 * TASKS <= asked <= counted <= 2 * TASKS + kills * AT_ONCE


def test_one_process_ray_shards_and_batches_make_the_same_log(begin: Keval, cluster: Nodes, tmp_path: Path) -> None:
    """Who does the work is in no answer and no judgment."""
    few = ("--limit", "4")
    ended(begin("run", "eval.yaml", "-o", "process.jsonl", *few))
    ended(begin("run", "eval.yaml", "-o", "ray.jsonl", *few, *on(cluster)))
    shards = [f"shard-{part}.jsonl" for part in (1, 2)]
    for running in [begin("run", "eval.yaml", "-o", log, *few, "--shard", log[6] + "/2") for log in shards]:
        ended(running)
    (tmp_path / "shards.jsonl").write_bytes(b"".join((tmp_path / log).read_bytes() for log in shards))
    ended(begin("generate", "eval.yaml", "-o", "batch.jsonl", *few, "--batch"))
    ended(begin("judge", "batch.jsonl", "--batch"))
    made = [facts(tmp_path / f"{way}.jsonl") for way in ("process", "ray", "shards", "batch")]
    assert len(made[0]) == 2 * TASKS * 4 // SAMPLES
    assert made == [made[0]] * 4


def test_a_command_that_is_killed_is_resumed_on_the_cluster(
    begin: Keval, cluster: Nodes, service: Mock, tmp_path: Path
) -> None:
    """Loss of the driver is a resume, and `judge` finds its judges in the log."""
    log = tmp_path / "log.jsonl"
    before = service.requests.by_path.get(MESSAGES, 0)
    first = begin("generate", "eval.yaml", "-o", log.name, *on(cluster))
    wait_for_lines(log, TASKS // 2)
    first.kill()
    ended(first, -signal.SIGKILL)
    ended(begin("generate", "eval.yaml", "-o", log.name, *on(cluster)))
    ended(begin("judge", log.name, *on(cluster)))
    assert len(facts(log)) == 2 * TASKS
    assert service.requests.by_path.get(MESSAGES, 0) - before <= 2 * TASKS + AT_ONCE


def test_files_travel_and_come_back(begin: Keval, cluster: Nodes, tmp_path: Path) -> None:
    """The agent's program reaches the workers and its folder comes back; its password is in no file that Ray wrote."""
    ended(begin("run", "files.yaml", "-o", "here.jsonl"), 0)
    ended(begin("run", "files.yaml", "-o", "there.jsonl", *on(cluster)), 0)
    log = tmp_path / "there.jsonl"
    answers = [each for line in log.read_bytes().splitlines() if (each := orjson.loads(line))["type"] == "response"]
    assert {each["text"] for each in answers} == {f"the password has {len(PASSWORD)} letters"}
    assert len(answers) == SAMPLES
    assert all((tmp_path / each["workspace"] / "found.txt").read_text() == "kept" for each in answers)
    written = {path: path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file()}
    assert any(AGENT_CODE.encode() in content for content in written.values())
    assert not [path for path, content in written.items() if PASSWORD.encode() in content]


def test_a_worker_with_another_secret_is_refused(begin: Keval, cluster: Nodes, tmp_path: Path) -> None:
    """A value that the command does not know could not be taken out of the log."""
    _, said = ended(begin("run", "files.yaml", "-o", "log.jsonl", *on(cluster), PASSWORD="another-password-81"), 4)  # noqa: S106 - a dummy
    assert "not the same there as here: secret PASSWORD" in said
    assert not (tmp_path / "log.jsonl").exists() or b'"response"' not in (tmp_path / "log.jsonl").read_bytes()


def test_a_cluster_with_a_token_takes_who_knows_it(begin: Keval, environment: dict[str, str]) -> None:
    """Ray sends a token only when it is told to; a command that was not told says what to set."""
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef" * 4}
    with nodes(1, {**environment, **token}) as guarded:
        refused = begin("generate", "eval.yaml", "--limit", "1", "-o", "log.jsonl", *on(guarded))
        ended(begin("generate", "eval.yaml", "--limit", "1", "-o", "other.jsonl", *on(guarded), **token))
        _, said = ended(refused, 4)
    assert "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN" in said
