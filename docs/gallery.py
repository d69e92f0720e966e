"""Makes what the site shows beside the pages: each example's report, and the way from the root to the first page."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRA = ROOT / "build" / "site-extra"
FIRST_PAGE = (
    '<!doctype html><meta charset="utf-8"><title>keval</title><meta http-equiv="refresh" content="0; url=docs/">\n'
)


def report(config: Path, page: Path) -> None:
    """Run an example with the stand-in for the model and write its report. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / f"{config.parent.name}.jsonl"
        _keval("run", str(config), "--mock", "-q", "-o", str(log), "-f", "csv")
        _keval("report", str(log), "-o", str(page))


def _keval(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "keval", *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - fixed words


if __name__ == "__main__":
    (EXTRA / "reports").mkdir(parents=True, exist_ok=True)
    (EXTRA / "index.html").write_text(FIRST_PAGE, encoding="utf-8")
    for each in sorted(ROOT.glob("examples/*/eval.yaml")):
        report(each, EXTRA / "reports" / f"{each.parent.name}.html")
