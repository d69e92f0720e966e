from pathlib import Path

import pytest

from keval import projections
from keval.ids import JsonObject
from keval.reports import builder
from tests.builders import judge_entry, judgment_event, response_event, run_event, write_log

USAGE = {
    "input_tokens": 10, "output_tokens": 10, "cache_read_input_tokens": 9_000, "cache_creation_input_tokens": 1_000,
}  # fmt: skip
OWN = {"input": 100, "output": 1, "cache_read": 0, "cache_write_5m": 100}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "read", "written", "said"),
    [
        ("claude-opus-5", 9_000, 1_000, "served 18,000 input tokens, which saved $0.0785 by list prices"),
        (
            "claude-opus-5",
            0,
            1_000,
            "kept 2,000 input tokens and served none of them, and writing to it cost $0.0025 more",
        ),
        ("claude-opus-5", 9_000, None, "served 18,000 input tokens; what that saved is unknown"),
        ("own-model", 9_000, 1_000, "served 18,000 input tokens; what that saved is unknown"),
        ("claude-opus-5", 0, 0, None),
    ],
)
def test_a_report_says_what_the_prompt_cache_saved(
    model: str, read: int, written: int | None, said: str | None, tmp_path: Path
) -> None:
    """Tokens, and dollars where the prices are known; a judge without cached prompts is not mentioned."""
    usage = {
        "input_tokens": 10, "output_tokens": 10,
        "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
    }  # fmt: skip
    responses = [response_event("q1"), response_event("q2")]
    judge = {"name": "j", "type": "rubric", "model": model}
    judgments = [judgment_event(response, usage=usage, judge=judge) for response in responses]
    found = noted(tmp_path, [run_event(), *responses, *judgments])
    assert (said is None) == (not found)
    assert said is None or said in found[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "prices", "said"),
    [
        (["claude-opus-5", "claude-opus-4-8"], None, "which saved $0.0393 by list prices"),
        (["claude-opus-5", "claude-sonnet-5"], None, "what that saved is unknown"),
        (["claude-opus-5", "claude-sonnet-5"], [OWN, OWN], "which saved $0.9000 by list prices"),
        (["claude-opus-5", "claude-opus-4-8"], ["odd", OWN], "which saved $0.0393 by list prices"),
    ],
)
def test_what_several_models_saved_is_known_if_they_have_one_price(
    models: list[str], prices: list[object] | None, said: str, tmp_path: Path
) -> None:
    """The config's prices come before those shipped; of prices that are none, the shipped ones count."""
    response = response_event("q1")
    judgment = judgment_event(response, usage=USAGE, judge={"name": "j", "type": "jury", "model": ", ".join(models)})
    entry = judge_entry() | {"name": "j", "type": "jury", "model": ", ".join(models), "models": models}
    config = {"name": "n", "prices": dict(zip(models, prices, strict=True))} if prices else {"name": "n"}
    (found,) = noted(tmp_path, [run_event(judges=[entry], config=config), response, judgment])
    assert said in found


@pytest.mark.slow
def test_prices_that_the_newest_config_no_longer_gives_do_not_count(tmp_path: Path) -> None:
    """Without prices of its own it is charged by those shipped."""
    response = response_event("q1")
    judge = {"name": "j", "type": "rubric", "model": "claude-opus-5"}
    before = run_event(config={"name": "n", "prices": {"claude-opus-5": OWN}})
    (found,) = noted(
        tmp_path,
        [before, run_event(config={"name": "n"}), response, judgment_event(response, usage=USAGE, judge=judge)],
    )
    assert "which saved $0.0393 by list prices" in found


def noted(folder: Path, events: list[JsonObject]) -> list[str]:
    """Return what a report of some events says of the prompt cache."""
    with projections.connect([write_log(folder / "log.jsonl", events)]) as connection:
        return [note for note in builder.compose(connection).notes if "prompt cache" in note]
