"""Runs one command as a process of its own and says what it took: wall and CPU seconds, peak memory, how it failed.

Linux counts the peak of the process that starts a command as the command's own, so whoever measures has to stay
small: what needs memory, such as making a large log, is a process of its own too.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
KEVAL = (sys.executable, "-m", "keval")

PATIENCE_S = 1800.0
"""A command that takes longer is stopped, and counts as failed."""

NOT_INHERITED = {"PYTHONDONTWRITEBYTECODE"}
"""Variables of this process that commands do not get: without bytecode every start would compile keval anew."""

LONGEST_REASON = 120
"""Characters of the last line of stderr that are kept of a command that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one process took."""

    command: str
    """The command as a reader would type it: programs and scripts without the folders of this machine."""
    wall_s: float
    cpu_s: float
    """Of the process and of those of its children that it waited for."""
    peak_mib: float | None
    """Of the process, or of the largest of those children; None when it is below that of the process that measures."""
    failed: str | None
    """How it ended, if not with exit code 0."""

    def record(self) -> dict[str, object]:
        """Return the usage as fields of a raw result, without those that are None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def run(
    command: Sequence[str | Path],
    folder: Path,
    *,
    environ: Mapping[str, str] | None = None,
    output: Path | None = None,
    address_space: int | None = None,
) -> Usage:
    """Run a command in a folder and wait for it; stdout goes to `output`, or nowhere.

    `environ` is added to this process's variables; `address_space` limits the command, in bytes.
    """

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    words = [str(word) for word in command]
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryFile() as complaints, (output or Path(os.devnull)).open("wb") as stdout:
        began = time.perf_counter()
        process = subprocess.Popen(
            words, cwd=folder, env=inherited | dict(environ or {}), stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=complaints, preexec_fn=limit if address_space else None,  # noqa: PLW1509 - no other thread yet
        )  # fmt: skip
        stop = threading.Timer(PATIENCE_S, process.kill)
        stop.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
        stop.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        said = complaints.read().decode(errors="replace")
    return Usage(
        command=shown(words),
        wall_s=round(wall_s, 4),
        cpu_s=round(usage.ru_utime + usage.ru_stime, 4),
        peak_mib=round(usage.ru_maxrss / 1024, 1) if usage.ru_maxrss > own_peak else None,
        failed=_reason(process.returncode, said, folder) if process.returncode else None,
    )


def shown(words: Sequence[str]) -> str:
    """Return a command as a reader would type it in its folder."""
    if tuple(words[: len(KEVAL)]) == KEVAL:
        words = ["keval", *words[len(KEVAL) :]]
    words = ["python" if word == sys.executable else word for word in words]
    return shlex.join([Path(words[0]).name, *(word.removeprefix(f"{ROOT}{os.sep}") for word in words[1:])])


def _reason(code: int, said: str, folder: Path) -> str:
    last = "".join(said.strip().splitlines()[-1:]).replace(f"{folder}{os.sep}", "")
    return f"exit {code}: {last[:LONGEST_REASON]}"
