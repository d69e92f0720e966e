"""The container file makes a keval that works."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
IMAGE = "keval-test"


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Docker."""
    return subprocess.run(["docker", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture
def image() -> str:
    """Return the name of an image that was built here; skip where nothing can be built."""
    if shutil.which("docker") is None or docker("info").returncode != 0:
        pytest.skip("no Docker is running here")
    base = (ROOT / "Dockerfile").read_text().partition("\nFROM ")[2].splitlines()[0]
    if docker("image", "inspect", base).returncode != 0 and docker("pull", "--quiet", base).returncode != 0:
        pytest.skip(f"{base} cannot be had here")
    built = docker("build", "--quiet", "--tag", IMAGE, ".")
    assert built.returncode == 0, built.stderr
    return IMAGE


@pytest.mark.slow
def test_an_example_runs_in_a_container_with_the_stand_in_model(image: str, tmp_path: Path) -> None:
    """As a user without rights, on a folder of the host, without a network."""
    shutil.copytree(ROOT / "examples" / "gsm8k", tmp_path / "work")
    (tmp_path / "work").chmod(0o777)
    mounted = ("--rm", "--network", "none", "--volume", f"{tmp_path / 'work'}:/work", image)
    ran = docker("run", *mounted, "run", "eval.yaml", "--mock", "--limit", "1", "-o", "run.jsonl")
    assert ran.returncode == 0, ran.stderr
    assert "gsm8k" in ran.stdout
    assert (tmp_path / "work" / "run.jsonl").exists()
