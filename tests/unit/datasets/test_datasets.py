from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval import datasets, ids
from keval.datasets import Draw, Layout
from keval.documents.mapping import rule
from keval.documents.row_problems import MOST_PRINTED
from keval.errors import InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NOT_BLANK = TEXT.filter(str.strip)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
RECORDS = st.lists(
    st.builds(
        lambda rest, question, answer: {**rest, "question": question, "answer": answer},
        st.dictionaries(TEXT.filter(lambda key: key not in {"id", "timeout_s"}), JSON_VALUES, max_size=3),
        NOT_BLANK,
        NOT_BLANK,
    ),
    min_size=1,
    max_size=8,
).map(lambda records: [{**record, "id": f"s{number}"} for number, record in enumerate(records)])

GOOD = '{"id": "a", "question": "Q?", "answer": "A"}'


def problems(path: Path, **keys: Any) -> list[str]:  # noqa: ANN401 - whatever a layout takes
    """Return the lines of the error that reading a bad file gives, without the file's path."""
    return problems_of(path, Layout(**keys))


def problems_of(path: Path, layout: Layout) -> list[str]:
    """Return the lines of the error that a file gives which does not fit its layout, without its path."""
    with pytest.raises(InputError) as caught:
        datasets.read(path, layout)
    return str(caught.value).replace(str(path), path.name).splitlines()


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_sample_is_its_whole_record(tmp_path: Path) -> None:
    """Everything that a record carries stays in the sample, and the hash is that of the file."""
    record = {"id": "a", "question": "Q?", "answer": "A", "tags": ["x", {"y": None}], "weight": 1.5}
    path = write(tmp_path, "questions.jsonl", json.dumps(record) + "\n")
    read = datasets.read(path)
    assert tuple(read.samples) == (record,)
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read.path == path


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"\ufeff{GOOD}\n", id="byte order mark"),
        pytest.param(f"{GOOD}\r\n", id="carriage returns"),
        pytest.param(GOOD, id="no line end"),
        pytest.param(f"\n  \n{GOOD}\n\n\r\n", id="blank lines"),
        pytest.param(f"\ufeff\n{GOOD}\n", id="byte order mark on a blank line"),
    ],
)
def test_harmless_differences_of_jsonl_are_accepted(tmp_path: Path, content: str) -> None:
    """What editors of other systems leave in a file changes nothing."""
    assert [sample["question"] for sample in datasets.read(write(tmp_path, "q.jsonl", content)).samples] == ["Q?"]


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    """Separators that Unicode knows besides the line feed are data inside a string."""
    question = "a\u2028b\u2029c\u0085d\x0be"
    content = json.dumps({"question": question.replace("\x0b", ""), "answer": "A"}, ensure_ascii=False)
    read = datasets.read(write(tmp_path, "q.jsonl", content))
    assert read.samples[0]["question"] == question.replace("\x0b", "")


def test_a_record_without_id_gets_a_hash_of_its_content(tmp_path: Path) -> None:
    """The same record has the same id whatever its keys' order and whatever the file calls them."""
    first = datasets.read(write(tmp_path, "a.jsonl", '{"question": "Q?", "answer": "A", "x": 1}')).samples[0]
    second = datasets.read(
        write(tmp_path, "b.jsonl", '{"x": 1, "gold": "A", "prompt": "Q?"}'),
        Layout(question_key="prompt", answer_key="gold"),
    ).samples[0]
    assert first == second
    assert first["id"] == ids.digest({"question": "Q?", "answer": "A", "x": 1})


def test_every_bad_line_is_reported_with_its_physical_line(tmp_path: Path) -> None:
    """One error lists all that is wrong, blank lines counted."""
    lines = [
        "",
        GOOD,
        "not json",
        "",
        '{"question": "Q?", "answer": null}',
        '{"question": "Q?"}',
        '{"question": " \\t", "answer": "A"}',
        '{"question": ["Q?", ""], "answer": 7}',
        '["Q?", "A"]',
        '{"question": "Q?", "answer": "A", "x": NaN}',
        '{"id": 7, "question": "Q?", "answer": "A"}',
        '{"id": "", "question": "Q?", "answer": "A"}',
        '{"id": "a", "question": "Q2?", "answer": "A"}',
        '{"question": "Q?", "answer": "A", "answer": "B"}',
        '{"question": "Q?", "answer": "\\ud800"}',
        '{"question": "Q?", "answer": "A", "x": 1e999}',
        '{"question": "Q?", "answer": "A", "x": 99999999999999999999}',
        "7",
    ]
    assert problems(write(tmp_path, "q.jsonl", "\n".join(lines))) == [
        "q.jsonl:3: not JSON: Expecting value (column 1)",
        "q.jsonl:5: answer: must be a string, not null",
        "q.jsonl:6: answer: missing; the record's fields: 'question'",
        "q.jsonl:7: question: is blank",
        "q.jsonl:8: question: a list must be of texts that are not blank, one or more",
        'q.jsonl:8: answer: must be a string, not 7; `fields: {answer: "{answer}"}` in a config makes text of it',
        "q.jsonl:9 and 1 more row: not a JSON object",
        "q.jsonl:10: NaN is not JSON",
        'q.jsonl:11: id: must be a string, not 7; `fields: {id: "{id}"}` in a config makes text of it',
        "q.jsonl:12: id: is blank",
        "q.jsonl:13: id: 'a' is also the id of line 2",
        "q.jsonl:14: the key 'answer' appears twice in one object",
        "q.jsonl:15: text that is not UTF-8",
        "q.jsonl:16: 1e999 is beyond what a number can hold; write it as a string",
        "q.jsonl:17: an integer beyond 64 bits; write it as a string",
        "15 problems in q.jsonl; correct them and start again",
    ]


def test_the_same_record_twice_is_a_problem(tmp_path: Path) -> None:
    """Two equal records would be one sample counted twice."""
    line = '{"question": "Q?", "answer": "A"}\n'
    assert problems(write(tmp_path, "q.jsonl", line * 2))[0] == (
        "q.jsonl:2: the same record as line 1; remove one, or give both an id"
    )


def test_a_long_list_of_problems_is_cut_with_a_count(tmp_path: Path) -> None:
    """Nobody reads a thousand lines, but everybody learns that there are a thousand."""
    lines = [json.dumps({"id": str(row), "question": "Q?", "answer": "A"}) for row in range(1000)]
    found = problems(write(tmp_path, "q.jsonl", "\n".join(lines * 2)))
    assert len(found) == MOST_PRINTED + 2
    assert found[-2:] == ["… and 980 more", "1,000 problems in q.jsonl; correct them and start again"]


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout(id_key="uid"), "uid (the id): missing; the record's fields: 'id', 'question', 'answer'"),
        (Layout(cluster_key="doc"), "doc (the cluster): missing; the record's fields: 'id', 'question', 'answer'"),
        (Layout(fields={"id": rule("{uid}")}), "id: no field 'uid'; the fields there: 'id', 'question', 'answer'"),
        (Layout(), 'answer: must be a string, not 0; `fields: {answer: "{answer}"}` in a config makes text of it'),
    ],
)
def test_what_is_wrong_in_every_row_is_said_once(tmp_path: Path, layout: Layout, said: str) -> None:
    """With the number of rows, with what would mend it, and without a second problem that is none."""
    answer = "{}" if layout == Layout() else '"{}"'
    rows = [f'{{"id": "{row}", "question": "Q?", "answer": {answer.format(row)}}}\n' for row in range(80)]
    first, last = problems_of(write(tmp_path, "q.jsonl", "".join(rows)), layout)
    assert first.startswith(f"q.jsonl:1 and 79 more rows: {said}")
    assert last == "1 problem in q.jsonl; correct it and start again"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("ID,Question,Answer\n1,q,a\n", "a config names them with question_key: Question and answer_key: Answer"),
        ("1,Why is it so?,Because\n2,q,a\n", "if its first line is a sample, name all columns with columns"),
        ("question,answer\nq,a\n".encode("utf-16"), "is UTF-16, and UTF-8 is needed; save it as UTF-8"),
    ],
)
def test_a_table_that_is_written_otherwise_is_one_problem_with_what_to_do(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    """Names in another case, no names at all, another encoding."""
    first, last = problems(write(tmp_path, "q.csv", content))
    assert first.endswith(said)
    assert last == "1 problem in q.csv; correct it and start again"


def test_bytes_that_are_not_utf8_are_reported_by_line(tmp_path: Path) -> None:
    """A Latin-1 file is refused where it stops being UTF-8, once, and what to do is said."""
    wrong = '{"question": "ä"}\n{"question": "für"}\n'.encode("latin-1")
    first, last = problems(write(tmp_path, "q.jsonl", GOOD.encode() + b"\n" + wrong))
    assert first == "q.jsonl:2 and 1 more row: not UTF-8; save the file as UTF-8 (byte 15 of the line)"
    assert last == "1 problem in q.jsonl; correct it and start again"


@pytest.mark.parametrize("nesting", [300, 100_000])
def test_deep_nesting_is_a_problem_and_no_crash(tmp_path: Path, nesting: int) -> None:
    """A hostile record cannot exhaust the stack."""
    content = f'{{"question": "Q?", "answer": "A", "x": {"[" * nesting}{"]" * nesting}}}'
    assert len(problems(write(tmp_path, "q.jsonl", content))) == 2


@pytest.mark.parametrize(
    ("name", "content"), [("q.jsonl", "\n"), ("q.json", "[]"), ("q.csv", "question,answer\n"), ("q.csv", "")]
)
def test_an_empty_dataset_is_a_problem(tmp_path: Path, name: str, content: str) -> None:
    """A run over nothing would report nothing as if it were something."""
    assert problems(write(tmp_path, name, content)) == [f"{name}: no samples in it; a dataset has at least one record"]


def test_an_unknown_ending_is_a_problem_with_the_nearest_known_one(tmp_path: Path) -> None:
    """The ending decides how a file is read."""
    assert "'.jsnl'; did you mean 'json" in problems(write(tmp_path, "q.jsnl", GOOD))[0]
    assert datasets.format_of(Path("Q.JSONL")) == "jsonl"


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    """A missing file or a folder is named, without a traceback."""
    assert problems(tmp_path / "q.jsonl") == ["q.jsonl: No such file or directory"]
    (tmp_path / "d.json").mkdir()
    assert problems(tmp_path / "d.json") == ["d.json: Is a directory"]


def test_other_field_names_become_ours(tmp_path: Path) -> None:
    """The dataset's own names are renamed; everything else stays."""
    path = write(tmp_path, "q.jsonl", '{"uid": "1", "prompt": "Q?", "gold": "A", "x": 1}')
    read = datasets.read(path, Layout(id_key="uid", question_key="prompt", answer_key="gold"))
    assert tuple(read.samples) == ({"id": "1", "question": "Q?", "answer": "A", "x": 1},)


def test_swapped_field_names_are_no_clash(tmp_path: Path) -> None:
    """A field that is itself renamed does not stand in the way."""
    path = write(tmp_path, "q.jsonl", '{"question": "A", "answer": "Q?"}')
    sample = datasets.read(path, Layout(question_key="answer", answer_key="question")).samples[0]
    assert (sample["question"], sample["answer"]) == ("Q?", "A")


def test_a_renamed_field_does_not_replace_another(tmp_path: Path) -> None:
    """A record that already has a field of our name is refused, not overwritten."""
    path = write(tmp_path, "q.jsonl", '{"prompt": "Q?", "question": "other", "answer": "A"}')
    assert problems(path, question_key="prompt")[0] == (
        "q.jsonl:1: question: 'prompt' is to be called so, but the record has a field of that name too"
    )


def test_a_chosen_id_field_must_be_there(tmp_path: Path) -> None:
    """Whoever names an id field gets no made-up ids."""
    assert problems(write(tmp_path, "q.jsonl", '{"question": "Q?", "answer": "A"}'), id_key="uid")[0] == (
        "q.jsonl:1: uid (the id): missing; the record's fields: 'question', 'answer'"
    )


def test_json_problems_name_the_index(tmp_path: Path) -> None:
    """The elements of an array have no lines of their own."""
    path = write(tmp_path, "q.json", f'[{GOOD},\n 3, {GOOD},\n {{"question": "Q?"}}, {{"a": 1, "a": 2}}]')
    assert problems(path)[:-1] == [
        "q.json: [1]: not a JSON object",
        "q.json: [2]: id: 'a' is also the id of record [0]",
        "q.json: [3]: answer: missing; the record's fields: 'question'",
        "q.json: [4]: the key 'a' appears twice in one object",
    ]


def test_json_syntax_errors_name_the_line(tmp_path: Path) -> None:
    """What does not parse is located in the file."""
    assert problems(write(tmp_path, "q.json", f"[{GOOD},\n]"))[0].startswith("q.json:2: not JSON: ")
    assert problems(write(tmp_path, "q.json", b"[\n\n\xff]"))[0] == "q.json:3: not UTF-8; save the file as UTF-8"
    assert problems(write(tmp_path, "q.json", GOOD))[0].startswith("q.json: not a JSON array; ")
    assert datasets.read(write(tmp_path, "q.json", f"\ufeff[{GOOD}]")).samples[0]["id"] == "a"


def test_csv_values_are_strings_and_lines_are_physical(tmp_path: Path) -> None:
    """A quoted line feed is data, and does not shift the lines of later records."""
    content = (
        '\ufeffid,question,answer,level\r\n1,"two\nlines, ""quoted""",7,3\r\n\r\n2,,A,\r\n3,Q?\r\n4,"open\nend,A,1'
    )
    path = write(tmp_path, "q.csv", content)
    assert problems(path)[:-1] == [
        "q.csv:5: question: is blank",
        "q.csv:6: 2 values under a header of 4; a separator inside needs quotes",
        "q.csv:7: not CSV: unexpected end of data",
    ]
    good = write(tmp_path, "good.csv", "\n".join(content.splitlines()[:3]))
    assert tuple(datasets.read(good).samples) == (
        {"id": "1", "question": 'two\nlines, "quoted"', "answer": "7", "level": "3"},
    )


def test_csv_headers_are_checked(tmp_path: Path) -> None:
    """Two columns of one name would lose one; bytes that are not UTF-8 are no name."""
    assert problems(write(tmp_path, "q.csv", "question,answer,answer\nQ?,A,B\n"))[0] == (
        "q.csv:1: the header names a column twice: 'answer'"
    )
    for number, content in ((1, b"question,answer,\xe4\nQ?,A,B\n"), (3, b"question,answer\n\nQ?,\xe4\n")):
        assert problems(write(tmp_path, "q.csv", content))[0] == f"q.csv:{number}: not UTF-8; save the file as UTF-8"
    assert problems(write(tmp_path, "q.csv", 'question,"answer\n'))[0] == "q.csv:1: not CSV: unexpected end of data"


def test_a_long_csv_field_is_no_error(tmp_path: Path) -> None:
    """A question may be longer than what the standard library takes for a field by default."""
    question = "long " * 100_000
    assert (
        datasets.read(write(tmp_path, "q.csv", f"question,answer\n{question},A\n")).samples[0]["question"] == question
    )


def parquet(path: Path, query: str) -> Path:
    """Write a query's result as a Parquet file and return its path."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def test_parquet_values_without_json_form_become_their_text(tmp_path: Path) -> None:
    """Dates, times, decimals and UUIDs keep every digit; JSON values stay what they are."""
    path = parquet(
        tmp_path / "q.parquet",
        "SELECT 'a' AS id, 'Q?' AS question, 'A' AS answer, 1.10::DECIMAL(5,2) AS price, DATE '2020-01-02' AS day,"
        " TIMESTAMP_NS '2020-01-02 03:04:05.123456789' AS ns, TIMESTAMPTZ '2020-01-02 03:04:05+02' AS tz,"
        " UUID '12345678-1234-5678-1234-567812345678' AS u, {'x': 1, 'y': [1.5::DOUBLE, NULL]} AS nested,"
        " MAP {'k': true} AS map, 18446744073709551615::UBIGINT AS big, TIME '01:02:03' AS \"t\"\"q\"",
    )
    assert tuple(datasets.read(path).samples) == (
        {
            "id": "a",
            "question": "Q?",
            "answer": "A",
            "price": "1.10",
            "day": "2020-01-02",
            "ns": "2020-01-02 03:04:05.123456789",
            "tz": "2020-01-02T01:04:05+00:00",
            "u": "12345678-1234-5678-1234-567812345678",
            "nested": {"x": 1, "y": [1.5, None]},
            "map": {"k": True},
            "big": 18446744073709551615,
            't"q': "01:02:03",
        },
    )


def test_parquet_values_that_would_lose_something_are_problems(tmp_path: Path) -> None:
    """Binary data, intervals, not-a-number and maps by number have no JSON form."""
    rows = ["'x'::BLOB", "INTERVAL 1 month", "'nan'::DOUBLE", "MAP {1: 'x'}", "[{'b': 'x'::BLOB}]"]
    for row in rows:
        path = parquet(tmp_path / "q.parquet", f"SELECT 'Q?' AS question, 'A' AS answer, {row} AS odd")
        assert problems(path)[0].startswith("q.parquet: [0]: odd: ")
    path = parquet(tmp_path / "q.parquet", "SELECT 'Q?' AS question, {'t': TIMESTAMP_NS '2020-01-02'} AS answer")
    assert problems(path)[0].startswith("q.parquet: answer: nanoseconds inside STRUCT")
    path = parquet(tmp_path / "q.parquet", "SELECT 7 AS question, NULL AS answer UNION ALL SELECT NULL, 'A'")
    assert len(problems(path)) == 4


def test_a_parquet_path_is_one_file(tmp_path: Path) -> None:
    """Neither patterns nor folders called `key=value` add rows or columns."""
    folder = tmp_path / "year=2024"
    folder.mkdir()
    for name in ("q[1]*.parquet", "q1.parquet"):
        parquet(tmp_path / "x.parquet", f"SELECT 'Q?' AS question, '{name}' AS answer").rename(folder / name)
    (sample,) = datasets.read(folder / "q[1]*.parquet").samples
    assert sample.keys() == {"id", "question", "answer"}
    assert sample["answer"] == "q[1]*.parquet"


def test_a_file_that_is_not_parquet_is_an_input_error(tmp_path: Path) -> None:
    """DuckDB's own error is translated."""
    assert problems(write(tmp_path, "q.parquet", "hello"))[0].startswith("q.parquet: not readable as Parquet: ")


@given(RECORDS)
def test_any_record_survives_jsonl_and_json(records: list[dict[str, Any]]) -> None:
    """What is written as JSON is read back the same, whatever Unicode it holds."""
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        assert list(datasets.read(write(Path(folder), "q.jsonl", lines)).samples) == records
        whole = json.dumps(records, ensure_ascii=False)
        assert list(datasets.read(write(Path(folder), "q.json", whole)).samples) == records


@given(st.lists(st.tuples(NOT_BLANK, NOT_BLANK), min_size=1, max_size=5))
def test_any_text_survives_csv(pairs: list[tuple[str, str]]) -> None:
    """Whatever needs quotes comes back as it was."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "question", "answer"), *((number, *pair) for number, pair in enumerate(pairs))])
    with tempfile.TemporaryDirectory() as folder:
        read = datasets.read(write(Path(folder), "q.csv", buffer.getvalue()))
    assert [(sample["question"], sample["answer"]) for sample in read.samples] == pairs


@pytest.mark.slow
@given(RECORDS, st.data())
def test_a_bad_row_is_found_on_its_line(records: list[dict[str, Any]], data: st.DataObject) -> None:
    """The line of a problem is where an editor shows it, blank lines and odd separators included."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    for _ in range(data.draw(st.integers(0, 3))):
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(["", " ", "\r"])))
    position = data.draw(st.integers(0, len(lines)))
    lines.insert(position, data.draw(st.sampled_from(["{", "[]", "{}", '{"question": "Q?", "answer": 1}'])))
    with tempfile.TemporaryDirectory() as folder:
        found = problems(write(Path(folder), "q.jsonl", "\n".join(lines)))
    assert all(line.startswith(f"q.jsonl:{position + 1}: ") for line in found[:-1])
    assert found[:-1]


def test_a_blank_golden_answer_is_refused_with_its_place(tmp_path: Path) -> None:
    """By an empty golden answer an agent that says nothing would be right, so there is none in any format."""
    told = "answer: is blank; a dataset without golden answers has `answer_key: null` in its config"
    for blank in ("", " \t"):
        line = json.dumps({"question": "Q?", "answer": blank})
        assert problems(write(tmp_path, "q.jsonl", f"{GOOD}\n{line}\n"))[0] == f"q.jsonl:2: {told}"
        assert problems(write(tmp_path, "q.csv", f'question,answer\nQ?,"{blank}"\n'))[0] == f"q.csv:2: {told}"


def test_a_dataset_may_have_no_golden_answers(tmp_path: Path) -> None:
    """Then each sample's answer is null, and its record as it was otherwise."""
    path = write(tmp_path, "q.jsonl", '{"id": "a", "question": "Q?", "topic": "x"}')
    assert tuple(datasets.read(path, Layout(answer_key=None)).samples) == (
        {"id": "a", "question": "Q?", "answer": None, "topic": "x"},
    )


def test_an_answer_that_is_to_be_none_is_no_metadata(tmp_path: Path) -> None:
    """A field called answer, where the config says that there are no golden answers, is a contradiction."""
    path = write(tmp_path, "q.jsonl", GOOD)
    with pytest.raises(InputError) as refused:
        datasets.read(path, Layout(answer_key=None))
    assert "answer: a field of that name, but answer_key is null" in str(refused.value)


def test_a_csv_without_header_gets_its_columns_from_the_layout(tmp_path: Path) -> None:
    """The first line is a record then, and has its line."""
    path = write(tmp_path, "q.csv", 'What is 1 + 1?,1,2,3,4,B\n"two, three",1\n')
    layout = Layout(columns=("question", "A", "B", "C", "D", "answer"))
    assert "q.csv:2: 2 values under a header of 6" in problems_of(path, layout)[0]
    (sample,) = datasets.read(write(tmp_path, "r.csv", "Q?,1,2,3,4,B\n"), layout).samples
    assert (sample["question"], sample["C"], sample["answer"]) == ("Q?", "3", "B")


def test_columns_of_a_file_that_names_its_fields_are_a_problem(tmp_path: Path) -> None:
    """They would be passed over in silence."""
    path = write(tmp_path, "q.jsonl", GOOD)
    assert "columns: a jsonl file names its fields itself" in problems_of(path, Layout(columns=("a",)))[0]


@pytest.mark.parametrize("name", ["q.jsonl.gz", "q.json.gz", "q.csv.gz"])
def test_a_packed_file_is_read_as_what_it_holds(tmp_path: Path, name: str) -> None:
    """The ending before .gz says what it is, and the hash is that of the file as it lies there."""
    plain = {"q.jsonl.gz": GOOD, "q.json.gz": f"[{GOOD}]", "q.csv.gz": "id,question,answer\na,Q?,A\n"}[name]
    path = write(tmp_path, name, gzip.compress(plain.encode()))
    read = datasets.read(path)
    assert tuple(read.samples) == ({"id": "a", "question": "Q?", "answer": "A"},)
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(GOOD.encode() * 50)[:-20], gzip.compress(b"x")[:5]],
    ids=["no gzip", "cut off", "cut off in its header"],
)
def test_a_damaged_packed_file_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    """Half a file is no dataset."""
    assert problems_of(write(tmp_path, "q.jsonl.gz", content), Layout())


def test_what_rules_nest_too_deeply_is_refused(tmp_path: Path) -> None:
    """A record that an event could hold may become one that none can."""
    made: Any = {"field": "deep"}
    for _ in range(10):
        made = [made]
    deep = f"{'[' * 195}{']' * 195}"
    path = write(tmp_path, "q.jsonl", f'{{"id": "a", "question": "Q?", "answer": "A", "deep": {deep}}}')
    layout = Layout(fields={"extra": rule(made)})
    assert problems_of(path, layout)[0] == "q.jsonl:1: nested deeper than 200 levels"


def test_made_fields_take_the_place_of_the_records_own(tmp_path: Path) -> None:
    """All rules read the record as it is in the file, and what they do not make stays."""
    path = write(tmp_path, "q.jsonl", '{"question": "Q?", "answer": "because\\n#### 72", "level": 2}\n')
    fields = {"question": rule("{question} Level {level}."), "answer": rule({"field": "answer", "after": "####"})}
    layout = Layout(fields={**fields, "id": rule("n-{@row}"), "reasoning": rule("{answer}")})
    assert tuple(datasets.read(path, layout).samples) == (
        {
            "id": "n-1",
            "question": "Q? Level 2.",
            "answer": "72",
            "level": 2,
            "reasoning": "because\n#### 72",
        },
    )


def test_a_field_that_cannot_be_made_is_a_problem_with_its_line(tmp_path: Path) -> None:
    """Nothing is left out or guessed, and each row says what it has."""
    path = write(tmp_path, "q.jsonl", '{"q": "Q?", "choices": ["a"]}\n\n{"question": "Q?"}\n')
    layout = Layout(fields={"question": rule("{q} {choices[1]}"), "answer": rule({"field": "gold"})})
    assert problems_of(path, layout)[:4] == [
        "q.jsonl:1: question: no field 'choices[1]': 1; the list there has 1 item",
        "q.jsonl:1 and 1 more row: answer: no field 'gold'; the fields there: 'q', 'choices', '@row'",
        "q.jsonl:3: question: no field 'q'; the fields there: 'question', '@row'",
        "3 problems in q.jsonl; correct them and start again",
    ]


def test_a_field_of_the_file_is_not_taken_for_the_number_of_the_row(tmp_path: Path) -> None:
    """Rules would read something else than what stands there; without rules it is a field as any other."""
    path = write(tmp_path, "q.jsonl", '{"@row": 5, "question": "Q?", "answer": "A"}\n')
    layout = Layout(fields={"id": rule("n-{@row}")})
    assert problems_of(path, layout)[0].startswith("q.jsonl:1: a field is called '@row', as rules call the number")
    assert datasets.read(path, Layout()).samples[0]["@row"] == 5


SUBJECTS = "".join(f'{{"id": "{n}", "question": "Q", "answer": "A", "s": "{"abb"[n % 3]}"}}\n' for n in range(30))


def drawn(folder: Path, draw: Draw) -> list[str]:
    """Return the ids of the samples that are drawn of thirty."""
    path = write(folder, "q.jsonl", SUBJECTS)
    return [sample["id"] for sample in datasets.read(path, Layout(draw=draw)).samples]


def test_a_draw_depends_on_its_seed_and_on_the_ids_alone(tmp_path: Path) -> None:
    """The same samples are drawn again, a larger draw holds the smaller one, and the file's order stays."""
    few, more, other = drawn(tmp_path, Draw(8)), drawn(tmp_path, Draw(12)), drawn(tmp_path, Draw(8, seed=1))
    assert set(few) < set(more)
    assert set(few) != set(other)
    assert more == sorted(more, key=int)
    assert len(drawn(tmp_path, Draw(100))) == 30


def test_an_even_draw_has_as_many_of_each_value(tmp_path: Path) -> None:
    """A small group is not drowned by a large one, and gives all it has if that is less than its part."""
    subjects = [int(number) % 3 == 0 for number in drawn(tmp_path, Draw(10, evenly_by="s"))]
    assert sum(subjects) == 5
    assert sum(int(number) % 3 == 0 for number in drawn(tmp_path, Draw(28, evenly_by="s"))) == 10


def test_a_draw_by_a_field_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    """A group without a name is none; it is said how many samples lack one, and which is the first."""
    lines = [
        GOOD.replace('"a"', f'"{number}"').replace("}", f', "{field}": 1}}') for number, field in enumerate("gghh")
    ]
    path = write(tmp_path, "q.jsonl", "\n".join(lines))
    assert problems_of(path, Layout(draw=Draw(1, evenly_by="g")))[0] == (
        "q.jsonl: draw.evenly_by needs 'g' in every sample; 2 of 4 samples lack it, the first one is '2': "
        "no field 'g'; the fields there: 'id', 'question', 'answer', 'h'"
    )


@pytest.mark.parametrize("wrong", ["soon", "-1", "0", "nan", "inf", "1e9"])
def test_a_timeout_that_is_none_is_a_problem_with_its_line(tmp_path: Path, wrong: str) -> None:
    """Before anything is asked: a limit that is not understood would be a paid answer cut off, or one without end."""
    path = tmp_path / "d.csv"
    path.write_text(f"question,answer,timeout_s\nq,a,30\nr,a,\ns,a,{wrong}\n")
    with pytest.raises(InputError, match=r"d\.csv:4: timeout_s: must be a number of seconds above 0 and up to"):
        datasets.read(path)
    for odd in ("true", "[1]", "0"):
        (tmp_path / "d.jsonl").write_text(f'{{"question": "q", "answer": "a", "timeout_s": {odd}}}\n')
        with pytest.raises(InputError, match="timeout_s: must be"):
            datasets.read(tmp_path / "d.jsonl")


@pytest.mark.parametrize("wrong", ["[]", '[" "]', "[1]", '[["Q?"]]', '"  "', "{}"])
def test_a_question_may_be_several_messages(tmp_path: Path, wrong: str) -> None:
    """A list of texts is kept as it is, also one that the config makes; any other list is a problem."""
    path = write(tmp_path, "q.jsonl", '{"id": "1", "question": ["Q?", "And?"], "answer": "A"}')
    assert datasets.read(path).samples[0]["question"] == ["Q?", "And?"]
    path = write(tmp_path, "made.csv", "first,then,answer\nQ?,And?,A")
    layout = Layout(fields={"question": rule(["{first}", "{then}"])})
    assert datasets.read(path, layout).samples[0]["question"] == ["Q?", "And?"]
    path = write(tmp_path, "wrong.jsonl", f'{{"question": {wrong}, "answer": "A"}}')
    with pytest.raises(InputError, match="question: "):
        datasets.read(path)


def test_a_file_may_have_semicolons_or_tabs(tmp_path: Path) -> None:
    """A first record that is one value by commas is divided by semicolons; a .tsv file by tabs, commas or not."""
    texts = {"a.csv": 'question;answer\n"Why; so?";a,b\n', "b.tsv": "question\tanswer\nWhy; so?\ta,b\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (sample,) = datasets.read(tmp_path / name).samples
        assert (sample["question"], sample["answer"]) == ("Why; so?", "a,b")


def test_columns_that_are_called_otherwise_are_told_once(tmp_path: Path) -> None:
    """However many rows there are; what only some rows lack is told of each of them."""
    path = tmp_path / "q.csv"
    path.write_text("Nr.;Frage\n" + "1;Warum?\n" * 30)
    with pytest.raises(InputError) as caught:
        datasets.read(path)
    problem, count = caught.value.problems
    assert problem == (
        f"{path}: no column 'question' or 'answer'; it has 'Nr.', 'Frage': a config names them with question_key and "
        "answer_key"
    )
    assert count.startswith("1 problem in ")
    path.write_text("Nr.;Frage\n1;Warum?\n")
    assert len(datasets.read(path, Layout(id_key="Nr.", question_key="Frage", answer_key=None)).samples) == 1
