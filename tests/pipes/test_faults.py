"""A service on its worst day: three calls in ten fail, and an MCP server answers with five megabytes.

Every task still ends in an answer or in a failure that says what kind it is, both conditions suffer alike, and
nothing is left running.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import fisher_exact

from keval.mock import Mock
from tests.builders import ask
from tests.prompts import SERVERS
from tests.remains import left_below, of_tasks
from tests.servers.over_http import over_http

pytestmark = pytest.mark.slow

FAULTS = "429:0.08,500:0.07,529:0.06,cut:0.05,garbage:0.03,hang:0.02"
SEED = 20261120

CONFIG = """\
name: faults
version: "1"
dataset: {{path: questions.jsonl}}
agent: {agent}
mcp_servers: {servers}
conditions:
  plain: {{system_prompt: "Answer.", mcp_servers: {names}}}
  polite: {{system_prompt: "Answer politely.", mcp_servers: {names}}}
judge: {{type: rubric, model: claude-opus-5, timeout_s: 5}}
execution:
  {{repetitions: 3, max_concurrent: 8, timeout_s: 15, retry: {{max_attempts: {attempts}, initial_backoff_s: 0.1}}}}
"""

ASK = """\
import http.client, json, os, sys
asked = json.load(sys.stdin)
connection = http.client.HTTPConnection(os.environ["SERVICE"].removeprefix("http://"))
body = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": asked["question"]}]}
try:
    connection.request("POST", "/v1/messages", json.dumps(body), {"x-api-key": "any"})
    response = connection.getresponse()
    said = response.read()
except (OSError, http.client.HTTPException) as error:
    print(repr(error), file=sys.stderr)
    sys.exit(75)
if response.status != 200:
    print(response.status, file=sys.stderr)
    sys.exit(75)
print(json.loads(said)["content"][0]["text"])
"""
"""An agent that is a program and asks the service once; 75 asks to be tried again later."""


@dataclass(frozen=True)
class Day:
    """What came of one run on such a day."""

    folder: Path
    exit_code: int
    said: str
    seen: set[str]
    """Names of the processes of tasks that were met while it ran."""
    left: list[str]
    """Those that were there when it had ended."""
    outcomes: dict[str, int]
    """How the service answered."""

    @property
    def log(self) -> Path:
        return self.folder / "run.jsonl"

    def events(self, *types: str) -> list[dict[str, Any]]:
        """Return the events of some types."""
        found = (json.loads(line) for line in self.log.read_bytes().split(b"\n") if line)
        return [event for event in found if event["type"] in types]


def write(folder: Path, agent: str, attempts: int, samples: int, servers: str = "{}") -> None:
    """Write the program, the config, and a dataset of so many samples: six tasks each."""
    names = "[big]" if "big" in servers else "[]"
    config = CONFIG.format(agent=agent, servers=servers, names=names, attempts=attempts)
    (folder / "eval.yaml").write_text(config)
    (folder / "ask.py").write_text(ASK)
    (folder / "scratch").mkdir(exist_ok=True)
    questions = ({"id": f"s{number}", "question": f"what is {number}?", "answer": "7"} for number in range(samples))
    (folder / "questions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in questions))


def run(folder: Path, service: Mock) -> Day:
    """Run the config to its end and look at the processes meanwhile and afterwards."""
    env = {**os.environ, **service.env, "TMPDIR": str(folder / "scratch")}
    command = [sys.executable, "-m", "keval", "run", "eval.yaml", "-o", "run.jsonl", "-q", "-f", "json"]
    with (folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=stderr)
    seen: set[str] = set()
    while process.poll() is None:
        seen |= set(of_tasks(folder))
        time.sleep(0.5)
    said = (folder / "stderr").read_text()
    left = left_below(folder)
    return Day(folder, process.returncode, said, seen, left, dict(service.requests.by_outcome))


def check(day: Day, planned: int) -> None:
    """Check that every task and every answer has one outcome, nothing is missing, and nothing is left."""
    kinds = Counter(event["kind"] for event in day.events("failure"))
    assert day.exit_code == 1, day.said
    assert not [line for line in day.said.splitlines() if line.startswith("Traceback")]
    check_outcomes(day, planned)
    (done, not_done), (states,) = views(day.log)
    assert (done, not_done, states) == (planned, 0, planned), kinds
    assert day.left == []
    assert list((day.folder / "scratch").iterdir()) == []
    assert {"ok", "429", "500", "529", "cut", "garbage", "hang"} <= day.outcomes.keys()


def check_outcomes(day: Day, planned: int) -> None:
    """Check one line per task, and one per judging of an answer; each failure says of what kind and why."""
    tasks = [event.get("response_id") or event["id"] for event in of_stage(day, "response", "generate")]
    answers = {event["id"] for event in day.events("response")}
    judged = [event["response_id"] for event in of_stage(day, "judgment", "judge")]
    assert len(tasks) == len(set(tasks)) == planned
    assert len(judged) == len(set(judged))
    assert set(judged) == answers
    for failure in day.events("failure"):
        assert failure["kind"] in {"infra_error", "agent_error", "timeout", "judge_error"}, failure
        assert failure["message"]
        assert failure["attempts"] == len(failure["failed_attempts"]) + 1


def of_stage(day: Day, good: str, stage: str) -> list[dict[str, Any]]:
    """Return the events in which the items of a stage ended."""
    return [event for event in day.events(good, "failure") if event.get("stage", stage) == stage]


def views(log: Path) -> tuple[tuple[int, int], tuple[int]]:
    """Return how many tasks were done and not done, and how many have a score or a reason for none."""
    (tasks,) = ask(log, "select sum(completed + failed)::int as done, sum(not_done)::int as not_done from missing")
    query = "select sum(scored + agent_failed + not_measured)::int as states from condition_scores group by metric"
    (states,) = {row["states"] for row in ask(log, query)}
    return (tasks["done"], tasks["not_done"]), (states,)


def check_fairness(day: Day, stage: str) -> None:
    """Check that the conditions fail equally often, as far as chance goes (Fisher's exact test)."""
    good = {"generate": "response", "judge": "judgment"}[stage]
    ended = Counter((event["condition"], event["type"]) for event in of_stage(day, good, stage))
    table = [[ended[name, outcome] for outcome in (good, "failure")] for name in ("plain", "polite")]
    assert sum(row[1] for row in table) > 0
    assert fisher_exact(table).pvalue > 0.001, table


def test_claude_on_the_worst_day_leaves_no_task_without_an_outcome_and_no_process(tmp_path: Path) -> None:
    """30 tasks of the real CLI with five-megabyte tool results end scored or failed, in both conditions alike."""
    with over_http("big_result.py", SERVERS) as port, Mock(errors=FAULTS, seed=SEED, keep=0) as service:
        agent, big = "{type: claude, model: claude-sonnet-5, max_retries: 0}", f"http://127.0.0.1:{port}/mcp"
        write(tmp_path, agent, attempts=1, samples=5, servers=f"{{big: {{type: http, url: '{big}'}}}}")
        day = run(tmp_path, service)
    check(day, 30)
    assert day.seen, "the CLI was to be seen"
    check_fairness(day, "generate")
    check_fairness(day, "judge")
    assert day.log.stat().st_size < 15_000_000


def test_a_program_on_the_worst_day_and_then_on_a_good_one(tmp_path: Path) -> None:
    """90 tasks of a program end scored or failed by kind; the same command on a good day does what is missing."""
    agent = '{type: command, command: [python, -S, "{folder}/ask.py"], env: {SERVICE: "${ANTHROPIC_BASE_URL}"}}'
    write(tmp_path, agent, attempts=2, samples=15)
    with Mock(errors=FAULTS, seed=SEED, keep=0) as service:
        day = run(tmp_path, service)
    check(day, 90)
    check_fairness(day, "generate")
    check_fairness(day, "judge")
    with Mock(keep=0) as service:
        good = run(tmp_path, service)
    assert good.exit_code == 0, good.said
    assert len({event["id"] for event in good.events("response")}) == len(good.events("response")) == 90
    assert len({event["response_id"] for event in good.events("judgment")}) == len(good.events("judgment")) == 90
