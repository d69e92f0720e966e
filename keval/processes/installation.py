"""What of keval's parts and of what it uses is on this machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from keval.processes import environment, memory

LIBRARIES = ("claude-agent-sdk", "anthropic", "mcp", "duckdb", "jsonschema")
"""Libraries whose versions matter when something is odd."""

EXTRAS = {
    "plots": ("matplotlib", "the pictures of keval plot"),
    "ray": ("ray", "--executor ray, for agents that outgrow one machine"),
    "s3": ("s3fs", "keval push to s3://, and logs from there where DuckDB has no httpfs"),
    "vertex": ("google.auth", "models of Anthropic on Google Cloud"),
}
"""What can be installed in addition: a module by which it is known, and what it is for."""

KEYS = {"ANTHROPIC_API_KEY": "agents and judges that ask the service; --mock needs no key"}
"""Keys that a config uses unless it says otherwise, and what for."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that is there or not."""

    name: str
    found: str | None
    """Its version or place; None if it is not there. Of a key only that it is set."""
    about: str | None = None
    """What it is for, and what to do where it is not there."""
    needed: bool = False
    """Whether no command works without it."""


def parts(environ: Mapping[str, str]) -> Iterator[Part]:
    """Yield what is there and what is not. No key is read further than whether it is empty."""
    yield Part("keval", environment.keval_version(), str(Path(__file__).parents[1]))
    yield Part("python", platform.python_version(), sys.executable)
    yield Part("platform", platform.platform())
    for library in LIBRARIES:
        version = environment.version_of(library)
        yield Part(library, version, None if version else "a part of keval: install keval again", needed=True)
    yield Part("Claude Code", environment.claude_code(), "comes with claude-agent-sdk; the agent claude runs it")
    for extra, (module, purpose) in EXTRAS.items():
        installed = "installed" if _is_importable(module) else None
        yield Part(f"extra {extra}", installed, purpose if installed else f"{purpose}; pip install 'keval[{extra}]'")
    yield Part("bwrap", shutil.which("bwrap"), "bubblewrap: judges of the type code_execution run code in it")
    for key, purpose in KEYS.items():
        yield Part(key, "set" if environ.get(key) else None, purpose)
    if environ.get(environment.BASE_URL):
        yield Part(environment.BASE_URL, "set", "models are asked there, not at the service's own address")
    yield _temporary()
    yield Part("processors", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()))
    yield Part("memory", f"{memory.available() / 2**30:.1f} GiB", "free for this process")


def missing(found: Iterable[Part]) -> list[str]:
    """Return the names of the parts that are not there and that every command needs."""
    return [part.name for part in found if part.needed and part.found is None]


def _is_importable(module: str) -> bool:
    """Return whether a module is there, without running it; its package is imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _temporary() -> Part:
    try:
        place = tempfile.gettempdir()
        free = shutil.disk_usage(place).free
    except OSError as error:
        return Part("temporary files", None, f"{error}; set TMPDIR to a folder that can be written", needed=True)
    return Part("temporary files", place, f"{free / 2**30:.1f} GiB free; TMPDIR says where")
