"""Imports flow one way, and asking for help costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "keval"

LAYERS = (
    ("errors", "ids", "printable", "secret_lengths"),
    ("encodings", "json_values"),
    ("secrets",),
    ("excerpts", "messages"),
    ("schema", "plugins", "terminal"),
    ("strict_json",),
    ("events",),
    (
        "stream",
        "outputs",
        "lease",
        "progress",
        "interrupt",
        "environment",
        "processes",
        "servers",
        "document",
        "budget",
        "secret_scan",
        "machine",
        "temporary",
        "orphans",
    ),
    ("redaction", "secret_checks", "log", "history", "collect", "agents", "datasets"),
    ("fields", "prices"),
    ("llm", "rubrics"),
    ("judges", "mock"),
    ("config",),
    ("config_file",),
    ("run", "tasks"),
    ("stage",),
    ("generate", "judge"),
    ("prepare",),
    ("estimate",),
    ("memory",),
    ("projections",),
    ("stats", "tool_use"),
    ("readings", "report"),
    ("cautions", "exports"),
    ("compose",),
    ("options",),
    ("commands",),
    ("cli",),
)
"""From the bottom up: a room may import its own row's rooms and those of the rows above it in this list."""

HEAVY = (
    "anthropic",
    "claude_agent_sdk",
    "duckdb",
    "mcp",
    "scipy",
    "numpy",
    "rich",
    "jsonschema",
    "uvicorn",
    "starlette",
)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} if node.module != "keval" else {f"keval.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {_room(name) for name in found if name.startswith("keval.")}


def _sources() -> list[Path]:
    doors = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
    return sorted(set(PACKAGE.rglob("*.py")) - doors)


@pytest.mark.parametrize("path", _sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_flow_one_way(path: Path) -> None:
    """A file imports only rooms of its own layer or of a layer below it."""
    level = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
    own = _room("keval." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    assert own in level, f"{own} has no place in LAYERS"
    upward = {room for room in _imports(path) if level[room] > level[own]}
    assert not upward


def test_the_mock_knows_no_secrets() -> None:
    """A stand-in for a foreign service has nothing of what this process knows of secrets."""
    assert not {room for path in (PACKAGE / "mock").glob("*.py") for room in _imports(path)} & {"secrets", "excerpts"}


def test_help_imports_no_sdk_and_no_duckdb() -> None:
    """`keval --help` loads none of the heavy libraries."""
    script = (
        "import sys\nfrom keval.cli import root\n"
        "try:\n    root.main(['--help'], standalone_mode=False)\nexcept SystemExit:\n    pass\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_folders_are_one_level_deep() -> None:
    """No folder of the package holds another folder with code."""
    assert {len(path.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("*.py")} <= {1, 2}


def test_only_one_place_prints_errors_and_exits() -> None:
    """`sys.exit` stands in cli.py alone, and `print` in progress.py alone."""
    allowed = {"exit": {"cli.py", "__main__.py"}, "print": {"progress.py"}}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                owner = getattr(getattr(node.func, "value", None), "id", None)
                if name == "print" and owner is None:
                    assert path.name in allowed["print"], f"{path}:{node.lineno}"
                if name == "exit" and owner == "sys":
                    assert path.name in allowed["exit"], f"{path}:{node.lineno}"


def test_every_test_states_its_property() -> None:
    """Each test function has a docstring: the sentence that it proves."""
    silent = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert not silent
