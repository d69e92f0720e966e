from keval.judges import Metric, _rubrics
from keval.judges._rubric_texts import asks_for_claims, reply_schema, system_prompt


def test_the_system_prompt_holds_every_text_of_the_rubric() -> None:
    """Role, questions, notes and levels all reach the model, each level beside its score."""
    methodology = _rubrics.load(_rubrics.METHODOLOGY)
    prompt = system_prompt(methodology)
    assert prompt.startswith(methodology["instructions"])
    for metric in methodology["metrics"]:
        assert metric["question"] in prompt
        assert metric.get("note", "") in prompt
        for score, text in metric["levels"].items():
            assert f"- {score}: {text}" in prompt
    assert "unverified claim" in prompt
    assert "Do not penalize the response for including additional context" in prompt


def test_the_reply_schema_asks_for_reasons_before_the_score() -> None:
    """The order of properties is the order of writing; nothing else is allowed, nothing is optional."""
    schema = reply_schema([Metric("tone", 0, 2)])
    assert list(schema["properties"]) == ["tone", "unverified_claims"]
    tone = schema["properties"]["tone"]
    assert list(tone["properties"]) == ["reasoning", "score"]
    assert tone["properties"]["score"] == {"type": "integer", "enum": [0, 1, 2]}
    for strict in (schema, tone):
        assert strict["required"] == list(strict["properties"])
        assert strict["additionalProperties"] is False


def test_a_continuous_score_is_one_of_the_hundredths_of_its_scale() -> None:
    """Structured output knows no bounds, so each allowed number is listed; nothing outside can be replied."""
    score = reply_schema([Metric("share", 0, 1, type="continuous")])["properties"]["share"]["properties"]["score"]
    assert (score["type"], len(score["enum"]), score["enum"][0], score["enum"][29], score["enum"][-1]) == (
        "number", 101, 0, 0.29, 1,
    )  # fmt: skip


def test_lists_are_asked_for_before_reasoning_and_score() -> None:
    """What was found is written down before it is weighed."""
    lists = {"share": {"lists": ["right", "wrong"], "share": None}}
    schema = reply_schema([Metric("share", 0, 1, type="continuous")], lists, claims=False)
    assert list(schema["properties"]) == ["share"]
    assert list(schema["properties"]["share"]["properties"]) == ["right", "wrong", "reasoning", "score"]


def test_lists_and_their_share_are_explained() -> None:
    """The model knows what each list holds, and how the score follows."""
    prompt = system_prompt(_rubrics.load(_rubrics.shipped()["instruction_following"]))
    assert "- `instructions_violated`: instructions that it does not follow" in prompt
    assert "the share of `instructions_followed` plus half of `instructions_partially_met` among all items" in prompt
    assert "unverified_claims" not in prompt


def test_a_prompt_speaks_only_of_the_texts_that_are_given() -> None:
    """A judge that is told of a golden answer it does not see would make one up."""
    prompt = system_prompt(_rubrics.load(_rubrics.shipped()["groundedness"]))
    assert "The question, what the agent's tools returned and the answer stand each" in prompt
    assert "those of what the tools returned" in prompt


def test_unverified_claims_need_a_golden_answer_and_no_lists_of_the_rubrics_own() -> None:
    """Claims that the golden answer does not confirm cannot be found without it."""
    assert asks_for_claims(["golden_answer", "answer"], {})
    assert not asks_for_claims(["question", "answer"], {})
    assert not asks_for_claims(["golden_answer", "answer"], {"share": {}})
