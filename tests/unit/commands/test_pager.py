"""What a terminal gets page by page, and a pipe at once."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import response_event, run_event, write_log


def on_terminal(log: Path, **environment: str) -> str:
    """Return what a terminal of 80 columns shows of `keval show`."""
    main, side = pty.openpty()
    script = "import fcntl,struct,termios; fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))"
    command = f'{sys.executable} -c "{script}"; {sys.executable} -m keval show {log}'
    environ = {**os.environ, "TERM": "xterm", "PAGER": "sed s/^/paged:/", **environment}
    with subprocess.Popen(
        ["sh", "-c", command], stdin=side, stdout=side, stderr=subprocess.PIPE, env=environ
    ) as process:
        os.close(side)
        shown = b""
        try:
            while part := os.read(main, 4096):
                shown += part
        except OSError:  # the terminal's other side is closed
            pass
        assert process.wait() == 0, process.stderr.read() if process.stderr else ""
    os.close(main)
    return shown.decode()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [run_event(), response_event(text="word " * 30)]
    return write_log(tmp_path_factory.mktemp("log") / "run.jsonl", events)


@pytest.mark.slow
def test_a_terminal_gets_a_pager(log: Path) -> None:
    """The pager writes to the terminal, though keval's own stdout is another descriptor."""
    shown = on_terminal(log)
    assert "paged:\x1b[1mq1 · baseline" in shown
    assert all(len(line.removeprefix("paged:")) <= 80 for line in shown.splitlines()[3:])


@pytest.mark.slow
def test_a_dumb_terminal_and_a_missing_pager_get_plain_text(log: Path) -> None:
    """TERM=dumb means no pager and no escape codes; a pager that is not there, or is no command, is done without."""
    for environment in ({"TERM": "dumb"}, {"PAGER": "no-such-pager"}, {"PAGER": "less '"}):
        shown = on_terminal(log, **environment)
        assert "paged:" not in shown
        assert "Question" in shown
        assert ("\x1b" in shown) == ("PAGER" in environment)


@pytest.mark.slow
def test_who_leaves_the_pager_has_seen_enough(log: Path) -> None:
    """A pager that ends at once is no error."""
    assert on_terminal(log, PAGER="true") == ""


def test_into_a_pipe_goes_utf_8_and_no_pager(log: Path) -> None:
    """Whatever the shell says of its encoding and its pager."""
    for pager in ("less '", " "):
        environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PAGER": pager}
        command = [sys.executable, "-m", "keval", "show", str(log)]
        shown = subprocess.run(command, capture_output=True, env=environ, check=True).stdout
        assert "q1 · baseline" in shown.decode()
