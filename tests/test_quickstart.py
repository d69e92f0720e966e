"""The quickstart works when its folder is copied anywhere, and its golden answers stand in what it searches."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from keval.mock.words import content_words
from keval.processes import environment, servers

ROOT = Path(__file__).parent.parent
QUICKSTART = ROOT / "examples" / "quickstart"
QUESTIONS = [orjson.loads(line) for line in (QUICKSTART / "questions.jsonl").read_bytes().splitlines()]

Keval = Callable[..., "subprocess.CompletedProcess[str]"]


def _script(path: Path) -> ModuleType:
    """Import a script that belongs to no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def docs_server() -> ModuleType:
    """Return the example's MCP server, imported."""
    return _script(QUICKSTART / "docs_server.py")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the example's folder, far from keval's docs."""
    return Path(shutil.copytree(QUICKSTART, tmp_path / "elsewhere"))


def test_the_handbook_is_the_docs_word_for_word() -> None:
    """Each page of the handbook consists of sections of the docs; `python docs/generate.py` copies them anew."""
    expected = _script(ROOT / "docs" / "generate.py").handbook()
    found = {path.name: path.read_text(encoding="utf-8") for path in (QUICKSTART / "handbook").iterdir()}
    assert found == expected


@pytest.mark.parametrize("sample", QUESTIONS, ids=lambda sample: sample["id"])
def test_golden_answers_stand_in_what_a_search_finds(docs_server: ModuleType, sample: dict[str, str]) -> None:
    """Asked with the question, the server returns a text that has the golden answer's words."""
    found = docs_server.Index(docs_server.HANDBOOK).search(sample["question"])
    golden = set(content_words(sample["answer"])) - {"otherwise"}
    assert golden <= set(content_words(found))


@pytest.mark.parametrize("query", ['"', "NEAR(", "a AND", "text:*", "^ - +", "NOT", "", "\x00", "naïve 日本"])
def test_any_text_is_a_query(docs_server: ModuleType, query: str) -> None:
    """Nothing in a question is an operator of the query language."""
    assert docs_server.Index(docs_server.HANDBOOK).search(query)


def test_headings_in_code_begin_no_section(docs_server: ModuleType) -> None:
    """A comment in a code block is not a heading, and a section without text is no section worth a result."""
    page = "# Page\n\n## One\n\n```sh\n# not a heading\n```\n\n## Two\n\ntext\n"
    found = [(heading, text) for _, heading, text in docs_server.sections("page.md", page) if text]
    assert found == [("One", "```sh\n# not a heading\n```"), ("Two", "text")]


def test_a_folder_without_pages_is_refused(docs_server: ModuleType, tmp_path: Path) -> None:
    """A server that has nothing to search does not start."""
    with pytest.raises(SystemExit, match="no Markdown files"):
        docs_server.Index(tmp_path)


def test_the_version_tells_what_was_indexed(docs_server: ModuleType, tmp_path: Path) -> None:
    """Another text has another version, so that two runs can be told apart in the log."""
    (tmp_path / "page.md").write_text("# One\n\ntext\n")
    before = docs_server.Index(tmp_path).version
    assert docs_server.Index(tmp_path).version == before
    (tmp_path / "page.md").write_text("# One\n\nother text\n")
    assert docs_server.Index(tmp_path).version != before


@pytest.mark.slow
def test_the_server_offers_one_tool(copied: Path, docs_server: ModuleType) -> None:
    """Started as the config says, in a copied folder, it is ready and offers `search_docs`."""
    written = {"type": "stdio", "command": "python", "args": ["docs_server.py"]}
    launchable = {"docs": servers.launchable(written, copied)}
    infos = asyncio.run(servers.inspect(launchable, {}, environment.allowed(os.environ), timeout_s=60))
    assert infos["docs"].error is None
    assert infos["docs"].tools == ("search_docs",)
    assert infos["docs"].version == docs_server.Index(docs_server.HANDBOOK).version


def test_the_copied_config_is_valid(copied: Path, keval: Keval) -> None:
    """The config and the questions are valid wherever the folder is."""
    done = keval("validate", copied / "eval.yaml", copied / "questions.jsonl")
    assert done.returncode == 0, done.stderr
    assert len(QUESTIONS) >= 12


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
def test_the_copied_demo_shows_the_docs_ahead(demo: Path, shell_environment: dict[str, str], tmp_path: Path) -> None:
    """`with_docs` has the higher completeness, nothing fails, and a second call adds nothing."""
    folder = shutil.copytree(demo, tmp_path / "copied")
    log = folder / "demo.jsonl"
    written = log.read_bytes()
    again = ["keval", "run", "examples/quickstart/eval.yaml", "--mock", "-o", "demo.jsonl", "-f", "json", "-q"]
    done = subprocess.run(again, cwd=folder, env=shell_environment, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert log.read_bytes() == written
    tables = {table["metric"]: table for table in orjson.loads(done.stdout)["metrics"]}
    means = {score["condition"]: score["mean"] for score in tables["completeness"]["scores"]}
    assert means["with_docs"] > means["baseline"]
    assert tables["completeness"]["differences"][0]["conclusion"] == "higher"
