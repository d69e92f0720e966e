"""One log of the benchmark of kills: starts commands over it, kills them, and compares the bill with the log."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks.ordeal import GENERATE, JUDGE, WHOLE, Bill, Kill, Ordeal, Outcome
from keval.mock import Mock
from keval.processes import environment

LATENCY_MS = 20.0
"""How long the service takes for each message, so that a kill meets some of them on their way."""

LOOK_EVERY_S = 0.002
"""How often the log is looked at for the moment to kill."""

PATIENCE_S = 120.0
"""When a command or its orphans take longer, something is stuck."""

TEAR_SHARE = 0.25
"""In this share of the kills the last line is cut off too."""


class StuckError(RuntimeError):
    """A command did not do what it is there for."""


@dataclass
class Watched:
    """A log that others write to, read on as it grows."""

    path: Path
    lines: int = 0
    answers: int = 0
    judgments: int = 0
    _read: int = 0

    def look(self) -> None:
        """Count the whole lines that came since."""
        if not self.path.exists():
            return
        with self.path.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        self.lines += whole.count(b"\n")
        self.answers += whole.count(b'{"type":"response"')
        self.judgments += whole.count(b'{"type":"judgment"')

    def cut(self, size: int) -> None:
        """Cut the log off and count anew."""
        os.truncate(self.path, size)
        self.lines = self.answers = self.judgments = self._read = 0
        self.look()


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: as soon as so much has come of what is watched, and a little later."""

    what: str
    amount: float
    later_s: float


class Lane:
    """One log, its service, and the commands that are killed over it."""

    def __init__(self, ordeal: Ordeal, folder: Path) -> None:
        self.ordeal = ordeal
        self.folder = folder
        self.repetitions = ordeal.repetitions
        ordeal.write(folder, self.repetitions)
        self.service = Mock(latency_ms=LATENCY_MS, keep=0)
        self.log = Watched(folder / "run.jsonl")
        self.torn: set[bytes] = set()
        self._random = random.Random(ordeal.seed)  # noqa: S311 - moments, not secrets
        self._starts_s = [1.0]
        self._lost = Bill(0, 0)

    def go_through(self) -> Outcome:
        """Kill as often as planned, let the same command end, and compare with an undisturbed run."""
        began = time.monotonic()
        kills: list[Kill] = []
        with self.service:
            while len(kills) < self.ordeal.kills:
                if not self._left():
                    self._add_work()
                kill = self._kill_once(self.ordeal.kills - len(kills))
                if kill is not None:
                    kills.append(kill)
            finished = self._finish(self.folder, self.service)
            paid = paid_to(self.service)
        seconds = time.monotonic() - began
        reference = self.folder / "undisturbed"
        self.ordeal.write(reference, self.repetitions)
        with Mock(keep=0) as undisturbed:
            self._finish(reference, undisturbed)
            undisturbed_paid = paid_to(undisturbed)
        return Outcome(
            kills=kills,
            tasks=self._tasks,
            seconds=seconds,
            events=finished,
            undisturbed=events(reference / "run.jsonl"),
            paid=paid,
            undisturbed_paid=undisturbed_paid,
            torn=self.torn,
            log=self.log.path,
        )

    @property
    def _tasks(self) -> int:
        return self.ordeal.tasks(self.repetitions)

    def _left(self) -> int:
        """Return how many events are still to come."""
        return 2 * self._tasks - self.log.answers - self.log.judgments

    def _add_work(self) -> None:
        """Ask for one more repetition: on a slow machine a kill can come so late that little is left for the next."""
        self.repetitions += 1
        self.ordeal.write_config(self.folder, self.repetitions)

    def _has_work(self, commands: tuple[tuple[str, ...], ...]) -> bool:
        """Return whether none of the commands would find everything done; a log without a line names no judge yet."""
        to_do = {WHOLE: 1, GENERATE: self._tasks - self.log.answers, JUDGE: self.log.answers - self.log.judgments}
        return all(to_do[command] > 0 for command in commands)

    def _kill_once(self, kills_left: int) -> Kill | None:
        """Start a command, kill it in the middle, and return what that cost; None if it had ended before."""
        commands = self._random.choice([each for each in self.ordeal.commands if self._has_work(each)])
        moment = self._moment(commands, self._left() / kills_left)
        before = self.log.lines
        processes = [self._start(command) for command in commands]
        alive = self._wait_for(moment, processes)
        self._random.shuffle(processes)
        for process in processes:
            process.send_signal(signal.SIGKILL)
        for process in processes:
            self._check(process)
        orphans_s = self._wait_for_orphans()
        if not alive:
            self.log.look()
            return None
        torn = self._tear(before)
        return self._reckon(commands, moment, torn=torn, orphans_s=orphans_s)

    def _moment(self, commands: tuple[tuple[str, ...], ...], most: float) -> Moment:
        """Draw a moment: on the way to the first event, or after some events, judgments or requests."""
        names = {command[0] for command in commands}
        kinds = ["start", "lines", "lines"]
        kinds += ["judgments", "requests"] if names != {"generate"} else []
        kind = self._random.choice(kinds)
        if kind == "start":
            return Moment(kind, self._random.random() * median(self._starts_s), 0.0)
        amount = self._random.randint(1, max(1, round(most / (1 if kind == "lines" else 2))))
        return Moment(kind, amount, self._random.choice([0.0, self._random.uniform(0.0, 0.03)]))

    def _start(self, command: tuple[str, ...]) -> subprocess.Popen[str]:
        with (self.folder / f"{command[0]}.stderr").open("w") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "keval", *command],
                cwd=self.folder, env=self._env(self.folder, self.service), stdout=subprocess.DEVNULL, stderr=stderr,
                text=True,
            )  # fmt: skip

    def _env(self, folder: Path, service: Mock) -> dict[str, str]:
        local = {"TMPDIR": str(folder / "scratch"), "NO_PROXY": "127.0.0.1,localhost"}
        return environment.allowed(os.environ) | service.env | local

    def _wait_for(self, moment: Moment, processes: list[subprocess.Popen[str]]) -> bool:
        """Wait for the moment; returns whether any of the processes is still there to be killed."""
        began, before = time.monotonic(), self._amounts(0.0)
        seen = before["lines"]
        while any(process.poll() is None for process in processes):
            elapsed = time.monotonic() - began
            now = self._amounts(elapsed)
            if now["lines"] > seen == before["lines"]:
                self._starts_s.append(elapsed)
            seen = now["lines"]
            if now[moment.what] - before[moment.what] >= moment.amount:
                time.sleep(moment.later_s)
                return any(process.poll() is None for process in processes)
            if elapsed > PATIENCE_S:
                raise StuckError(f"{moment} never comes: {self._said()}")
            time.sleep(LOOK_EVERY_S)
        return False

    def _amounts(self, elapsed_s: float) -> Mapping[str, float]:
        self.log.look()
        requests = sum(self.service.requests.by_kind.values())
        return {"start": elapsed_s, "lines": self.log.lines, "judgments": self.log.judgments, "requests": requests}

    def _check(self, process: subprocess.Popen[str]) -> None:
        """Raise StuckError for a command that failed by itself, such as one that a lock keeps out."""
        if process.wait() not in (0, -signal.SIGKILL):
            raise StuckError(f"{process.args!r}: exit {process.returncode}: {self._said()}")

    def _said(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.stderr")))

    def _wait_for_orphans(self) -> float:
        began = time.monotonic()
        while of_service(self.service.base_url):
            if time.monotonic() - began > PATIENCE_S:
                raise StuckError("processes of a killed command never end")
            time.sleep(0.01)
        return time.monotonic() - began

    def _tear(self, lines_before: int) -> bool:
        """Cut the last line off, if it is a new one and it is drawn so."""
        self.log.look()
        if self.log.lines == lines_before:
            return False
        text = self.log.path.read_bytes()
        if not text.endswith(b"\n"):  # the kill itself came in the middle of a write
            self.torn.add(text.rpartition(b"\n")[2])
            return True
        if self._random.random() >= TEAR_SHARE:
            return False
        begins = text.rfind(b"\n", 0, -1) + 1
        cut = self._random.randint(begins, len(text) - 1)
        self.log.cut(cut)
        if begins < cut < len(text) - 1:  # without its newline only, a line is whole
            self.torn.add(text[begins:cut])
        return cut < len(text) - 1

    def _reckon(self, commands: tuple[tuple[str, ...], ...], moment: Moment, *, torn: bool, orphans_s: float) -> Kill:
        settle(self.service)
        paid = paid_to(self.service)
        lost = Bill(paid.answers - self.log.answers, paid.judgments - self.log.judgments)
        names = [command[0] for command in commands]
        asking = sum(name in ("run", "generate") for name in names)
        judging = sum(name in ("run", "judge") for name in names)
        kill = Kill(
            commands="+".join(names),
            when=f"{moment.what} {moment.amount:.2g} + {1000 * moment.later_s:.0f} ms",
            lost=Bill(
                (lost.answers - self._lost.answers) * self.ordeal.paid_agent, lost.judgments - self._lost.judgments
            ),
            allowed=Bill(self.ordeal.at_once * asking + torn, self.ordeal.at_once * judging + torn),
            torn=torn,
            orphans_s=orphans_s,
        )
        self._lost = lost
        return kill

    def _finish(self, folder: Path, service: Mock) -> list[dict[str, Any]]:
        """Run the command to its end and return the events of its log."""
        done = subprocess.run(
            [sys.executable, "-m", "keval", *WHOLE], cwd=folder, env=self._env(folder, service),
            capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
        if done.returncode:
            raise StuckError(f"exit {done.returncode}: {done.stderr}")
        return events(folder / "run.jsonl")


def events(log: Path) -> list[dict[str, Any]]:
    """Return the events of a log."""
    return [json.loads(line) for line in log.read_bytes().split(b"\n") if line]


def paid_to(service: Mock) -> Bill:
    """Return what a service gave for money; an agent that is a program is answered that nothing is known."""
    given = service.requests.by_kind
    return Bill(given.get("no_information", 0), given.get("judgment", 0))


def settle(service: Mock) -> None:
    """Wait until everything that was on its way to the service has been counted.

    A message of our own is answered after all that came before it, since all take the same time.
    """
    counted = Bill(-1, -1)
    while counted != (now := paid_to(service)):
        counted = now
        body = {
            "model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        }  # fmt: skip
        connection = http.client.HTTPConnection(service.base_url.removeprefix("http://"), timeout=30)
        connection.request("POST", "/v1/messages", json.dumps(body), {"x-api-key": "any"})
        connection.getresponse().read()
        connection.close()


def of_service(url: str) -> list[psutil.Process]:
    """Return the living processes, other than this one, that were told of a service."""
    return [process for process in psutil.process_iter() if process.pid != os.getpid() and _was_told(process, url)]


def _was_told(process: psutil.Process, url: str) -> bool:
    try:
        told = process.environ()
        alive = process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return False  # it ended while it was looked at, or is somebody else's
    return alive and url in (told.get("ANTHROPIC_BASE_URL"), told.get("SERVICE"))
