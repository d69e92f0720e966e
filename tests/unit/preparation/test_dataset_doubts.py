from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.ids import JsonObject
from keval.preparation.dataset_doubts import MOST_PAIRED, doubts
from tests.conftest import Keval


def sample(sample_id: str, question: str | list[str], answer: str | None = "It is so.", **fields: object) -> JsonObject:
    return {"id": sample_id, "question": question, "answer": answer, **fields}


def told(*samples: JsonObject) -> list[str]:
    return list(doubts(samples))


def test_a_sound_dataset_raises_no_doubt() -> None:
    """Different questions, in any language, without golden answers too."""
    assert told(
        sample("a", "Wie heißt die Hauptstadt Österreichs?", "Wien"),
        sample("b", "Какая столица?", "Москва"),
        sample("c", "What is Δx in µm, “roughly”? 👩\u200d🔬", None),
    ) == []  # fmt: skip


def test_the_same_question_is_found_whatever_its_case_and_spaces() -> None:
    """It is told whether the golden answers differ, which no agent can do right."""
    first = sample("a", "What is it?")
    assert told(first, sample("b", "what  IS it?")) == ["the same question: a and b"]
    assert told(first, sample("b", "What is it?", "Not so.")) == [
        "the same question: a and b, whose golden answers differ"
    ]


def test_nearly_the_same_question_is_found() -> None:
    """A typing error makes no other question; another number does."""
    question = "How many judgments does the judge make of each response?"
    assert told(sample("a", question), sample("b", question.replace("each", "eech"))) == [
        "nearly the same question: a and b"
    ]
    assert told(sample("a", f"{question} (12)"), sample("b", f"{question} (13)")) == []


@pytest.mark.parametrize(
    "change", [lambda text: text + "!", lambda text: "O" + text, lambda text: text[:20] + text[21:]]
)
def test_in_a_large_dataset_neighbours_are_compared(change: object) -> None:
    """More questions than can all be compared: what begins alike, ends alike or has the same words stands together."""
    assert callable(change)
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(MOST_PAIRED + 200)]
    questions = [f"{word * 4} or {word[::-1] * 4} what {word}" for word in words]
    samples = [sample(str(n), question) for n, question in enumerate(questions)]
    assert "nearly the same question: 7 and x" in told(*samples, sample("x", change(questions[7])))


def test_an_answer_in_its_question_is_found() -> None:
    """As whole words, and long enough to be no chance."""
    assert told(sample("a", "Is Paris the capital?", "paris")) == ["the golden answer stands in the question: a"]
    assert told(sample("a", "Is Parisian an adjective?", "Paris"), sample("b", "Is A right?", "A")) == []


def test_fields_without_a_value_are_named() -> None:
    """Empty texts, lists and objects, also within objects; a dataset without golden answers is no mistake."""
    assert told(sample("a", "One?", None, category=" ", metadata={"level": None, "tags": []})) == [
        "category is empty: a", "metadata.level is empty: a", "metadata.tags is empty: a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("in\u00advisible", "invisible characters"),
        ("zero\u200bwidth", "invisible characters"),
        ("p\u0430ypal", "letters of another alphabet that look like Latin ones"),
        ("caf\u00c3\u00a9", "text that was read in a wrong encoding"),
        ("it\u00e2\u20ac\u2122s", "text that was read in a wrong encoding"),
        ("\ufffd", "text that was read in a wrong encoding"),
        ("cafe\u0301", "text that is not in Unicode's normal form NFC"),
    ],
)
def test_trouble_with_characters_is_found(text: str, what: str) -> None:
    """In the question as in the answer, each by its name."""
    assert told(sample("a", f"Is it {text}?")) == [f"{what}: a"]
    assert told(sample("a", "Is it?", text)) == [f"{what}: a"]


def test_a_doubt_names_a_few_and_counts_the_rest() -> None:
    """A thousand empty fields are one line, on which nothing can act on a terminal."""
    assert told(*(sample(f"s{n}\x1b", f"{n}?", note="") for n in range(7))) == [
        "note is empty: s0\\x1b, s1\\x1b, s2\\x1b, s3\\x1b, s4\\x1b, and 2 more"
    ]


def test_check_warns_and_refuses_nothing(keval: Keval, tmp_path: Path) -> None:
    """A dataset with doubts is checked to the end, with exit code 0."""
    rows = [{"id": name, "question": "Is it so?", "answer": "yes"} for name in ("a", "b")]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "eval.yaml").write_text(
        "name: t\ndataset: {path: questions.jsonl}\nagent: {type: echo}\n"
        'conditions: {plain: {system_prompt: "Answer."}}\njudge: {type: exact_match}\n'
    )
    done = keval("check", "eval.yaml")
    assert (done.returncode, done.stderr) == (0, "keval: the same question: a and b\n")


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_any_text_can_be_looked_at(questions: list[str]) -> None:
    """Whatever characters there are, looking at them fails never."""
    told(*(sample(str(n), question, question) for n, question in enumerate(questions)))


def test_a_question_of_several_messages_is_looked_at_as_a_whole() -> None:
    """The same messages are the same question, and an answer may stand in any of them."""
    told_of = told(sample("a", ["What?", "It is so. Why?"]), sample("b", ["what?", "It is SO. Why?"], "Not at all."))
    assert told_of == [
        "the same question: a and b, whose golden answers differ",
        "the golden answer stands in the question: a",
    ]
