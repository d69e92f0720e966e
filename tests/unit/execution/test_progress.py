from __future__ import annotations

import io

import pytest

from keval.execution.progress import Count, Progress, _table, shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def worked() -> Progress:
    progress = Progress("generate")
    progress.plan("baseline", 2)
    progress.started("baseline")
    progress.ended("baseline")
    progress.finished("baseline", costs_usd=[0.25])
    progress.failed_as("baseline", "timeout", "no answer\nwithin 600 s", costs_usd=[0.25, None])
    return progress


def test_plain_output_is_one_line_per_stage() -> None:
    """Without a terminal the last state is one line that counts done, failed, cost and unknown cost."""
    out = io.StringIO()
    with shown(worked(), stream=out):
        pass
    assert out.getvalue() == "generate: baseline 1/2 done, 1 failed, $0.5000 + 1 attempt of unknown cost\n"


def test_quiet_says_what_failed_and_nothing_else() -> None:
    """--quiet writes one line for each kind of failure in the end, and without failures nothing."""
    out = io.StringIO()
    with shown(worked(), Progress("judge"), quiet=True, stream=out):
        assert not out.getvalue()
    assert out.getvalue() == "generate: baseline: 1 failed: timeout: no answer within 600 s\n"


@pytest.mark.parametrize("made", [io.StringIO, Terminal])
def test_the_first_failure_of_each_kind_is_told_as_it_happens(made: type[io.StringIO]) -> None:
    """A kind that fails again, or in another row, is told once per row, with the cause of the first."""
    progress, out = Progress("generate"), made()
    with shown(progress, stream=out):
        progress.failed_as("with_server", "mcp_not_ready", "[bold]no 'fery.py'\x1b[2J", costs_usd=[0.0])
        progress.failed_as("with_server", "mcp_not_ready", "[bold]no 'fery.py'\x1b[2J", costs_usd=[0.0])
        progress.failed_as("with_server", "timeout", "late" * 200, costs_usd=[0.0])
        said = out.getvalue()
    assert "generate: with_server: mcp_not_ready: [bold]no 'fery.py'" in said
    assert "generate: with_server: timeout: late" in said
    assert said.count("fery.py") == 1
    assert "\x1b[2J" not in said
    assert said.count("late") < 80


def test_other_causes_of_a_kind_are_told_up_to_a_few() -> None:
    """One kind may have several causes; the name of a task's folder makes no other one."""
    progress, out = Progress("generate"), io.StringIO()
    with shown(progress, stream=out):
        for message in ("no /tmp/kvtask-a1/x", "no /tmp/kvtask-b2/x", "killed", "no memory", "late"):
            progress.failed_as("plain", "infra_error", message, costs_usd=[0.0])
        said = out.getvalue()
    assert [line.rpartition(": ")[2] for line in said.splitlines()[:3]] == [
        "no /tmp/kvtask-a1/x",
        "killed",
        "no memory",
    ]
    assert "late" not in said
    (line,) = progress.failure_lines()
    assert line == "generate: plain: 5 failed: infra_error: no /tmp/kvtask-a1/x (and 3 for other causes)"


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where TERM is dumb nothing moves the cursor."""
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    with shown(worked(), stream=out):
        pass
    assert out.getvalue() == "generate: baseline 1/2 done, 1 failed, $0.5000 + 1 attempt of unknown cost\n"


def test_of_two_commands_on_a_terminal_none_draws_a_table() -> None:
    """They would draw over each other; each says in a line how far it is."""
    out = Terminal()
    with shown(worked(), live=False, stream=out):
        pass
    assert out.getvalue() == "generate: baseline 1/2 done, 1 failed, $0.5000 + 1 attempt of unknown cost\n"


def test_a_terminal_gets_a_table() -> None:
    """On a terminal each condition is a row with done, failed and cost."""
    out = Terminal()
    with shown(worked(), Progress("judge"), stream=out):
        pass
    assert "generate baseline" in out.getvalue()
    assert "1/2" in out.getvalue()


def test_the_time_that_is_left_is_never_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when more has ended than was planned."""
    monkeypatch.setattr("time.monotonic", iter([0.0, 90.0, 90.0]).__next__)
    progress = Progress("generate")
    progress.plan("baseline", 2)
    progress.finished("baseline", costs_usd=[0.0])
    assert progress.left(progress.rows["baseline"]) == "1:30"
    for _ in range(2):
        progress.finished("baseline", costs_usd=[0.0])
    assert progress.left(progress.rows["baseline"]) == "0:00"


def test_names_are_not_markup() -> None:
    """A condition's name cannot style the terminal."""
    progress = Progress("generate")
    progress.finished("[bold]x", costs_usd=[0.0])
    out = Terminal()
    with shown(progress, stream=out):
        pass
    assert "[bold]x" in out.getvalue()


def test_a_row_may_begin_while_the_others_are_shown() -> None:
    """The thread that shows them would end with an error, and nothing would be shown any more."""

    class Growing(Count):
        @property
        def failed(self) -> int:
            progress.plan(f"row {len(progress.rows)}", 1)
            return super().failed

    progress = Progress("judge")
    progress.rows["first"] = Growing()
    assert progress.line() == "judge: first 0 done, $0.0000"
    known = len(progress.rows)
    assert _table([progress]).row_count == known < len(progress.rows)
