"""The documentation is a site and a man page, too, without a broken link."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def built(builder: str, folder: Path) -> None:
    """Build the pages; a warning is an error, such as of a link that leads nowhere."""
    extra = folder / "extra"
    extra.mkdir()
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", builder, "-c", "docs", "-d", str(folder / "trees")]
    subprocess.run([*command, "-D", f"html_extra_path={extra}", str(ROOT), str(folder / "out")], cwd=ROOT, check=True)


@pytest.mark.slow
def test_every_page_is_in_the_site(tmp_path: Path) -> None:
    """All links lead somewhere; each page of docs is there, and can be searched."""
    built("html", tmp_path)
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")}
    assert pages <= {page.stem for page in (tmp_path / "out" / "docs").glob("*.html")}
    assert (tmp_path / "out" / "searchindex.js").is_file()


@pytest.mark.slow
def test_the_man_page_has_every_command(tmp_path: Path) -> None:
    """It is made of docs/commands.md."""
    built("man", tmp_path)
    (page,) = (tmp_path / "out").glob("*.1")
    commands = re.findall(r"^## keval ([\w-]+)$", (ROOT / "docs" / "commands.md").read_text(), re.MULTILINE)
    text = page.read_text().replace("\\-", "-").casefold()
    assert [name for name in commands if f"keval {name}" not in text] == []


def test_the_gallery_shows_every_example() -> None:
    """Each has a report, and no other is named."""
    page = (ROOT / "docs" / "gallery.md").read_text()
    examples = {path.parent.name for path in (ROOT / "examples").glob("*/eval.yaml")}
    assert set(re.findall(r"reports/([\w-]+)\.html", page)) == examples
