from __future__ import annotations

import re

import pytest

from keval import errors
from keval.agents import AgentError
from keval.errors import EXIT_CODES, ItemError, KevalError
from keval.judges import JudgeError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, KevalError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_about_a_run_has_an_exit_code_with_a_meaning(kind: type[KevalError]) -> None:
    """No error ends the command with a code that the docs do not know."""
    assert kind.exit_code in EXIT_CODES


def test_each_kind_of_error_has_an_exit_code_of_its_own() -> None:
    """A script can tell the errors apart; the base, which nobody raises, is a bug."""
    codes = [kind.exit_code for kind in KINDS]
    assert len(set(codes)) == len(codes) >= 8
    assert KevalError.exit_code == 70


def test_the_picture_of_the_errors_is_right() -> None:
    """The tree at the top of the file names each kind with its code."""
    drawn = re.findall(r"[├└]── (\w+) +(\d+)", errors.__doc__ or "")
    assert {name: int(code) for name, code in drawn} == {
        kind.__name__: kind.exit_code for kind in KINDS if kind is not KevalError
    }


def test_an_error_tells_each_of_its_problems_on_a_line() -> None:
    """Several problems are kept apart, for whoever prints them one by one."""
    error = errors.InputError("a.jsonl:1: no", "a.jsonl:2: no")
    assert str(error).splitlines() == list(error.problems) == ["a.jsonl:1: no", "a.jsonl:2: no"]


@pytest.mark.parametrize("kind", [AgentError, JudgeError])
def test_an_error_about_an_item_never_ends_a_run(kind: type[ItemError]) -> None:
    """What an agent or a judge raises is no error about the run, and is tried again only if it says so."""
    assert not issubclass(kind, KevalError)
    error = kind("infra_error", "busy")
    assert (error.kind, error.message, str(error)) == ("infra_error", "busy", "busy")
    assert (error.retryable, error.retry_after_s, error.overloaded) == (False, None, False)
