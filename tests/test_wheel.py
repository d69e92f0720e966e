"""The built wheel works by itself, away from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `keval` of a fresh environment that holds the wheel and nothing of the repository.

    The dependencies come from this environment by a .pth file, so that nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    kept_out = shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
    shutil.copytree(REPOSITORY, source, ignore=kept_out)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", cwd=source)
    shutil.rmtree(source)
    run(sys.executable, "-m", "venv", folder / "env", cwd=folder)
    python = folder / "env" / "bin" / "python"
    wheel = next((folder / "dist").glob("*.whl"))
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])", cwd=folder).strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    found = run(python, "-c", "import keval; print(keval.__file__)", cwd=folder).strip()
    assert found.startswith(str(folder)), found
    return folder / "env" / "bin" / "keval"


def test_the_wheel_holds_the_schemas(installed: Path, tmp_path: Path) -> None:
    """`keval schemas` prints them in a folder that has no repository near it."""
    assert '"urn:keval:schema:judgment"' in run(installed, "schemas", "judgment", cwd=tmp_path)


def test_the_copied_quickstart_runs_with_the_wheel(installed: Path, tmp_path: Path) -> None:
    """A copy of the example, the wheel and nothing else: it runs to a report, and the log is valid."""
    example = tmp_path / "example"
    shutil.copytree(REPOSITORY / "examples" / "quickstart", example)
    assert not os.environ.get("PYTHONPATH")
    report = run(installed, "run", "eval.yaml", "--mock", "--limit", "2", "-o", "log.jsonl", "-q", cwd=example)
    assert "MOCK" in report
    assert "completeness" in report
    assert "valid events" in run(installed, "validate", "log.jsonl", cwd=example)
