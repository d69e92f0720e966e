"""The docs are complete, current and true: what they show is run, what they generate is compared."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest

from docs import generate
from keval import cli, plugins, projections, schema
from keval.errors import EXIT_CODES

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path.relative_to(ROOT) for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(pattern)
)
COMMANDS = Path("docs/commands.md")
SCHEMAS = sorted((ROOT / "schemas").glob("*.json"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"# (\S+\.(?:yaml|py))\n")
"""The first line of a block that is a file: the examples around it use it under that name."""


@dataclass(frozen=True)
class Command:
    """One command of a console block and what the page says that it prints."""

    line: str
    output: str


def _text(page: Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _commands(page: Path) -> Iterator[Command]:
    """Yield the commands of a page's console blocks; lines that begin with `> ` continue one."""
    for language, block in FENCE.findall(_text(page)):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                first, *lines = part.splitlines()
                continued = [line.removeprefix("> ") for line in takewhile(lambda line: line.startswith("> "), lines)]
                yield Command("\n".join([first, *continued]), "\n".join(lines[len(continued) :]))


PAGES_WITH_COMMANDS = [page for page in PAGES if list(_commands(page))]


def _run(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=300, check=False,
    )  # fmt: skip


def _scratch(page: Path, demo: Path, folder: Path) -> Path:
    """Return a copy of the demo's folder with the files that a page shows in it."""
    scratch = folder / "scratch"
    shutil.copytree(demo, scratch)
    for _, block in FENCE.findall(_text(page)):
        if (name := FILE_NAME.match(block)) is not None:
            (scratch / name[1]).write_text(block, encoding="utf-8")
    return scratch


@pytest.mark.slow
@pytest.mark.xdist_group("demo")
@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=str)
def test_examples_do_what_the_page_says(
    page: Path, demo: Path, shell_environment: dict[str, str], tmp_path: Path
) -> None:
    """Each command of a console block ends with exit code 0 and prints what is shown; `…` stands for any text."""
    scratch = _scratch(page, demo, tmp_path)
    for command in _commands(page):
        done = _run(command.line, scratch, shell_environment)
        assert done.returncode == 0, f"{command.line}\n{done.stdout}"
        if command.output:
            pattern = ".*?".join(re.escape(part) for part in _trimmed(command.output).split("…"))
            assert re.fullmatch(pattern, _trimmed(done.stdout), re.DOTALL), f"{command.line}\n{done.stdout}"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def test_commands_that_cannot_be_run_here_are_at_least_valid() -> None:
    """Each keval command in a sh block, such as those that need a key, has options that exist."""
    helps = dict(re.findall(r"^## keval ([\w-]+)\n\n```text\n(.*?)^```", _text(COMMANDS), re.DOTALL | re.MULTILINE))
    assert set(helps) == set(cli.COMMANDS)
    for page in PAGES:
        for call in _calls(page):
            name, *arguments = shlex.split(call, comments=True)
            for option in (argument.partition("=")[0] for argument in arguments if re.match(r"--?[a-z]", argument)):
                assert re.search(rf"(?<![\w-]){option}(?![\w-])", helps[name]), f"{page}: keval {call}"


def _calls(page: Path) -> list[str]:
    """Return what follows the word keval in a page's sh blocks."""
    blocks = [block for language, block in FENCE.findall(_text(page)) if language == "sh"]
    return [call for block in blocks for call in re.findall(r"\bkeval ([a-z][^|&;\n]*)", block)]


def test_the_picture_of_growth_is_current() -> None:
    """`make docs` would draw the same from the newest results."""
    assert generate.GROWTH.read_text(encoding="utf-8") == generate.growth_picture(), "run `make docs`"


def test_generated_parts_of_the_schemas_are_current(shell_environment: dict[str, str], tmp_path: Path) -> None:
    """`make docs` would change no schema, neither what tables of the code decide nor the layout."""
    for folder in ("docs", "keval", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    done = _run(f"PYTHONPATH=. {sys.executable} docs/generate_schemas.py", tmp_path, shell_environment)
    assert done.returncode == 0, done.stdout
    changed = [path.name for path in SCHEMAS if path.read_bytes() != (tmp_path / "schemas" / path.name).read_bytes()]
    assert changed == [], "run `make docs`"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_described(name: str) -> None:
    """Each command has its help in docs/commands.md and stands in another page, too."""
    assert f"## keval {name}\n" in _text(COMMANDS)
    others = [page for page in PAGES if page.name != "commands.md" and f"keval {name}" in _text(page)]
    assert others


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in plugins.KINDS for name in plugins.find(kind)])
def test_every_plug_in_is_described(kind: str, name: str) -> None:
    """Each plug-in stands in docs/plugins.md, with its options."""
    page = _text(Path("docs/plugins.md"))
    assert f"### {name}\n" in page
    for option in plugins.options(plugins.load(kind, plugins.base(kind), name)):
        assert f"| `{option.name}` |" in page


@pytest.mark.parametrize("name", schema.names())
def test_every_schema_is_described(name: str) -> None:
    """Each schema is named in docs/events.md, and each type of event has its own part there."""
    page = _text(Path("docs/events.md"))
    assert f"`{name}`" in page
    assert f"## {name}\n" in page or name not in schema.EVENT_TYPES


@pytest.mark.parametrize("name", projections.VIEWS)
def test_every_view_is_described(name: str) -> None:
    """Each view has its columns in docs/sql.md."""
    assert f"### {name}\n" in _text(Path("docs/sql.md"))


@pytest.mark.parametrize("code", EXIT_CODES)
def test_every_exit_code_is_described(code: int) -> None:
    """Each exit code stands in docs/commands.md and in README.md."""
    for page in ("docs/commands.md", "README.md"):
        assert f"| {code} | " in _text(Path(page))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link leads to a file that exists, and to a heading of it."""
    text = FENCE.sub("", _text(page))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        file = (ROOT / page).parent / target if target else ROOT / page
        assert file.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, f"{page}: {target}#{anchor}"


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_decisions_have_one_form(path: Path) -> None:
    """A decision has a number, a status, and says context, decision and consequences in that order."""
    text = path.read_text(encoding="utf-8")
    number = int(path.name[:4])
    assert number == DECISIONS.index(path) + 1
    assert text.startswith(f"# {number}. ")
    status, *parts = re.findall(r"^(Status: .+)$|^## (\w+)$", text, re.MULTILINE)
    assert re.fullmatch(r"Status: (accepted|superseded by \[\d+\]\([\w-]+\.md\))", status[0])
    assert [part for _, part in parts] == ["Context", "Decision", "Consequences"]


def test_decisions_are_listed() -> None:
    """Each decision is linked from docs/decisions/README.md."""
    index = _text(Path("docs/decisions/README.md"))
    assert [path.name for path in DECISIONS] == re.findall(r"\]\(([\w-]+\.md)\)", index)
