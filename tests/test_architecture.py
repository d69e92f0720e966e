"""Imports flow one way, and asking for help costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "keval"

LAYERS = (
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
"""The package from the bottom up: a folder, or a file at the top, imports only from lower layers."""

TESTED_ELSEWHERE: dict[str, tuple[str, set[str]]] = {
    "contracts/test_agents.py": ("what every agent gives and takes", {"agents"}),
    "golden/test_golden.py": (
        "a command parses, calls and prints",
        {"commands.aggregate", "commands.plugins", "commands.schemas", "commands.validate"},
    ),
    "pipes/test_broken_servers.py": (
        "it takes real servers to find fault with",
        {"commands.check", "execution.config_check"},
    ),
    "pipes/test_files_kept.py": ("what matters is which file it writes", {"commands.report"}),
    "pipes/test_hostile_text.py": ("what matters is what a terminal gets", {"commands.messages"}),
    "pipes/test_identity.py": ("a real log says what counts in it", {"execution.current_responses"}),
    "pipes/test_orphans.py": ("a process has orphans, and tests of one worker share theirs", {"processes.orphans"}),
    "pipes/test_pipes.py": (
        "they work together, as processes",
        {"commands.generate", "commands.judge", "commands.options", "commands.run"},
    ),
    "pipes/test_streams.py": ("only a process of its own can lose its streams", {"logs.standard_streams"}),
    "unit/agents/test_claude.py": (
        "what an option or a server comes to, a real CLI has to show",
        {"agents._claude_options", "agents._claude_watch"},
    ),
    "unit/commands/test_sql.py": ("it guards what a user may type", {"projections.read_only"}),
    "unit/commands/test_retract.py": (
        "a retraction is what the command appends",
        {"execution.appending", "logs.retraction"},
    ),
    "unit/datasets/test_datasets.py": (
        "the same records in every format",
        {"datasets.csv", "datasets.json", "datasets.jsonl", "datasets.parquet"},
    ),
    "properties/test_lifecycle.py": (
        "a session is right if the log is, whatever happens to it",
        {"execution.config_session", "execution.judge_session", "execution.session"},
    ),
    "properties/test_specs.py": ("what they hold comes back from another process", {"execution.specs"}),
    "unit/execution/test_generation.py": (
        "an agent is asked by the stage, whatever it does",
        {"execution.answering", "execution.plugin_errors"},
    ),
    "unit/execution/test_judging.py": ("a judge is asked by the stage", {"execution.scoring"}),
    "unit/execution/test_preparation.py": (
        "a config is read, its servers are asked, and that is written down",
        {"execution.identification", "execution.run_events"},
    ),
    "unit/execution/test_stage.py": ("each item has its event", {"execution.recording"}),
    "unit/exports/test_exports.py": (
        "one report in every format",
        {"exports._layout", "exports._words", "exports.csv", "exports.json", "exports.markdown", "exports.text"},
    ),
    "unit/logs/test_secret_scan.py": ("it prints what the scanner finds", {"commands.scan"}),
    "unit/logs/test_writer.py": ("a log is one file, or two when it is lost", {"logs.appended_file"}),
    "unit/mock/test_mock.py": (
        "to its clients it is one service",
        {"mock.api", "mock.journal", "mock.server", "mock.wire"},
    ),
    "unit/mock/test_stand_in.py": ("one stand-in reads, answers and judges", {"mock.conversation", "mock.judging"}),
    "unit/reports/test_builder.py": (
        "a warning is part of the report of a log",
        {"reports.model", "reports.queries", "reports.warnings"},
    ),
}
"""Modules whose tests stand in another file than the one that is named after them: in which, why, and which modules."""

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


def _folder(module: str) -> str:
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


def _folders() -> dict[str, set[str]]:
    """Return each folder with the other folders that its files import."""
    folders: dict[str, set[str]] = {}
    for name, path in _files().items():
        own = _folder(name)
        folders.setdefault(own, set()).update(_folder(imported) for imported in _imports(path))
    return {folder: on - {folder, ""} for folder, on in folders.items() if folder}


def _own_tests(name: str, path: Path) -> Path:
    """Return the file named after a module: of `keval/<folder>/<file>.py` it is `unit/<folder>/test_<file>.py`."""
    stem = name.rpartition(".")[2].removeprefix("_")
    return TESTS / "unit" / path.relative_to(PACKAGE).parent / f"test_{stem}.py"


def _does_something(path: Path) -> bool:
    """Return whether a file has a function; docstrings, constants and plain records need no test of their own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def test_every_module_has_its_tests() -> None:
    """They stand in the file that is named after it, or in one that is listed with the reason; never both."""
    files = _files()
    elsewhere = [f"keval.{module}" for _, modules in TESTED_ELSEWHERE.values() for module in modules]
    without = [name for name, path in files.items() if _does_something(path) and not _own_tests(name, path).exists()]
    assert sorted(elsewhere) == without
    assert [file for file in TESTED_ELSEWHERE if not (TESTS / file).is_file()] == []


def test_every_file_of_tests_is_named_after_a_module() -> None:
    """A module that is moved takes its tests with it."""
    named = {_own_tests(name, path) for name, path in _files().items()}
    assert set((TESTS / "unit").rglob("test_*.py")) - named == set()


def test_each_folder_imports_from_lower_layers_only() -> None:
    """Every folder is in the list, and imports only folders of layers below its own."""
    layer = {folder: number for number, folders in enumerate(LAYERS, start=1) for folder in folders}
    folders = _folders()
    for number, names in reversed(list(enumerate(LAYERS, start=1))):
        print(number, " ".join(names))  # noqa: T201 - `pytest -s` shows the layers
    assert set(folders) == set(layer)
    assert not {
        folder: wrong for folder, on in folders.items() if (wrong := {o for o in on if layer[o] >= layer[folder]})
    }


def test_each_folder_is_in_the_lowest_layer_possible() -> None:
    """The list has no more layers than the imports need: a folder is right above the highest that it imports."""
    layer = {folder: number for number, folders in enumerate(LAYERS, start=1) for folder in folders}
    assert {folder: 1 + max((layer[other] for other in on), default=0) for folder, on in _folders().items()} == layer


def test_no_files_import_each_other_in_a_circle() -> None:
    """Files import each other in no circle, not within a folder either; a circle is named by the error."""
    order = TopologicalSorter({name: _imports(path) - {name} for name, path in _files().items()})
    assert set(order.static_order()) >= set(_files())


def test_the_mock_knows_no_secrets() -> None:
    """A stand-in for a foreign service has nothing of what this process knows of secrets."""
    assert not {folder for path in (PACKAGE / "mock").glob("*.py") for folder in map(_folder, _imports(path))} & {
        "secrets"
    }


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


def test_commands_parse_call_and_print() -> None:
    """No command holds a coroutine or a loop over the lines of a log: these stand below, where others can use them."""
    readers = {"Reader", "opened", "read", "reader", "read_live", "standard_input"}
    wrong = {
        path.name
        for path in sorted((PACKAGE / "commands").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AsyncFunctionDef)
        or (isinstance(node, ast.Import) and "asyncio" in {name.name for name in node.names})
        or (isinstance(node, ast.ImportFrom) and node.module == "asyncio")
        or (isinstance(node, ast.For | ast.comprehension) and _names(node.iter) & readers)
    }
    assert not wrong


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


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
