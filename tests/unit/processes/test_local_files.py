from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from keval.errors import InputError
from keval.processes.local_files import LocalFile, matching, named_by, not_there, without_match


def of(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a program, a script in a folder below it, and a file called as a program of PATH."""
    (tmp_path / "config" / "lib").mkdir(parents=True)
    for name in ("serve", "lib/server.py", "python"):
        (tmp_path / "config" / name).write_text(name)
    return tmp_path / "config"


def test_files_are_known_by_their_content_in_the_order_of_the_command(folder: Path) -> None:
    """A program with a slash, its arguments and the values of its options are looked at; folders are not."""
    command = ["./serve", "lib/server.py", "lib", "--data=lib/server.py", "--nothing=x", "no-such-file"]
    script = LocalFile("lib/server.py", of("lib/server.py"))
    assert named_by(command, folder) == (LocalFile("serve", of("serve")), script, script)


def test_a_program_that_path_finds_is_no_local_file(folder: Path) -> None:
    """A bare name is what the shell would look up, even if a file beside the config is called so."""
    assert named_by(["python", "-V"], folder) == ()
    assert named_by(["sh", "python"], folder) == (LocalFile("python", of("python")),)


def test_a_file_elsewhere_has_its_whole_path(folder: Path) -> None:
    """What lies outside of the config's folder is named by where it is."""
    elsewhere = folder.parent / "other.py"
    elsewhere.write_text("x")
    assert named_by(["python", str(elsewhere)], folder) == (LocalFile(str(elsewhere), of("x")),)


def test_an_argument_may_be_anything(folder: Path) -> None:
    """Text that could not even be a path is no file and no error."""
    assert named_by(["sh", "-c", "echo " + "x" * 10_000, "a\0b", "", "-", "--=", "/dev/null"], folder) == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_an_error_with_its_place(folder: Path) -> None:
    """Whether its content changed would be a guess."""
    (folder / "serve").chmod(0)
    with pytest.raises(InputError, match="serve: Permission denied"):
        named_by(["./serve"], folder)


@pytest.mark.parametrize(
    ("word", "is_told"),
    [
        ("{folder}/gone.py", True),
        ("{folder}/lib/server.py", False),
        ("{folder}/lib", False),
        ("{folder}", False),
        ("gone.py", False),
        ("--out={folder}/made-later.txt", False),
        ("{folder}/gone.py | head", False),
        ("{folder}/{question}.txt", False),
    ],
)
def test_a_path_in_the_configs_folder_that_leads_nowhere_is_told(folder: Path, word: str, is_told: bool) -> None:
    """Only an argument that is no more than such a path can be known to be one."""
    told = not_there(["python", word], folder)
    assert told == (f"its command names {word}, and {folder}/gone.py does not exist" if is_told else None)


def test_a_file_that_was_there_before_is_gone(folder: Path) -> None:
    """What is known of it stays the same."""
    (found,) = named_by(["", "lib/server.py"], folder)
    seen = [found.is_gone]
    (folder / "lib" / "server.py").unlink()
    assert [*seen, found.is_gone] == [False, True]
    assert not LocalFile("elsewhere.py", "f1").is_gone


def test_patterns_find_files_once_in_the_order_of_their_paths(folder: Path) -> None:
    """A path with signs of a pattern is that file; hidden and compiled files, which change by themselves, are none."""
    for name in ("kb/b.md", "kb/a/[1].md", "kb/.draft.md", "lib/__pycache__/server.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    found = matching(["lib/**/*", "kb/**/*.md", "kb/a/[1].md", str(folder / "ser*"), "serve"], folder)
    assert [file.name for file in found] == ["kb/a/[1].md", "kb/b.md", "lib/server.py", "serve"]
    assert found[-1] == LocalFile("serve", of("serve"))


@pytest.mark.parametrize("pattern", ["kb.json", "lib", "lib/*.md", ""])
def test_a_pattern_that_finds_no_file_is_told(folder: Path, pattern: str) -> None:
    """A folder is no file: what is in it has to be named."""
    assert matching([pattern], folder) == ()
    assert without_match(["serve", pattern], folder) == f"files: {pattern!r} finds no file in {folder}"
    assert without_match(["serve"], folder) is None


def test_an_edited_file_has_changed_and_what_cannot_be_read_has_not(tmp_path: Path) -> None:
    """A pipe in its place is not waited for."""
    path, said = tmp_path / "agent.sh", []
    path.write_text("echo 1")
    (file,) = named_by(["sh", "agent.sh"], tmp_path)
    said.append(file.has_changed)
    path.write_text("echo 2")
    said.append(file.has_changed)
    path.unlink()
    os.mkfifo(path)
    said.append(file.has_changed)
    assert said == [False, True, False]
