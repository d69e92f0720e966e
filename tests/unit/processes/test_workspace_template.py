from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.processes import workspace_template
from keval.processes.workspace_template import TemplateError


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "init.defaultBranch=main")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, a program, a link and an empty folder in it."""
    made = tmp_path / "template"
    (made / "src").mkdir(parents=True)
    (made / "empty").mkdir()
    (made / "src" / "a.txt").write_text("one\n")
    (made / "run.sh").write_text("#!/bin/sh\n")
    (made / "run.sh").chmod(0o755)
    (made / "link").symlink_to("src/a.txt")
    return made


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two commits; a third one is on another branch."""
    made = tmp_path / "a repository"
    made.mkdir()
    git(made, "init", "--quiet")
    for text in ("one", "two"):
        (made / "a.txt").write_text(f"{text}\n")
        git(made, "add", ".")
        git(made, "commit", "--quiet", "--message", text)
        git(made, "tag", text)
    git(made, "checkout", "--quiet", "-b", "solution")
    (made / "a.txt").write_text("the solution\n")
    git(made, "commit", "--quiet", "--all", "--message", "solved")
    git(made, "checkout", "--quiet", "main")
    return made


def copied(template: workspace_template.Template, folder: Path) -> Path:
    folder.mkdir()
    template.put_into(folder)
    return folder


def test_a_copy_holds_all_of_the_folder(folder: Path, tmp_path: Path) -> None:
    """Files, what may be executed, links as links, and empty folders."""
    made = copied(workspace_template.of_folder(folder, "template"), tmp_path / "copy")
    assert (made / "src" / "a.txt").read_text() == "one\n"
    assert os.access(made / "run.sh", os.X_OK)
    assert (made / "link").readlink() == Path("src/a.txt")
    assert (made / "empty").is_dir()


def test_a_folder_is_known_by_its_content(folder: Path) -> None:
    """Whatever its path and the times of its files are; each difference that an agent can see makes another one."""
    first = workspace_template.of_folder(folder, "template").content
    seen = {first}
    os.utime(folder / "src" / "a.txt", (0, 0))
    assert workspace_template.of_folder(folder.rename(folder.parent / "moved"), "other").content == first
    moved = folder.parent / "moved"
    for change in (
        lambda: (moved / "src" / "a.txt").write_text("two\n"),
        lambda: (moved / "src" / "a.txt").rename(moved / "src" / "b.txt"),
        lambda: (moved / "run.sh").chmod(0o644),
        (moved / "empty").rmdir,
        lambda: (moved / "link").rename(moved / "other link"),
    ):
        change()
        seen.add(workspace_template.of_folder(moved, "template").content)
    assert len(seen) == 6


def test_a_folder_that_was_changed_meanwhile_is_no_template_any_more(folder: Path, tmp_path: Path) -> None:
    """All tasks of a run begin with the same, or with nothing."""
    template = workspace_template.of_folder(folder, "template")
    (folder / "new.txt").write_text("new")
    with pytest.raises(TemplateError, match="template was changed after the run had begun"):
        copied(template, tmp_path / "copy")


def test_what_no_copy_can_hold_is_refused(folder: Path) -> None:
    """Before anything is asked, and with its path."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError, match="pipe is neither a file nor a folder nor a link"):
        workspace_template.of_folder(folder, "template")
    with pytest.raises(InputError, match="nowhere does not exist"):
        workspace_template.of_folder(folder / "nowhere", "nowhere")
    with pytest.raises(InputError, match=r"run\.sh is no folder"):
        workspace_template.of_folder(folder / "run.sh", "run.sh")


def test_a_checkout_is_the_commit_and_nothing_else_of_its_repository(repository: Path, tmp_path: Path) -> None:
    """An agent finds no later commit, no other branch, no remote and no path: the solution may be there."""
    template = workspace_template.of_repository(repository, "repo", "two")
    made = copied(template, tmp_path / "checkout")
    assert (made / "a.txt").read_text() == "two\n"
    assert git(made, "rev-parse", "HEAD") == template.commit == git(repository, "rev-parse", "two")
    assert git(made, "status", "--porcelain") == ""
    assert git(made, "remote") == git(made, "branch", "--all", "--format=%(refname:short)", "--no-contains") == ""
    objects = git(made, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    assert len(objects) == 3, "a commit, a tree and a file"
    told = [
        path for path in (made / ".git").rglob("*") if path.is_file() and str(repository).encode() in path.read_bytes()
    ]
    assert not told


def test_a_checkout_needs_no_saved_state_and_leaves_the_repository_alone(repository: Path, tmp_path: Path) -> None:
    """What is not committed is not in it; and what is done in it never reaches the repository."""
    (repository / "a.txt").write_text("not committed\n")
    before = git(repository, "for-each-ref")
    made = copied(workspace_template.of_repository(repository, "repo", "HEAD"), tmp_path / "checkout")
    assert (made / "a.txt").read_text() == "two\n"
    (made / "a.txt").write_text("changed\n")
    assert "+changed" in git(made, "diff")
    git(made, "commit", "--quiet", "--all", "--message", "mine")
    assert git(repository, "for-each-ref") == before
    assert (repository / "a.txt").read_text() == "not committed\n"


def test_a_folder_inside_a_repository_and_a_work_tree_are_the_repository(repository: Path, tmp_path: Path) -> None:
    """Git finds its repository from anywhere within."""
    (repository / "inner").mkdir()
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"), "one")
    for place in (repository / "inner", tmp_path / "tree"):
        template = workspace_template.of_repository(place, "repo", "one")
        assert (copied(template, tmp_path / f"of {place.name}") / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("ref", ["three", "--help", "one:a.txt", ""])
def test_a_commit_that_is_not_there_is_refused(repository: Path, ref: str) -> None:
    """Before anything is asked; a ref is never an option of git."""
    with pytest.raises(InputError, match=f"no {ref!r}"):
        workspace_template.of_repository(repository, "repo", ref)


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(InputError, match="no 'HEAD'"):
        workspace_template.of_repository(tmp_path, "repo", "HEAD")


def test_links_that_lead_out_of_a_folder_are_known(tmp_path: Path) -> None:
    """What is there is copied for nobody. A link that leads nowhere, or to a file of the folder, shares nothing."""
    (tmp_path / "project" / "src").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    links = {"absolute": tmp_path / "data", "relative": Path("../data"), "inner": Path("src"), "none": Path("gone")}
    for name, target in links.items():
        (tmp_path / "project" / name).symlink_to(target)
    found = workspace_template.of_folder(tmp_path / "project", "project").links_out()
    assert [path.name for path in found] == ["absolute", "relative"]
