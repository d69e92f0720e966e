"""The examples that spread a run over machines are accepted by what is to run them, and do all of its samples once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from tests.conftest import Keval

SHARDS = Path(__file__).parent.parent / "examples" / "shards"
PARTS = 3

CONFIG = """\
name: parts
dataset: {path: questions.jsonl}
agent: {type: echo}
conditions: {plain: {system_prompt: Answer.}, terse: {system_prompt: Be brief.}}
judge: {type: exact_match}
execution: {repetitions: 1}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a config beside the scripts."""
    (tmp_path / "eval.yaml").write_text(CONFIG)
    samples = ({"id": f"q{number}", "question": "What?", "answer": "7"} for number in range(5))
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    return Path(shutil.copytree(SHARDS, tmp_path, dirs_exist_ok=True))


def started(folder: Path, script: list[str], **environment: str) -> None:
    """Run a command to its end, with this keval."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    done = subprocess.run(
        script, cwd=folder, env={"PATH": path, "HOME": str(folder), **environment},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def merged(folder: Path, keval: Keval) -> str:
    """Return the report of all parts."""
    parts = sorted(folder.glob("part-*.jsonl"))
    assert len(parts) == PARTS
    (folder / "run.jsonl").write_bytes(b"".join(part.read_bytes() for part in parts))
    done = keval("report", folder / "run.jsonl")
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


ALL_DONE = "scored / planned 5 / 5 5 / 5"


@pytest.mark.slow
def test_the_tasks_of_a_slurm_array_do_all_samples(folder: Path, keval: Keval) -> None:
    """Each is told its number and how many there are; the logs of all are one complete run."""
    for number in range(1, PARTS + 1):
        array = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": str(PARTS)}
        started(folder, ["sh", "slurm.sh", "--limit", "5"], **array)
    assert ALL_DONE in merged(folder, keval)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("parallel") is None, reason="GNU parallel is not installed")
def test_gnu_parallel_does_all_samples(folder: Path, keval: Keval) -> None:
    """The parts run at once on this machine."""
    started(folder, ["sh", "parallel.sh", str(PARTS)])
    assert ALL_DONE in merged(folder, keval)


def manifest() -> Any:  # noqa: ANN401 - YAML
    """Return the Kubernetes job."""
    return YAML(typ="safe").load((SHARDS / "kubernetes.yaml").read_text())


def test_the_kubernetes_job_is_one() -> None:
    """By the API's own schemas, which refuse fields that there are not."""
    kubernetes_validate.validate(manifest(), "1.37", strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**manifest(), "spec": {**manifest()["spec"], "completion": 8}}, "1.37", strict=True
        )


@pytest.mark.slow
def test_the_pods_of_the_kubernetes_job_do_all_samples(folder: Path, keval: Keval) -> None:
    """Its command is run with the index that each pod is given, its volumes being folders here."""
    spec = manifest()["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    (command,) = container["args"]
    assert f'/{spec["completions"]}"' in command
    here = command.replace("/config/", f"{folder}/").replace("/logs/", f"{folder}/").replace("/8", f"/{PARTS}")
    for index in range(PARTS):
        started(folder, [*container["command"], here], JOB_COMPLETION_INDEX=str(index))
    assert ALL_DONE in merged(folder, keval)


@pytest.mark.parametrize("script", ["slurm.sh", "parallel.sh"])
def test_the_scripts_are_sound(script: str) -> None:
    """ShellCheck finds nothing to say of them."""
    shellcheck = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run([shellcheck, SHARDS / script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
