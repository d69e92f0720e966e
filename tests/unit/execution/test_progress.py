from __future__ import annotations

import io

from keval.execution.progress import Progress, shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def worked() -> Progress:
    progress = Progress("generate")
    progress.plan("baseline", 2)
    for failed, cost in ((False, 0.5), (True, None)):
        progress.started("baseline")
        progress.ended("baseline")
        progress.finished("baseline", failed=failed, cost_usd=cost)
    return progress


def test_plain_output_is_one_line_per_stage() -> None:
    """Without a terminal the last state is one line that counts done, failed, cost and unknown cost."""
    out = io.StringIO()
    with shown(worked(), stream=out):
        pass
    assert out.getvalue() == "generate: baseline 1/2 done, 1 failed, $0.5000 + 1 of unknown cost\n"


def test_quiet_says_nothing() -> None:
    """--quiet writes nothing."""
    out = io.StringIO()
    with shown(worked(), quiet=True, stream=out):
        pass
    assert out.getvalue() == ""


def test_a_terminal_gets_a_table() -> None:
    """On a terminal each condition is a row with done, failed and cost."""
    out = Terminal()
    with shown(worked(), Progress("judge"), stream=out):
        pass
    assert "generate baseline" in out.getvalue()
    assert "1/2" in out.getvalue()


def test_names_are_not_markup() -> None:
    """A condition's name cannot style the terminal."""
    progress = Progress("generate")
    progress.finished("[bold]x", failed=False, cost_usd=0.0)
    out = Terminal()
    with shown(progress, stream=out):
        pass
    assert "[bold]x" in out.getvalue()
