"""Imports flow one way, and asking for help costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "keval"

FLOORS = (
    ("errors", "failure_kinds", "ids", "printable", "retry", "usage"),
    ("plugins", "processes", "secrets"),
    ("schema", "models", "agents", "mock", "projections"),
    ("documents", "stats"),
    ("events", "datasets", "judges", "reports"),
    ("logs", "config", "exports"),
    ("execution",),
    ("commands",),
    ("cli",),
)
"""The house from the bottom up: a room, which is a folder or a file at the top, stands on rooms of lower floors."""

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


def _name(path: Path) -> str:
    """Return how a file is imported; a folder's `__init__.py` as the folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _files() -> dict[str, Path]:
    return {_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py"}


def _imports(path: Path) -> set[str]:
    """Return the modules of keval that a file imports, those imported in functions or for types too."""
    files = _files()
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "keval":
            within = {f"{node.module}.{name.name}" for name in node.names}
            found |= {name if name in files else str(node.module) for name in within}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] == "keval"}
    return found


def _rooms() -> dict[str, set[str]]:
    """Return each room with the other rooms that its files import."""
    rooms: dict[str, set[str]] = {}
    for name, path in _files().items():
        own = _room(name)
        rooms.setdefault(own, set()).update(_room(imported) for imported in _imports(path))
    return {room: on - {room, ""} for room, on in rooms.items() if room}


def test_each_room_stands_on_lower_floors() -> None:
    """Every room has its place in the list, and imports only rooms of floors below its own."""
    floor = {room: number for number, rooms in enumerate(FLOORS, start=1) for room in rooms}
    rooms = _rooms()
    for number, names in reversed(list(enumerate(FLOORS, start=1))):
        print(number, " ".join(names))  # noqa: T201 - `pytest -s` shows the house
    assert set(rooms) == set(floor)
    assert not {room: wrong for room, on in rooms.items() if (wrong := {o for o in on if floor[o] >= floor[room]})}


def test_each_room_stands_as_low_as_it_can() -> None:
    """The list has no more floors than the imports need: a room stands right above the highest that it imports."""
    floor = {room: number for number, rooms in enumerate(FLOORS, start=1) for room in rooms}
    assert {room: 1 + max((floor[other] for other in on), default=0) for room, on in _rooms().items()} == floor


def test_no_files_import_each_other_in_a_circle() -> None:
    """Files import each other in no circle, inside a room neither; a circle is named by the error."""
    order = TopologicalSorter({name: _imports(path) - {name} for name, path in _files().items()})
    assert set(order.static_order()) >= set(_files())


def test_the_mock_knows_no_secrets() -> None:
    """A stand-in for a foreign service has nothing of what this process knows of secrets."""
    assert not {room for path in (PACKAGE / "mock").glob("*.py") for room in map(_room, _imports(path))} & {"secrets"}


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
