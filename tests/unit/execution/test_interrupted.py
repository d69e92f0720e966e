from __future__ import annotations

import pytest

from keval.errors import InterruptError
from keval.execution.interrupted import asking_afresh, in_pipe


@pytest.mark.parametrize(("fresh", "said"), [(False, "^cut$"), (True, "without --fresh keeps the new answers")])
def test_an_interrupted_fresh_run_is_told_that_it_cannot_go_on(*, fresh: bool, said: str) -> None:
    """The same command would ask, and pay, for the new answers once more."""
    with pytest.raises(InterruptError, match=said), asking_afresh(fresh=fresh):
        raise InterruptError("cut")


@pytest.mark.parametrize(("mock", "option"), [(False, ""), (True, " --mock")])
def test_what_goes_on_with_an_interrupted_pipe_is_told(mock: bool, option: str) -> None:
    """The same command would begin anew; of a rehearsal the commands that are named cost nothing either."""
    rest = f"`keval generate CONFIG -o LOG{option}` and `keval judge LOG{option}` do the rest"
    with pytest.raises(InterruptError) as told, in_pipe(mock=mock):
        raise InterruptError("interrupted")
    assert str(told.value) == f"interrupted; if stdout was saved as LOG, {rest}"
