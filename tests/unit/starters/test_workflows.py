"""Workflow files: valid YAML whose commands are those of keval and of a shell, and that post one comment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from keval.cli import COMMANDS
from keval.exports.comment import MARKER
from keval.starters import workflows
from keval.starters.workflows import FILES, Workflow, package, root_of

CONFIG = "evals/it's $HOME.yaml"


def read(ci: str, known: str | None = "keval==1.0") -> Any:  # noqa: ANN401 - any YAML
    return YAML(typ="safe").load(Workflow(ci, CONFIG, {"ANTHROPIC_API_KEY", "DOCS_TOKEN"}, known).text())


def scripts(ci: str) -> list[str]:
    """Return what a CI runs."""
    if ci == "gitlab":
        return list(read(ci)["keval"]["script"])
    return [step["run"] for step in read(ci)["jobs"]["keval"]["steps"] if "run" in step]


def commented(ci: str, folder: Path, earlier: str) -> str:
    """Run the part that comments with stand-ins for all programs, and return how the service was called."""
    (folder / "comment.md").write_text(f"{MARKER}\nreport\n")
    programs = {
        "keval": f'echo "{MARKER}"',
        "python": f'exec "{sys.executable}" "$@"',
        "gh": f'echo "$@" >> calls; case "$*" in *--jq*) echo "{earlier}";; esac',
        "curl": f'echo "$@" >> calls; case "$*" in *per_page*) printf %s \'{_notes(earlier)}\';; esac',
    }
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "COMMENTS": "repos/a/b/issues/7/comments",
        "GITHUB_REPOSITORY": "a/b",
        "CI_API_V4_URL": "api",
        "CI_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_IID": "7",
        "KEVAL_COMMENT_TOKEN": "t",
    }
    script = next(each for each in scripts(ci) if MARKER in each)
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "calls").read_text().splitlines()[-1]


def _notes(earlier: str) -> str:
    ours = [{"id": int(earlier), "body": f"{MARKER}\nold"}] if earlier else []
    return json.dumps([{"id": 1, "body": "a person"}, *ours])


@pytest.mark.parametrize("ci", FILES)
def test_a_workflow_checks_runs_reports_and_gates(ci: str) -> None:
    """Every command that it calls is one of keval's, each script is one of a shell, and no mark is left in it."""
    called = re.findall(r"^(?:\{ echo; )?keval (\w+)", "\n".join(scripts(ci)), re.MULTILINE)
    assert set(called) <= set(COMMANDS)
    assert list(dict.fromkeys(called)) == ["check", "run", "report", "gate"]
    for script in scripts(ci):
        subprocess.run(["bash", "-n", "-c", script], check=True)
    assert not re.findall(r"@[A-Z]+@", Workflow(ci, CONFIG, (), None).text())


@pytest.mark.parametrize("ci", FILES)
def test_a_workflow_names_the_config_and_the_package(ci: str) -> None:
    """They stand in variables, so that no character of a path is read by the shell."""
    job = read(ci)["jobs"]["keval"]["env"] if ci == "github" else read(ci)["keval"]["variables"]
    assert (job["CONFIG"], job["KEVAL"]) == (CONFIG, "keval==1.0")
    assert all(CONFIG not in script for script in scripts(ci))
    assert "DOCS_TOKEN" in Workflow(ci, CONFIG, {"DOCS_TOKEN"}, None).text()


def test_keys_come_from_the_secrets_of_the_ci() -> None:
    """No value of a key stands in the file."""
    env = read("github")["jobs"]["keval"]["env"]
    assert env["ANTHROPIC_API_KEY"] == "${{ secrets.ANTHROPIC_API_KEY }}"
    assert "ANTHROPIC_API_KEY" not in read("gitlab")["keval"]["variables"]  # variables of the project are there anyway


@pytest.mark.parametrize(("ci", "again"), [("github", "PATCH"), ("gitlab", "PUT")])
def test_a_comment_replaces_the_one_before(ci: str, again: str, tmp_path: Path) -> None:
    """The first run writes a comment, the next one changes it; a person's stays as it is."""
    (tmp_path / "first").mkdir()
    (tmp_path / "next").mkdir()
    first = commented(ci, tmp_path / "first", "")
    assert again not in first
    assert "comment.md" in first
    assert re.search(rf"{again} .*/42( |$)", commented(ci, tmp_path / "next", "42"))


def test_keval_is_installed_as_it_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its version from a registry, by its commit from a repository; a folder of this machine is no answer."""

    class Installed:
        version = "1.0"
        origin: dict[str, Any] | None = None

        def read_text(self, _name: str) -> str | None:
            return None if self.origin is None else json.dumps(self.origin)

    found = Installed()
    monkeypatch.setattr(workflows, "distribution", lambda _name: found)
    assert package() == "keval==1.0"
    found.origin = {"url": "https://git.example/keval", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    assert package() == "keval @ git+https://git.example/keval@abc"
    found.origin = {"url": "file:///keval", "dir_info": {"editable": True}}
    assert package() is None
    assert "TO DO" in Workflow("github", CONFIG, (), None).text()

    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(workflows, "distribution", missing)
    assert package() is None


def test_a_workflow_stands_at_the_root_of_a_checkout(tmp_path: Path) -> None:
    """That is where .git is; without one, the folder that the command was called in, if the config is below it."""
    inner = tmp_path / "repository" / "evals" / "docs"
    inner.mkdir(parents=True)
    assert root_of(inner, tmp_path / "repository") == tmp_path / "repository"
    assert root_of(inner, tmp_path / "elsewhere") == inner
    (tmp_path / "repository" / ".git").mkdir()
    assert root_of(inner, inner) == tmp_path / "repository"
