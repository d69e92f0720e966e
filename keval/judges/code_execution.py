"""Runs the code of an answer against the sample's tests, and passes what passes them all.

For samples like HumanEval's: a prompt that ends where the function's body begins, tests that define `check(candidate)`
or call the function by its name, and the name of the function. The answer may be the body, the whole function or a
class, fenced or not, with prose around it; of several fenced blocks the one counts that defines the name, or the last.

The code runs in a process of its own that the tests do not share: it sees neither them nor what proves a pass. It has
no network, no environment, no files but Python's and those of its own folder, and limits on time, memory, processes and
file size, as far as the system offers that; `outcome.isolation` says what of it. bubblewrap is used where installed.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import orjson

from keval.errors import UsageError
from keval.judges import Case, Context, Judge, JudgeError, Judgment, Metric, Score
from keval.plugins import option
from keval.processes import program, temporary
from keval.secrets.excerpts import end_of

METRIC = Metric("code_execution", 0, 1, type="binary")

PARTS = ("_plain_values", "_code_in_answer", "_code_isolation", "_code_proxy", "_code_tester")
"""The files that the tester is made of, in the order in which they need each other."""

LOADER = """
import sys, types
for name, source in {sources!r}:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)
module.main()
"""
"""The tester as one program: nothing of keval has to be readable where it runs."""

NOBODY = 65534
"""The user that owns nothing; whoever is root becomes it."""

INSIDE = "/tmp"  # noqa: S108 - of the sandbox alone
"""Where code runs under bubblewrap."""

OUTPUT_BYTES = 1024 * 1024

EXCERPT = 500
"""Characters of stderr that an error quotes."""

NOT_ALLOWED = "runs code that the agent wrote; say allow_code_execution: true if it may"

NEEDED = ("network", "files")
"""What code must not have, unless the config says that it may."""

EXPOSED = (
    "would run code that has {left} of this user: the system refuses to take that away (it needs user namespaces and "
    "Landlock, or bubblewrap); say allow_weak_isolation: true if that is all right, as in a container of its own"
)

TRIAL_S = 30
"""Seconds that trying the isolation may take."""


@dataclass(frozen=True, kw_only=True)
class CodeExecution(Judge):
    """One metric, `code_execution`: 1 and passed when all tests pass, else 0."""

    deterministic: ClassVar[bool] = False
    needs_golden_answer: ClassVar[bool] = False

    allow_code_execution: bool = field(
        metadata=option(
            "that code which the agent wrote may be run here; nothing is judged without it",
            identity=False,
            example=True,
        )
    )
    allow_weak_isolation: bool = field(
        default=False,
        metadata=option(
            "that code may run here although this system lets it have the network or the user's files", identity=False
        ),
    )
    prompt_field: str = field(default="prompt", metadata=option("the sample's field with what the code completes"))
    test_field: str = field(default="test", metadata=option("the sample's field with the tests"))
    entry_point_field: str = field(
        default="entry_point", metadata=option("the sample's field with the function's name")
    )
    python: str | None = field(
        default=None,
        metadata=option("the Python that runs code and tests, with its packages; default: keval's, without"),
    )
    timeout_s: float = field(default=10.0, metadata=option("seconds that code and tests of one answer may take"))
    memory_mb: int = field(default=512, metadata=option("megabytes of memory that each process may take"))
    max_processes: int = field(default=32, metadata=option("processes and threads that the code may have"))
    max_file_mb: int = field(default=16, metadata=option("megabytes that a file may have which the code writes"))

    def __post_init__(self) -> None:
        """Raise UsageError with all that is wrong with the options."""
        problems = [
            f"{name}: {value} is not a number above 0"
            for name in ("timeout_s", "memory_mb", "max_processes", "max_file_mb")
            if not (math.isfinite(value := getattr(self, name)) and value > 0)
        ]
        if problems:
            raise UsageError(*problems)

    @property
    def sample_fields(self) -> tuple[str, ...]:
        """Prompt, tests, and the function's name."""
        return (self.prompt_field, self.test_field, self.entry_point_field)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The one metric."""
        return (METRIC,)

    def missing(self) -> str | None:
        """Return that nobody has allowed to run code, or to run it as badly shut in as it would be here."""
        if not self.allow_code_execution:
            return NOT_ALLOWED
        return None if self.allow_weak_isolation else self._exposed()

    def _exposed(self) -> str | None:
        """Return what code would not be kept from on this system."""
        prefix, command = self._started()
        lost = NEEDED if prefix else _isolation(tuple(command))
        if isinstance(lost, str):
            return f"cannot shut code in: {lost}"
        left = [name for name in NEEDED if name not in lost]
        return EXPOSED.format(left=" and ".join(f"the {name}" for name in left)) if left else None

    def _started(self) -> tuple[list[str], list[str]]:
        """Return the words with which bubblewrap is started, none without it, and those of the tester."""
        python, drop_to = (self.python, None) if self.python else _interpreter()
        prefix = _bubblewrap(_folder_of(python), drop_to)
        return prefix, self._command(python, None if prefix else drop_to)

    async def judge(self, case: Case, context: Context) -> Judgment:
        """Run the code."""
        if not self.allow_code_execution:
            raise JudgeError("code_refused", f"this judge {NOT_ALLOWED}")
        exposed = None if self.allow_weak_isolation else await asyncio.to_thread(self._exposed)
        if exposed is not None:
            raise JudgeError("code_refused", f"this judge {exposed}")
        prompt, test, entry_point = (case.sample[name] for name in self.sample_fields)
        if not test:
            return Judgment.outside(self.metrics, f"the sample has no {self.test_field!r}")
        if not isinstance(test, str):
            raise JudgeError("judge_error", f"the sample's {self.test_field!r} is not a text with tests")
        if not isinstance(entry_point, str) or not entry_point.isidentifier():
            raise JudgeError("judge_error", f"the sample's {self.entry_point_field!r} names no function to be tested")
        mark = secrets.token_hex(16)
        work = {
            "answer": case.text,
            "prompt": str(prompt or ""),
            "test": test,
            "entry_point": entry_point,
            "mark": mark,
        }
        prefix, command = await asyncio.to_thread(self._started)  # the first time it tries bubblewrap
        ended = await context.run(
            [*prefix, *command],
            stdin=json.dumps(work),  # with escapes: half a character of UTF-16 is no UTF-8
            limits=program.Limits(output_bytes=OUTPUT_BYTES, seconds=self.timeout_s),
        )
        return _judgment(ended, mark, bubblewrap=bool(prefix))

    def _command(self, python: str, drop_to: int | None) -> list[str]:
        settings = {
            "drop_to": drop_to,
            "readable": ["/usr", "/lib", "/lib64", "/bin", str(_folder_of(python))],
            "memory_bytes": self.memory_mb * 2**20,
            "file_bytes": self.max_file_mb * 2**20,
            "processes": self.max_processes,
            "seconds": self.timeout_s,
        }
        options = ["-I", "-B"] if self.python else ["-I", "-B", "-S"]
        return [python, *options, "-c", _tester(), json.dumps(settings)]


def _judgment(ended: program.Ended, mark: str, *, bubblewrap: bool) -> Judgment:
    """Return the judgment by what the tester has said. Raises JudgeError where tests or tester are at fault."""
    said = _said(ended.stdout)
    if said.get("mark") == mark:
        verdict, why = said["verdict"], said["why"]
    elif ended.exceeded is None:
        complained = end_of(ended.stderr.decode(errors="replace").strip(), EXCERPT)
        raise JudgeError("judge_error", f"the tests did not come to an end, {ended.how}: {complained}")
    else:
        verdict, why = "failed", f"exceeded {'timeout_s' if ended.exceeded == 'seconds' else 'the limit of output'}"
    if verdict == "broken":
        raise JudgeError("judge_error", f"the sample cannot be tested: {why}")
    passed = verdict == "passed"
    # What ran out of time was shut in like everything else, and could not say so any more.
    outcome = {"isolation": said.get("isolation"), "bubblewrap": bubblewrap}
    return Judgment({METRIC.name: Score(int(passed), why, passed=passed)}, outcome=outcome)


def _said(stdout: bytes) -> Mapping[str, Any]:
    lines = stdout.strip().splitlines()
    try:
        said = orjson.loads(lines[-1]) if lines else {}
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


@cache
def _tester() -> str:
    folder = Path(__file__).parent
    sources = [(f"keval.judges.{name}", (folder / f"{name}.py").read_text(encoding="utf-8")) for name in PARTS]
    return LOADER.format(sources=sources)


@cache
def _isolation(command: tuple[str, ...]) -> list[str] | str:
    """Return what the tester takes from code on this system, or why it cannot be started."""
    with temporary.folder() as folder:
        try:
            tried = subprocess.run(  # noqa: S603 - what every judgment starts
                command, input=b"null", capture_output=True, cwd=folder, env={}, check=False, timeout=TRIAL_S
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    lost = _said(tried.stdout).get("isolation")
    return lost if isinstance(lost, list) else end_of(tried.stderr.decode(errors="replace").strip(), EXCERPT)


@cache
def _folder_of(python: str) -> Path:
    """Return the folder with all that belongs to a Python."""
    return Path(python).resolve().parents[1]


@cache
def _interpreter() -> tuple[str, int | None]:
    """Return the Python that runs code, and which user to become: root's own Python may be readable by root alone."""
    own = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}"))
    if os.geteuid() != 0:
        return own, None
    for python in (own, "/usr/bin/python3", "/usr/local/bin/python3"):
        if Path(python).exists() and _is_for_all(Path(python).resolve().parents[1]):
            return python, NOBODY
    return own, None


def _is_for_all(folder: Path) -> bool:
    return all(each.stat().st_mode & 1 for each in (folder, *folder.parents))


@cache
def _bubblewrap(python_folder: Path, drop_to: int | None) -> list[str]:
    """Return the words before a command that has bubblewrap run it, as another user if one is given.

    Empty where it is not installed, or may not work.
    """
    bwrap, setpriv = shutil.which("bwrap"), shutil.which("setpriv")
    if bwrap is None or (drop_to is not None and setpriv is None):
        return []
    user = [setpriv, f"--reuid={drop_to}", f"--regid={drop_to}", "--clear-groups"] if drop_to and setpriv else []
    more = [] if python_folder.is_relative_to("/usr") else ["--ro-bind", str(python_folder), str(python_folder)]
    prefix = [
        *user, bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL",
        "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
        "--symlink", "usr/bin", "/bin", *more, "--proc", "/proc", "--dev", "/dev",
        "--size", str(64 * 2**20), "--tmpfs", INSIDE, "--chdir", INSIDE,
    ]  # fmt: skip
    tried = subprocess.run([*prefix, "/usr/bin/true"], capture_output=True, check=False, timeout=30)  # noqa: S603 - fixed words
    return prefix if tried.returncode == 0 else []
