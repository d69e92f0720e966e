from typing import Any

import pytest

from keval.judges import JudgeError
from keval.judges._sample_texts import sample_texts


@pytest.mark.parametrize(
    ("value", "texts"), [(None, ()), ("a", ("a",)), (42, ("42",)), (["a", " ", 1.5], ("a", "1.5")), ([], ())]
)
def test_a_field_holds_one_text_or_a_list(value: Any, texts: tuple[str, ...]) -> None:  # noqa: ANN401 - any JSON value
    """Numbers are texts, too; what is blank expects nothing."""
    assert sample_texts(value, "x") == texts


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]]])
def test_a_field_with_anything_else_is_the_datasets_mistake(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """The message names it."""
    with pytest.raises(JudgeError, match="'x' is neither a text nor a list of texts"):
        sample_texts(value, "x")
