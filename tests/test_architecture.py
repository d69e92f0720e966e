"""Imports flow one way, and asking for help costs nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("architecture")  # one process reads each file once, for all tests

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "keval"

LAYERS = (
    (
        "counted",
        "errors",
        "failure_kinds",
        "ids",
        "json_text",
        "metric_names",
        "passing",
        "nearest",
        "printable",
        "questions",
        "readable",
        "tool_names",
        "usage",
    ),
    ("plugins", "processes", "retry", "sampling", "secrets"),
    ("schema", "models", "projections"),
    ("mock", "documents", "stats"),
    ("agents", "events", "datasets", "judges", "origins", "reports"),
    ("compare", "config", "formats", "logs", "planning", "transcripts"),
    ("gate", "labels", "preparation", "scheduling"),
    ("executors", "exports", "imports"),
    ("execution", "plots", "starters"),
    ("viewer",),
    ("commands",),
    ("cli",),
)
"""The package from the bottom up: a folder, or a file at the top, imports only from lower layers."""

SKIP = "  # fmt: skip\n"
"""What keeps a layout from the formatter."""

TESTED_ELSEWHERE: dict[str, tuple[str, set[str]]] = {
    "contracts/test_agents.py": ("what every agent gives and takes", {"agents"}),
    "contracts/test_formats.py": ("what every format writes", {"formats"}),
    "golden/test_golden.py": (
        "a command parses, calls and prints",
        {
            "commands.aggregate",
            "commands.agreement",
            "commands.compare",
            "commands.list",
            "commands.plugins",
            "commands.schemas",
            "commands.show",
        },
    ),
    "pipes/test_ray.py": (
        "what is lost with a node is seen where there are nodes",
        {"executors.ray_executor"},
    ),
    "pipes/test_batches.py": (
        "batches are right if the log is, whatever becomes of the command",
        {"execution.batch_session", "executors.batch_executor"},
    ),
    "pipes/test_files_kept.py": ("what matters is which file it writes", {"commands.report"}),
    "pipes/test_hostile_text.py": ("what matters is what a terminal gets", {"commands.messages"}),
    "pipes/test_pipes.py": (
        "they work together, as processes",
        {"commands.generate", "commands.judge", "commands.run", "execution.judge_pipe"},
    ),
    "pipes/test_orphans.py": ("only real processes can be left running", {"execution.leftovers"}),
    "pipes/test_push.py": ("what matters is what is there afterwards", {"commands.push", "logs.s3"}),
    "pipes/test_streams.py": ("only a process of its own can lose its streams", {"logs.standard_streams"}),
    "unit/agents/test_adapter.py": ("what an agent says is read right if its answer is", {"agents._adapter_events"}),
    "unit/agents/test_messages.py": (
        "a conversation with its servers is right if its record is",
        {"agents._mcp_connections", "agents._messages_conversation"},
    ),
    "unit/agents/test_claude.py": (
        "what an option or a server comes to, a real CLI has to show",
        {"agents._claude_options", "agents._claude_watch"},
    ),
    "unit/commands/test_sql.py": ("it guards what a user may type", {"projections.read_only"}),
    "unit/commands/test_retract.py": (
        "a retraction is what the command appends",
        {"execution.appending", "logs.retraction"},
    ),
    "unit/labels/test_filled_sheet.py": (
        "what lines of a sheet say is read there",
        {"labels.entry_form", "labels.sheet_lines"},
    ),
    "unit/datasets/test_datasets.py": (
        "the same records in every format",
        {"datasets._layout", "datasets.csv", "datasets.json", "datasets.jsonl", "datasets.parquet", "datasets.tsv"},
    ),
    "properties/test_lifecycle.py": (
        "a session is right if the log is, whatever happens to it",
        {"execution.config_session", "execution.config_work", "execution.judge_session", "execution.session"},
    ),
    "properties/test_specs.py": ("what they hold comes back from another process", {"retry"}),
    "unit/exports/test_html.py": (
        "the layout of a page is right if the page is",
        {"exports._page", "exports._templates"},
    ),
    "unit/documents/test_event_types.py": (
        "a type and what it leaves open are one definition",
        {"documents.event_checks"},
    ),
    "unit/executors/test_batching.py": (
        "what a service is told of batches shows in what comes back",
        {"mock.batches"},
    ),
    "unit/execution/test_generation.py": (
        "an agent is asked by the stage, whatever it does",
        {"executors.plugin_errors"},
    ),
    "unit/preparation/test_chosen.py": (
        "what is left, and what is said of it, a command shows that has a choice",
        {"execution.remaining", "preparation.request"},
    ),
    "unit/execution/test_config_check.py": (
        "they are told before a run",
        {"preparation.config_doubts", "preparation.keys"},
    ),
    "unit/execution/test_judging.py": (
        "a judge is asked by the stage",
        {"executors.executor", "executors.judge_calls"},
    ),
    "unit/execution/test_labelling.py": (
        "a sheet and a terminal come to labels",
        {"commands.calibrate"},
    ),
    "unit/execution/test_references.py": (
        "references are right if the command names those that are not",
        {"commands.validate_refs", "reports.references"},
    ),
    "unit/execution/test_stopping.py": (
        "a run stops where it should, or begins not at all",
        {
            "config.until_section",
            "executors.config_executor",
            "execution.finished_samples",
            "execution.sample_feed",
            "preparation.stopping_family",
        },
    ),
    "unit/preparation/test_prepared.py": (
        "a config is read, its servers are asked, and that is written down",
        {"execution.identification", "preparation.bare_run", "preparation.readiness", "preparation.run_events"},
    ),
    "unit/execution/test_stage.py": ("each item has its event", {"execution.recording"}),
    "unit/exports/test_exports.py": (
        "one report in every format",
        {
            "exports._comparison",
            "exports._fitting",
            "exports._layout",
            "exports._scores",
            "exports._side_by_side",
            "exports._source",
            "exports.csv",
            "exports.json",
            "exports.markdown",
            "exports.text",
        },
    ),
    "unit/judges/test_code_execution.py": (
        "code is shut in where it is tested",
        {"judges._code_isolation", "judges._code_proxy", "judges._code_tester"},
    ),
    "unit/plots/test_strips.py": (
        "what a plot of strips shows is what the page does",
        {"plots.captions", "plots.forest", "plots.paired"},
    ),
    "unit/logs/test_secret_scan.py": (
        "a form is right if the scanner finds its keys, and the command prints what it finds",
        {"commands.scan", "secrets.key_forms", "secrets.scanner"},
    ),
    "unit/mock/test_mock.py": (
        "to its clients it is one service",
        {"mock.api", "mock.journal", "mock.wire", "processes.loopback_server"},
    ),
    "unit/mock/test_stand_in.py": ("one stand-in reads, answers and judges", {"mock.conversation", "mock.judging"}),
    "unit/judges/test_rubric.py": ("the judge with one model shows what all by a rubric do", {"judges._rubric_judge"}),
    "unit/processes/test_servers.py": ("a server is connected to in order to be asked", {"processes.mcp_client"}),
    "unit/projections/test_projections.py": (
        "tables, and the script of tables and views, are right if their rows are",
        {"projections.script", "projections.tables"},
    ),
    "unit/stats/test_aggregates.py": ("what was asked for is in the events", {"stats.asked", "stats.condition_row"}),
    "unit/formats/test_every_eval_ever.py": ("a record is one with its rows", {"formats._eee_instances"}),
    "unit/reports/test_agreement.py": ("people's scores are compared with judges'", {"reports.people_scores"}),
    "unit/reports/test_house_scores.py": ("what is shown of them are their numbers", {"exports._house"}),
    "unit/stats/test_groups.py": ("what is shown of groups are their numbers", {"exports._groups", "reports.groups"}),
    "unit/stats/test_stopped_run.py": (
        "what a log says of its rule is what the run said",
        {"stats.paired_series", "stats.recorded_rule"},
    ),
    "unit/stats/test_statistics.py": ("the tables are made of it", {"stats.statistic"}),
    "unit/compare/test_compared_logs.py": (
        "logs are put side by side to be compared",
        {"compare.side", "compare.side_by_side"},
    ),
    "unit/preparation/test_balance.py": (
        "a dataset and a config that names it come to the same",
        {"commands.balance", "config.samples"},
    ),
    "unit/gate/test_findings.py": (
        "a rule and a log come to a verdict, and that to an exit code",
        {"commands.gate", "exports._gate", "gate.facts", "compare.earlier_log"},
    ),
    "unit/planning/test_plan.py": (
        "a log comes to a plan, and that to lines",
        {"commands.plan", "exports._planning", "planning.pilots"},
    ),
    "unit/reports/test_summaries.py": ("it prints each summary", {"commands.summarize"}),
    "unit/reports/test_trials.py": ("it prints what is said of each sample", {"commands.trials"}),
    "unit/viewer/test_label_page.py": ("what a person says on it is in the log", {"viewer.labelling"}),
    "unit/viewer/test_sample_page.py": ("what is shown of an answer is seen on its page", {"viewer.answers"}),
    "unit/viewer/test_serving.py": ("the command serves what it is given", {"commands.view"}),
    "unit/transcripts/test_transcript.py": (
        "a transcript is right if it is of the right task and says all of it",
        {"transcripts.sections", "transcripts.selection"},
    ),
    "unit/reports/test_builder.py": (
        "a warning or a note is part of the report of a log",
        {"reports.model", "reports.notes", "reports.warnings"},
    ),
}
"""Modules whose tests stand in another file than the one that is named after them: in which, why, and which modules."""


@cache
def _nodes(path: Path) -> list[ast.AST]:
    """Return all that a file says, which several tests look at."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _name(path: Path) -> str:
    """Return how a file is imported; a folder's `__init__.py` as the folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _folder(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@cache
def _files() -> dict[str, Path]:
    return {_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py"}


@cache
def _imports(path: Path) -> set[str]:
    """Return the modules of keval that a file imports, those imported in functions or for types too."""
    files = _files()
    found = set()
    for node in _nodes(path):
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
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in _nodes(path))


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


def test_folders_are_one_level_deep() -> None:
    """No folder of the package holds another folder with code."""
    assert {len(path.relative_to(PACKAGE).parts) for path in PACKAGE.rglob("*.py")} <= {1, 2}


def test_only_one_place_prints_errors_and_exits() -> None:
    """`sys.exit` stands in cli.py alone, and `print` in progress.py alone."""
    allowed = {"exit": {"cli.py", "__main__.py"}, "print": {"progress.py"}}
    for path in PACKAGE.rglob("*.py"):
        for node in _nodes(path):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                owner = getattr(getattr(node.func, "value", None), "id", None)
                if name == "print" and owner is None:
                    assert path.name in allowed["print"], f"{path}:{node.lineno}"
                if name == "exit" and owner == "sys":
                    assert path.name in allowed["exit"], f"{path}:{node.lineno}"


def test_commands_parse_call_and_print() -> None:
    """No command holds a coroutine or a loop over the lines of a log: these stand below, where others can use them."""
    readers = {"Reader", "log_reader", "opened", "read", "reader", "read_live", "standard_input"}
    wrong = {
        path.name
        for path in sorted((PACKAGE / "commands").glob("*.py"))
        for node in _nodes(path)
        if isinstance(node, ast.AsyncFunctionDef)
        or (isinstance(node, ast.Import) and "asyncio" in {name.name for name in node.names})
        or (isinstance(node, ast.ImportFrom) and node.module == "asyncio")
        or (isinstance(node, ast.For | ast.comprehension) and _names(node.iter) & readers)
    }
    assert not wrong


def _python_files() -> Iterator[Path]:
    """Yield the files that the house's rules are for."""
    for folder in ("keval", "tests", "benchmarks", "docs", "examples"):
        yield from sorted((TESTS.parent / folder).rglob("*.py"))


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def test_tests_call_commands_through_the_root() -> None:
    """As users do: click keeps the help option of the first call, and a command called by itself has another one."""
    called = re.compile(r"\bcommand\.main\(|\.invoke\(command\b")
    assert not [path for path in sorted(TESTS.rglob("*.py")) if called.search(path.read_text(encoding="utf-8"))]


def test_every_suppression_carries_its_reason() -> None:
    """`noqa` and `type: ignore` name their rules and say why, on the same line."""
    suppressed = re.compile(r"#\s*(?:noqa|type:\s*ignore)\b(.*)")
    reasoned = re.compile(r"(?:: [A-Z]+\d+(?:, [A-Z]+\d+)*|\[[a-z, -]+\]) +(?:-|#) (?!as above).*\w")
    bare = [
        f"{path}:{number}"
        for path in _python_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for found in suppressed.findall(line)
        if not reasoned.match(found)
    ]
    assert not bare


def test_every_layout_that_is_kept_is_another_than_the_formatters(tmp_path: Path) -> None:
    """`fmt: skip` is a suppression too: where nothing is suppressed any more, it is gone."""
    found = [
        (f"{path}:{number}", text)
        for path in _python_files()
        for number, text in _without_one_skip(path.read_text(encoding="utf-8"))
    ]
    copies = [tmp_path / f"{place}.py" for place in range(len(found))]
    for copy, (_, text) in zip(copies, found, strict=True):
        copy.write_text(text, encoding="utf-8")
    ruff, settings = Path(sys.executable).with_name("ruff"), TESTS.parent / "pyproject.toml"
    subprocess.run([ruff, "format", "--quiet", "--no-cache", "--config", settings, tmp_path], check=True)
    both = zip(found, copies, strict=True)
    assert not [place for (place, text), copy in both if copy.read_text(encoding="utf-8") == text]


def _without_one_skip(text: str) -> Iterator[tuple[int, str]]:
    """Yield a file without one of its `fmt: skip`, for each, and the line that had it."""
    lines = text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        if line.endswith(SKIP):
            yield place + 1, "".join([*lines[:place], line.removesuffix(SKIP) + "\n", *lines[place + 1 :]])


def test_every_test_states_its_property() -> None:
    """Each test function has a docstring: the sentence that it proves."""
    silent = [
        f"{path.name}:{node.lineno} {node.name}"
        for path in Path(__file__).parent.rglob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert not silent
