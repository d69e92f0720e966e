"""Installs the tools that keval is compared with, each into a folder of its own below .bench/, which git ignores.

What is there already is used as it is; `rm -r .bench` makes the next run take the newest versions.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.child import ROOT

FOLDER = ROOT / ".bench"
INSTALL_TIMEOUT_S = 900.0


class NotInstalledError(RuntimeError):
    """A tool cannot be had here; the message says why."""


@dataclass(frozen=True, slots=True)
class PythonPackage:
    """A package from a Python index, in a virtual environment of its own."""

    name: str

    def program(self) -> Path:
        """Return the Python that can import the package. Raises NotInstalledError."""
        folder = FOLDER / self.name
        python = folder / "bin" / "python"
        if not _is_complete(folder):
            _run(sys.executable, "-m", "venv", "--clear", str(folder))
            _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", self.name)
            _complete(folder)
        return python

    def version(self) -> str:
        """Return which version is installed. Raises NotInstalledError."""
        ask = f"import importlib.metadata; print(importlib.metadata.version({self.name!r}))"
        return subprocess.run([self.program(), "-c", ask], capture_output=True, text=True, check=True).stdout.strip()


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """A package from an npm registry, in a folder of its own; its program has its name."""

    name: str

    def program(self) -> Path:
        """Return the program. Raises NotInstalledError."""
        folder = FOLDER / self.name
        if not _is_complete(folder):
            installed_program("npm")
            folder.mkdir(parents=True, exist_ok=True)
            _run("npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", self.name)
            _complete(folder)
        return folder / "node_modules" / ".bin" / self.name

    def version(self) -> str:
        """Return which version is installed. Raises NotInstalledError."""
        described = self.program().parent.parent / self.name / "package.json"
        return str(json.loads(described.read_text())["version"])


Package = PythonPackage | NpmPackage


def installed_program(name: str) -> Path:
    """Return a program of this machine. Raises NotInstalledError."""
    found = shutil.which(name)
    if found is None:
        raise NotInstalledError(f"{name} is missing")
    return Path(found)


def _is_complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def _complete(folder: Path) -> None:
    (folder / "complete").touch()


def _run(*command: str) -> None:
    """Run a command that installs; what it says may name this machine's registries, and is kept nowhere."""
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=INSTALL_TIMEOUT_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise NotInstalledError(f"{Path(command[0]).name} could not install {command[-1]}") from error
