import pytest

from keval.judges import JudgeError
from keval.judges._patterns import compiled, is_in, limited

ENDLESS = r"^(?:a|a)*$"


def test_a_pattern_is_looked_for_anywhere() -> None:
    """As Python's `re.search` does."""
    assert is_in(r"(?i)B\d", "ab1")
    assert not is_in(r"\AB", "ab1")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", r"\1"])
def test_what_is_no_pattern_is_said_to_be_none(pattern: str) -> None:
    """With the text and the reason."""
    with pytest.raises(ValueError, match="is not a regular expression: "):
        compiled(pattern)


async def test_a_search_that_takes_too_long_is_an_error_of_the_judge() -> None:
    """It ends by itself, and the error says what makes searches long."""
    with pytest.raises(JudgeError, match=r"took longer than 2 s; repeats within repeats") as caught:
        await limited(lambda: compiled(ENDLESS).search("a" * 50 + "!", concurrent=True, timeout=0.02))
    assert caught.value.kind == "judge_error"


async def test_what_is_found_in_time_is_returned() -> None:
    """Whatever it is."""
    assert await limited(lambda: is_in("a", "ba"))
