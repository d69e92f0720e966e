"""Text from logs, configs, datasets, servers and file names that would act on a terminal or forge lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keval.ids import JsonObject
from tests import builders
from tests.builders import (
    failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    sample,
    sample_change_event,
    write_log,
)
from tests.prompts import SERVERS
from tests.suites import slow_but

RAW = ("\x1b", "\r", "\x9b", "\u202e", "\u2066", "\u2028", "\x00", "\x07", "\x7f")
HOSTILE = "a\x1b[31m\r\x9b2J\u202e\u2066\u2028\x00\x07\x7f\nFORGED: all is well"
IN_FILES = "a\x1b[31m\r\x9b2J\u202e\nFORGED"

OWN = {
    "type", "v", "time", "status", "stage", "kind", "command", "repetition", "replicate", "mock", "sha256",
    "config_sha256", "judge_id", "agent_id", "condition_id", "response_id", "sample_sha256",
    "question_id", "plan_id",
}  # fmt: skip
"""Fields whose values keval counts on to read a log at all; hashes stay what joins the events."""


def hostile(value: Any, name: str = "") -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with hostile text at the end of every text that a schema leaves free, and in its keys."""
    if name in OWN:
        return value
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, dict):
        free = name in {"conditions", "scores", "input", "mcp", "mcp_servers", "parameters", "texts", "options"}
        return {key + HOSTILE if free else key: hostile(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [hostile(item, name) for item in value]
    return value


def events() -> Iterator[JsonObject]:
    """Yield events of all kinds, hostile in every field that their schemas leave free."""
    call = {
        "type": "tool_call", "id": "c", "name": "mcp__docs__search", "server": "docs", "input": {"a": "b"},
        "result": "text", "error": False, "duration_ms": 1,
    }  # fmt: skip
    response = response_event("q1", turns=[call], sources=["s"])
    made = [
        run_event(mcp_servers={"docs": {
            "server_name": "docs", "version": "1", "tools": ["search"], "tools_sha256": None, "error": "down",
            "files": [{"name": "docs.py", "sha256": "00"}]}}),
        plan_event([response["question_id"]]),
        sample_change_event({**sample("q1"), "topic": "logs"}, "topic"),
        response,
        response_event("q1", "with_docs"),
        judgment_event(response, unverified_claims=["a claim"]),
        failure_event(response_event("q2"), "timeout"),
        retraction_event(response_event("q3")),
        {"type": f"later{HOSTILE}", "v": 1, "id": "x", "time": builders.TIME, "run_id": "r"},
    ]  # fmt: skip
    for each in made:
        yield {name: value if name == "type" else hostile(value, name) for name, value in each.items()}


def keval(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a real command."""
    return subprocess.run(
        [sys.executable, "-m", "keval", *arguments], cwd=folder, input=stdin.encode(), capture_output=True,
        check=False, timeout=120, env=os.environ | {"A_TOKEN": "not-there-at-all"},
    )  # fmt: skip


def check_is_inert(done: subprocess.CompletedProcess[bytes]) -> None:
    """Check that nothing in what was printed acts on a terminal or forges a line."""
    said = (done.stdout + done.stderr).decode()
    assert said
    assert "Traceback" not in said, said
    for character in RAW:
        assert character not in said.replace("\r\n", "\n"), (character, said)
    assert not [line for line in said.splitlines() if line.startswith("FORGED")], said


LOG_COMMANDS = [
    "report LOG",
    "report LOG -f markdown",
    "report LOG -f csv",
    "report LOG -f nosuch",
    "show LOG",
    "show LOG -f markdown",
    "show LOG nosuch",
    "list",
    "list -f jsonl",
    "report LOG -f json",
    "show LOG -f json",
    "scan LOG",
    "validate LOG",
    "retract LOG nosuch --reason x",
    "sql LOG",
    "judge LOG",
    "judge LOG --mock",
    *(f"sql LOG -f {form} QUERY:from events" for form in ("table", "csv", "jsonl")),
    *(f"sql LOG -f {form} QUERY:from {view}" for view in ("responses", "scores") for form in ("table", "csv")),
    "sql LOG QUERY:select text::int from responses",
]

IN_THE_FAST_SUITE = {"report LOG", "show LOG", "list -f jsonl", "validate LOG", "sql LOG -f csv QUERY:from events"}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Return a folder with a hostile log."""
    write_log(tmp_path / "log.jsonl", events())
    return tmp_path


def test_the_log_is_hostile_and_valid(folder: Path) -> None:
    """What the other tests feed to the commands is accepted, so that its texts are really shown."""
    done = keval(folder, "validate", "log.jsonl")
    assert done.returncode == 0, done.stderr
    assert (folder / "log.jsonl").read_bytes().count(b"FORGED") > 50


@pytest.mark.parametrize("command", slow_but(LOG_COMMANDS, IN_THE_FAST_SUITE))
def test_no_command_prints_a_logs_text_raw(folder: Path, command: str) -> None:
    """Ids, names, keys and texts of every event, unknown types included."""
    line, _, query = command.partition(" QUERY:")
    arguments = line.replace("LOG", "log.jsonl").split() + ([query] if query else [])
    check_is_inert(keval(folder, *arguments))


def test_a_retraction_says_an_id_without_acting(folder: Path) -> None:
    """The id that a prefix completes to comes out of the log."""
    done = keval(folder, "retract", "log.jsonl", builders.response_event("q1")["id"], "--reason", "x")
    assert done.returncode == 0, done.stderr
    assert b"FORGED" in done.stderr
    check_is_inert(done)


def test_findings_name_keys_without_acting(folder: Path) -> None:
    """A hostile key is told by its position."""
    token = "ghp" + "_" + "a1B2c3D4e5F6" * 3
    write_log(folder / "log.jsonl", [response_event(agent={"name": "a", "type": "b", "model": None, HOSTILE: token})])
    write_log(folder / "log.jsonl", [next(iter(events())) | {"config": {HOSTILE: {HOSTILE: token}}}])
    done = keval(folder, "scan", "log.jsonl")
    assert done.returncode == 1, done.stderr
    check_is_inert(done)


@pytest.mark.parametrize(
    "arguments",
    [
        "report LOG", "scan LOG", "validate LOG", "check CONFIG", "schemas NAME", "plugins NAME", "NAME",
        "report --NAME", "sql LOG QUERY",
        *(
            pytest.param(arguments, marks=pytest.mark.slow)
            for arguments in ("retract LOG x --reason y", "judge LOG", "aggregate LOG", "run CONFIG", "generate CONFIG")
        ),
    ],
)  # fmt: skip
def test_no_command_prints_a_files_name_raw(tmp_path: Path, arguments: str) -> None:
    """A file that is not there, and one that is not what it should be."""
    names = {"LOG": f"{IN_FILES}.jsonl", "CONFIG": f"{IN_FILES}.yaml", "NAME": IN_FILES, "--NAME": f"--{IN_FILES}"}
    words = [names.get(word, word) for word in arguments.split()]
    check_is_inert(keval(tmp_path, *words))
    if "NAME" not in arguments:
        (tmp_path / words[1]).write_text(f'{{"type": {json.dumps(HOSTILE)}, "v": 1}}\n[]\n')
        check_is_inert(keval(tmp_path, *words))


CONFIG = """\
name: hostile
dataset: {{path: questions.jsonl}}
agent: {{type: command, command: [sh, -c, "printf 'a\\\\033[31m\\\\nFORGED' >&2; exit 1"]}}
mcp_servers:
  docs: {{type: stdio, command: python, args: [{servers}/hostile_name.py]}}
conditions: {{plain: {{system_prompt: "Answer.", mcp_servers: [docs]}}}}
judge: {{type: exact_match}}
execution: {{repetitions: 1, retry: {{max_attempts: 1}}}}
"""

FROM_OUTSIDE = ("check eval.yaml", "run eval.yaml -o log.jsonl", "validate questions.jsonl")


@pytest.mark.parametrize("command", slow_but(FROM_OUTSIDE, {"validate questions.jsonl"}))
def test_what_servers_programs_and_datasets_say_is_printed_inert(tmp_path: Path, command: str) -> None:
    """A server's name and tools, a program's stderr, a sample's id."""
    (tmp_path / "eval.yaml").write_text(CONFIG.format(servers=SERVERS))
    sample = {"id": HOSTILE, "question": HOSTILE, "answer": HOSTILE}
    (tmp_path / "questions.jsonl").write_text(json.dumps(sample) + "\n")
    check_is_inert(keval(tmp_path, *command.split()))


@pytest.mark.slow
def test_bad_configs_and_datasets_are_told_inert(tmp_path: Path) -> None:
    """Their mistakes are quoted, each in a line of its own."""
    (tmp_path / "eval.yaml").write_text(json.dumps({HOSTILE: HOSTILE, "name": HOSTILE, "agent": {"type": HOSTILE}}))
    (tmp_path / "questions.jsonl").write_text(json.dumps({HOSTILE: HOSTILE, "question": 1}) + "\n" + HOSTILE + "\n")
    for name in ("eval.yaml", "questions.jsonl"):
        check_is_inert(keval(tmp_path, "validate", name))
    check_is_inert(keval(tmp_path, "check", "eval.yaml"))


def test_a_spreadsheet_finds_no_formula(tmp_path: Path) -> None:
    """Text that begins like one has an apostrophe before it; numbers stay numbers."""
    write_log(tmp_path / "log.jsonl", [response_event()])
    query = "select '=1+1' a, '\t=1' b, '@x' c, -1.5 d, 7 e, ['=1'] f, '-1' g, '=z' as \"=h\""
    done = keval(tmp_path, "sql", "log.jsonl", "-f", "csv", query)
    assert done.stdout.decode().splitlines() == [
        "a,b,c,d,e,f,g,'=h",
        '\'=1+1,\'\\t=1,\'@x,-1.5,7,"[""=1""]",\'-1,\'=z',
    ]
