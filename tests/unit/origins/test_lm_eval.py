"""Samples of lm-evaluation-harness become answers and scores, written ones and choices."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from keval.errors import InputError
from keval.ids import JsonObject
from keval.origins.lm_eval import SCORED_TOGETHER, LmEval
from tests.origins import lm_eval_answer, lm_eval_choice, lm_eval_file


def test_filters_of_one_answer_stand_beside_each_other(tmp_path: Path) -> None:
    """Each is a metric of its own; what has no known scale is left out and named."""
    rows = [lm_eval_answer(place, ["It is 72"], used, score)
            for used, score in (("strict", 0.0), ("flexible", 1.0)) for place in (0, 1)]  # fmt: skip
    path = lm_eval_file(tmp_path, rows)
    assert LmEval().fits(path.read_bytes()[:4096])
    found = LmEval().read(path)
    records = list(found.rows())
    assert list(found.metrics) == ["exact_match,strict", "exact_match,flexible"]
    assert [[each[place] for place in found.metrics.values()] for each in records] == [[0.0, 1.0]] * 2
    assert (records[0]["question"], records[0]["answer"], records[0]["text"]) == ("Question 0", "72", "It is 72")
    assert (found.name, records[0]["condition"]) == ("gsm8k", "my__model")
    assert found.left_out == ["no scale is known of: bytes,strict, bytes,flexible"]


def test_rows_of_older_versions_name_neither_filters_nor_metrics(tmp_path: Path) -> None:
    """What is a number is a metric, and rows of one document with the same answers are of its filters."""
    rows = [lm_eval_answer(place, ["It is 72"], "x", score) for score in (0.0, 1.0) for place in (0, 1)]
    for row in rows:
        del row["filter"], row["metrics"]
    both, one, other = (tmp_path / name for name in ("both", "one", "other"))
    for folder in (both, one, other):
        folder.mkdir()
    found = LmEval().read(lm_eval_file(both, rows))
    assert list(found.metrics) == ["exact_match,filter 1", "exact_match,filter 2"]
    assert [[each[place] for place in found.metrics.values()] for each in found.rows()] == [[0.0, 1.0]] * 2
    assert list(LmEval().read(lm_eval_file(one, rows[:2])).metrics) == ["exact_match"]
    for name, value in (("resps", [["It is 73"]]), ("doc", {"q": "of another task"}), ("target", "73")):
        (other / name).mkdir()
        with pytest.raises(InputError, match="doc_id 0 is there twice"):
            LmEval().read(lm_eval_file(other / name, [*rows[:2], rows[2] | {name: value}, rows[3]]))


def test_repeats_are_repetitions_of_which_the_first_has_the_score(tmp_path: Path) -> None:
    """The harness scores them as one."""
    found = LmEval().read(lm_eval_file(tmp_path, [lm_eval_answer(0, ["a", "b"], "none", 1.0)]))
    assert [(each["repetition"], each["text"], each["score_0"]) for each in found.rows()] == [
        (1, "a", 1.0), (2, "b", SCORED_TOGETHER)
    ]  # fmt: skip


def test_two_answers_to_one_document_are_not_mixed(tmp_path: Path) -> None:
    """Files of two tasks that were put together have the same numbers."""
    rows = [lm_eval_answer(0, [said], "none", score) for said, score in (("a", 1.0), ("b", 0.0))]
    with pytest.raises(InputError, match="doc_id 0 is there twice"):
        LmEval().read(lm_eval_file(tmp_path, rows))


def test_the_likeliest_choice_is_the_answer(tmp_path: Path) -> None:
    """Golden answer and answer are texts of choices, not their places."""
    found = LmEval().read(
        lm_eval_file(tmp_path, [lm_eval_choice(0, 1, [-3.0, -1.0, -2.0]), lm_eval_choice(1, 0, [-3.0, -1.0, -2.0])])
    )
    assert [(each["text"], each["answer"], each["score_0"]) for each in found.rows()] == [
        ("B", "B", 1.0),
        ("B", "A", 0.0),
    ]


def asked(likely: list[float], requests: list[tuple[str, str]], **fields: object) -> dict[str, object]:
    """Return a row of texts whose likelihood was asked for, each after a context."""
    arguments = {f"gen_args_{place}": dict(zip(("arg_0", "arg_1"), pair, strict=True))
                 for place, pair in enumerate(requests)}  # fmt: skip
    row = {"doc_id": 0, "doc": {"n": 1}, "arguments": arguments, "resps": [[[str(each), "False"]] for each in likely]}
    return row | {"filter": "none", "metrics": ["acc"], "acc": 1.0} | fields


def test_choices_that_differ_in_their_context_are_told_apart_by_it(tmp_path: Path) -> None:
    """Of winogrande the target is the text that both have: it is no golden answer."""
    row = asked([-5.0, -9.0], [("The trophy", " fits"), ("The case", " fits")], target=" fits")
    (record,) = LmEval().read(lm_eval_file(tmp_path, [row])).rows()
    assert (record["question"], record["text"], "answer" in record) == ('{"n":1}', "The trophy fits", False)


def test_a_choice_without_its_question_is_no_answer(tmp_path: Path) -> None:
    """Of acc_mutual_info the likeliest text after the question counts, however likely another one is alone."""
    row = asked([-2.0, -3.0, -4.0, -1.0], [("Q", " A"), ("Q", " B"), ("", " A"), ("", " B")], target="0")
    (record,) = LmEval().read(lm_eval_file(tmp_path, [row])).rows()
    assert (record["question"], record["text"], record["answer"]) == ("Q", "A", "A")


def test_a_text_that_the_model_had_no_choice_of_is_no_answer(tmp_path: Path) -> None:
    """Of lambada nobody knows what the model would have said; the golden answer would be taken for it."""
    with pytest.raises(InputError, match="doc_id 0 says how likely one text is"):
        LmEval().read(lm_eval_file(tmp_path, [asked([-5.0], [("He went to the", " store")], target=" store")]))


@pytest.mark.parametrize("likelihood", [-123.5, "-123.5"])
def test_a_likelihood_alone_is_no_answer(likelihood: object, tmp_path: Path) -> None:
    """Of a text that was only measured, as in wikitext, there is a number and nothing that anybody said."""
    measured: JsonObject = {"resps": [[likelihood]], "arguments": {"gen_args_0": {"arg_0": "A page."}}}
    row = lm_eval_answer(0, ["a"], "none", 1.0) | measured
    with pytest.raises(InputError, match="doc_id 0 says how likely one text is"):
        LmEval().read(lm_eval_file(tmp_path, [row]))


def test_a_number_that_the_model_wrote_is_an_answer(tmp_path: Path) -> None:
    """As in gsm8k: it was asked for with what ends an answer."""
    (record,) = LmEval().read(lm_eval_file(tmp_path, [lm_eval_answer(0, ["42"], "none", 1.0)])).rows()
    assert record["text"] == "42"


@pytest.mark.parametrize("nothing", [[[]], [], [[None]], [None]])
def test_a_row_without_an_answer_is_named(nothing: list[object], tmp_path: Path) -> None:
    """Its score goes with it, which changes the mean."""
    rows = [lm_eval_answer(0, ["a"], "none", 1.0), lm_eval_answer(1, ["b"], "none", 0.0) | {"resps": nothing}]
    found = LmEval().read(lm_eval_file(tmp_path, rows))
    assert len(list(found.rows())) == 1
    assert found.left_out[0] == "1 row is left out: no answer is in it"


@pytest.mark.parametrize(("content", "told"), [(b"{}", "line 1"), (b'{"doc_id": 1, "resps": 5}', "line 1.resps")])
def test_another_form_is_told_with_its_place(content: bytes, told: str, tmp_path: Path) -> None:
    """Nothing is guessed of a file that is otherwise."""
    path = tmp_path / "samples.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        LmEval().read(path)


def test_an_integer_beyond_a_float_is_no_crash(tmp_path: Path) -> None:
    """A likelihood of one is less than any other; a document with one cannot be a question."""
    huge = "1" + "0" * 400
    row = orjson.dumps(asked([-1.0, -2.0], [("Q", " A"), ("Q", " B")], more="NUMBER")).decode()
    path = lm_eval_file(tmp_path, [])
    path.write_text(row.replace('"NUMBER"', "NaN").replace('"-1.0"', "-" + huge))
    (record,) = LmEval().read(path).rows()
    assert record["text"] == "B"
    path.write_text(row.replace('"NUMBER"', "NaN").replace('{"n":1}', '{"n":' + huge + "}").replace('"Q"', '"R"', 1))
    with pytest.raises(InputError, match="doc_id 0: Integer exceeds 64-bit range"):
        list(LmEval().read(path).rows())
