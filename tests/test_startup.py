"""What each command loads: a command starts fast because it imports no library that it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import judgment_event, response_event, run_event, write_log

WATCHED = (
    "anthropic",
    "asyncio",
    "claude_agent_sdk",
    "duckdb",
    "httpx2",
    "importlib.metadata",
    "jsonschema",
    "jsonschema_rs",
    "matplotlib",
    "mcp",
    "numpy",
    "orjson",
    "psutil",
    "rich",
    "ruamel.yaml",
    "scipy",
    "starlette",
    "uvicorn",
)
"""Modules that take longer to load than a small command may take."""

CHECKING = {"jsonschema_rs", "orjson"}
"""What those need who read a log."""

ASKING = CHECKING | {"duckdb", "importlib.metadata", "psutil"}
"""What those need who ask a log in SQL; DuckDB loads `importlib.metadata`."""

GENERATING = CHECKING | {"asyncio", "importlib.metadata", "psutil", "ruamel.yaml"}
"""What those need who do the work of a config."""

LOADED = {
    "--help": set[str](),
    "--version": set[str](),
    "schemas event": {"orjson"},
    "validate run.jsonl": CHECKING,
    "scan run.jsonl": CHECKING,
    "report run.jsonl -f json": ASKING,
    "report run.jsonl -f text": ASKING | {"rich"},
    "aggregate run.jsonl": ASKING,
    "plot --help": {"importlib.metadata", "orjson"},
    "gate run.jsonl --rule missing<=100%": ASKING | {"ruamel.yaml"},
    "plan --difference 1 --var-samples 1 --var-responses 1": ASKING | {"numpy", "scipy"},
    "sql run.jsonl --print-views": ASKING,
    'sql run.jsonl FROM"runs"': ASKING,
    "generate eval.yaml -o new.jsonl -q": GENERATING,
}
"""Which of them a command may load."""

CONFIG = """\
name: small
version: "1"
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: "Answer."}}
judge: {type: exact_match}
"""

SCRIPT = """\
import sys
from keval.cli import run
code = run(sys.argv[1:])
print(*(name for name in {watched} if name in sys.modules), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", LOADED)
def test_a_command_loads_no_library_that_it_does_not_use(command: str, tmp_path: Path) -> None:
    """Of the modules that are slow to load a command loads those that it may, and no other."""
    response = response_event()
    write_log(tmp_path / "run.jsonl", [run_event(), response, judgment_event(response)])
    (tmp_path / "eval.yaml").write_text(CONFIG)
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "question": "Why?", "answer": "Because."}\n')
    call = [sys.executable, "-c", SCRIPT.format(watched=WATCHED), *command.split()]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()) & set(WATCHED)
    assert loaded <= LOADED[command]
