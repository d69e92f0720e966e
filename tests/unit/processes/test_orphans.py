"""Which processes are taken for orphans."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOOKS_WHILE_PROGRAMS_BEGIN_AND_END = """
import os, subprocess, threading
from keval.processes.orphans import adopted

def look():
    while not is_done.is_set():
        adopted.look("a task")

adopted.begin()
adopted.begin_task("a task")
adopted.begin_task("another task")
marked = {**os.environ, "KEVAL_TASK": "another task"}
command = ["sh", "-c", "exec sh -c 'exit 7'"]
is_done = threading.Event()
looking = threading.Thread(target=look)
looking.start()
statuses = []
for _ in range(100):
    started = [subprocess.Popen(command, env=marked, start_new_session=True) for _ in range(8)]
    statuses += [process.wait() for process in started]
is_done.set()
looking.join()
print(set(statuses))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process the orphans below it")
def test_a_program_that_begins_or_ends_is_no_orphan() -> None:
    """Its environment cannot be read for a moment; who started it, not we, is told how it ended."""
    program = [sys.executable, "-c", LOOKS_WHILE_PROGRAMS_BEGIN_AND_END]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "{7}\n", done.stderr
