import pytest

from keval.models.model_options import ModelOptions


@pytest.mark.parametrize(
    ("model", "prompt_cache", "is_kept"),
    [("claude-opus-5", None, True), ("own-model", None, False), ("claude-opus-5", False, False), ("own", True, True)],
)
def test_prompts_are_kept_where_the_price_of_that_is_known(
    model: str, prompt_cache: bool | None, *, is_kept: bool
) -> None:
    """Unless the option says so or not."""
    assert ModelOptions(prompt_cache=prompt_cache).settings_of(model).prompt_cache is is_kept


def test_all_that_is_wrong_is_said() -> None:
    """The service's problems, too; each begins with the option's name."""
    problems = ModelOptions(base_url="x", max_tokens=0, timeout_s=float("nan")).model_problems()
    assert [problem.partition(":")[0] for problem in problems] == ["base_url", "max_tokens", "timeout_s"]
