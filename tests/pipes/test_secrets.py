"""Secrets in every place where a config can have one, and in every place where they come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from urllib.parse import quote

import pytest

from tests.prompts import SERVERS
from tests.servers.over_http import over_http
from tests.servers.scripted_api import Refuse, Say, ScriptedApi, call, text

SECRETS = {
    "IN_ENV": 's3cr3t in "env"/ä\\+ ',
    "IN_HEADER": "s3cr3t-in-a-header",
    "IN_URL": "s3cr3t in a url",
    "IN_PROMPT": "s3cr3t-in-a-prompt",
    "ANTHROPIC_API_KEY": "s3cr3t-key-of-the-agent",
}
LITERAL = {"an env value": "s3cr3t-literal-in-env", "a header": "s3cr3t-literal-in-a-header"}

CONFIG = """\
name: secrets
dataset: {{path: questions.jsonl}}
agent: {agent}
mcp_servers:
  local:
    type: stdio
    command: python
    args: [{servers}/tells.py]
    env: {{TOLD: "${{IN_ENV}}", API_TOKEN: s3cr3t-literal-in-env}}
  remote:
    type: http
    url: "http://127.0.0.1:{port}/mcp?key=${{IN_URL}}"
    headers: {{X-Other: "Bearer ${{IN_HEADER}}", Authorization: "Bearer s3cr3t-literal-in-a-header"}}
conditions:
  told: {{system_prompt: "It is ${{IN_PROMPT}}.", mcp_servers: [local, remote]}}
  refused: {{system_prompt: "You are refused.", mcp_servers: [local]}}
judge: {{type: rubric, model: claude-opus-5}}
execution: {{repetitions: 1, retry: {{max_attempts: 2, initial_backoff_s: 0}}}}
"""
CLAUDE = "{type: claude, model: claude-sonnet-5, max_retries: 0}"
PROGRAM = """
  type: command
  command: [sh, -c, "echo it is $TOLD $API_TOKEN >&2; exit 1"]
  env: {TOLD: "${IN_ENV}", API_TOKEN: s3cr3t-literal-in-env}"""
BUG = '{type: bug, url: "http://127.0.0.1/?key=${IN_URL}"}'

BUGGY_AGENT = '''\
"""An agent with a bug."""

from dataclasses import dataclass, field

from keval.agents import Agent
from keval.plugins import option


@dataclass(frozen=True, kw_only=True)
class Bug(Agent):
    """An agent with a bug."""

    url: str = field(metadata=option("an address"))

    @property
    def secret_names(self):
        raise RuntimeError(f"cannot reach {self.url}")

    async def answer(self, prompt):
        raise AssertionError
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a dataset."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "question": "What is it?", "answer": "a golden answer"}\n')
    return tmp_path


def gossip(_number: int, body: dict[str, Any]) -> Say | Refuse:
    """Call each server well and badly, then repeat all that they said; refuse one condition with the key's value."""
    asked = json.dumps(body)
    if "You are refused" in asked:
        return Refuse(400, "invalid_request_error", message=f"not with {' '.join(SECRETS.values())}")
    blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
    results = [block for block in blocks if block["type"] == "tool_result"]
    calls = [("local", "x"), ("local", "fail"), ("remote", "x"), ("remote", "fail")]
    if body.get("tools") and len(results) < len(calls):
        server, query = calls[len(results)]
        return call(f"mcp__{server}__search", query)
    if not body.get("tools"):
        return Refuse(400, "invalid_request_error", message=f"no judging with {asked}")
    return text(json.dumps(results, ensure_ascii=False), " ".join(SECRETS.values()))


def keval(folder: Path, env: dict[str, str], *arguments: str) -> CompletedProcess[bytes]:
    """Run a real command with the secrets in its environment."""
    command = [sys.executable, "-m", "keval", *arguments]
    whole = {**os.environ, **env, **SECRETS, "PYTHONPATH": str(folder / "plugins")}
    return subprocess.run(command, cwd=folder, env=whole, capture_output=True, check=False, timeout=120)


def check_is_hidden(outputs: dict[str, bytes]) -> None:
    """Check that no secret stands in any output, in any spelling."""
    for name, value in {**SECRETS, **LITERAL}.items():
        for form in {value, value.strip(), json.dumps(value)[1:-1], quote(value), quote(value, safe="")}:
            for output, content in outputs.items():
                found = content.find(form.encode())
                assert found < 0, f"{name} is in {output}: {content[max(found - 200, 0) : found + 100]!r}"


def outputs_of(folder: Path, *ran: CompletedProcess[bytes]) -> dict[str, bytes]:
    """Return all that commands said and wrote."""
    said = {f"{stream} of {each.args[3:]}": getattr(each, stream) for each in ran for stream in ("stdout", "stderr")}
    return said | {path.name: path.read_bytes() for path in folder.glob("log.jsonl*")}


@pytest.mark.slow
def test_secrets_that_come_back_from_everywhere_are_in_no_byte_of_any_output(folder: Path) -> None:
    """From env, headers, URL, prompt and key to tool results, errors, answers and judgments: only names are left."""
    told = f"{SECRETS['IN_HEADER']} {SECRETS['IN_URL']} {quote(SECRETS['IN_URL'])} {LITERAL['a header']}"
    with over_http("tells.py", folder, TOLD=told) as port, ScriptedApi(gossip) as api:
        (folder / "eval.yaml").write_text(CONFIG.format(agent=CLAUDE, servers=SERVERS, port=port))
        run = [keval(folder, api.env, "run", "eval.yaml", "-o", "log.jsonl")]
    log = folder / "log.jsonl"
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    (answer,) = [event for event in events if event["type"] == "response"]
    assert {(event["type"], event.get("kind")) for event in events} == {
        ("run", None), ("plan", None), ("response", None), ("failure", "infra_error"), ("failure", "judge_error")
    }, run[0].stderr.decode()  # fmt: skip
    assert [turn["error"] for turn in answer["turns"] if turn["type"] == "tool_call"] == [False, True, False, True]
    for name in (*SECRETS, "API_TOKEN", "Authorization"):
        assert f"${{{name}}}" in answer["text"], name
    os.truncate(log, log.stat().st_size - 20)
    run.append(keval(folder, {}, "retract", "log.jsonl", answer["id"], "--reason", "a torn line is set aside"))
    assert (folder / "log.jsonl.torn").exists()
    # The log itself is searched below: whatever reads only that has nothing else to show.
    read = [keval(folder, {}, command, "log.jsonl") for command in ("report", "validate", "scan")]
    assert [each.returncode for each in read] == [0] * len(read), [each.stderr for each in read]
    check_is_hidden(outputs_of(folder, *run, *read))


@pytest.mark.slow
def test_secrets_are_not_in_what_a_failed_program_or_an_unreachable_server_said(folder: Path) -> None:
    """The end of a program's stderr, and the address of a server that is not there."""
    (folder / "eval.yaml").write_text(CONFIG.format(agent=PROGRAM, servers=SERVERS, port=9))
    ran = keval(folder, {}, "run", "eval.yaml", "-o", "log.jsonl", "--mock")
    assert ran.returncode == 1, ran.stderr
    events = [json.loads(line) for line in (folder / "log.jsonl").read_bytes().splitlines()]
    told = {event["message"] for event in events if event["type"] == "failure"}
    assert told == {"exit status 1; stderr ends: it is ${IN_ENV}${API_TOKEN}"}
    check_is_hidden(outputs_of(folder, ran, keval(folder, {}, "check", "eval.yaml")))


def test_secrets_are_not_in_a_traceback(folder: Path) -> None:
    """A plug-in's bug is shown with its traceback, in which the value has its name."""
    package = folder / "plugins" / "bug-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: bug\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[keval.agents]\nbug = buggy_agent\n")
    (folder / "plugins" / "buggy_agent.py").write_text(BUGGY_AGENT)
    (folder / "eval.yaml").write_text(CONFIG.format(agent=BUG, servers=SERVERS, port=9))
    ran = keval(folder, {}, "run", "eval.yaml", "-o", "log.jsonl")
    assert ran.returncode == 70, ran.stderr
    assert b"Traceback" in ran.stderr
    assert b"cannot reach http://127.0.0.1/?key=${IN_URL}" in ran.stderr
    check_is_hidden(outputs_of(folder, ran))
