from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.documents import yaml_document
from keval.documents.yaml_document import Document
from keval.errors import InputError

UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""Characters that JSON may hold as they are, and YAML only escaped."""

TEXT = st.text(st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def read(folder: Path, content: str | bytes) -> Document:
    """Read a text as a YAML file."""
    path = folder / "file.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return yaml_document.read(path)


def problems(folder: Path, content: str | bytes) -> list[str]:
    """Return what is wrong with a text, without the folder."""
    found = read(folder, content)
    return [found.described(problem).replace(f"{folder}/", "") for problem in found.problems]


def test_values_are_json_and_have_lines(tmp_path: Path) -> None:
    """Keys, items and nested values are known by the line on which they begin."""
    content = "# comment\na: 1\nb:\n  - x\n  - {c: true, d: ~}\ne: |\n  text\n  more\nf: 1.5\n"
    found = read(tmp_path, content)
    assert found.value == {"a": 1, "b": ["x", {"c": True, "d": None}], "e": "text\nmore\n", "f": 1.5}
    assert found.lines == {
        (): 2,
        ("a",): 2,
        ("b",): 3,
        ("b", 0): 4,
        ("b", 1): 5,
        ("b", 1, "c"): 5,
        ("b", 1, "d"): 5,
        ("e",): 6,
        ("f",): 9,
    }
    assert found.sha256 == hashlib.sha256(content.encode()).hexdigest()
    assert not found.problems


def test_the_line_of_what_is_not_there_is_that_of_what_is_around_it(tmp_path: Path) -> None:
    """A missing key is looked for where its mapping is."""
    found = read(tmp_path, "a: 1\nb:\n  c: 2\n")
    assert found.line(("b", "missing", 3)) == 2
    assert found.line(("missing",)) == 1


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    """Unicode's other line separators, a byte order mark and carriage returns do not shift lines."""
    found = read(tmp_path, '\ufeffa: "x\u2028y\u0085z"\r\nb: 1\r\n')
    assert found.line(("b",)) == 2
    assert found.value == {"a": "x\u2028y\u0085z", "b": 1}
    assert read(tmp_path, "a: |\n  x\u2029y\u0085\ue000\nb: p\u2028q\n").value == {
        "a": "x\u2029y\u0085\ue000\n",
        "b": "p\u2028q",
    }
    assert problems(tmp_path, 'a: "x\u2028y"\nb: [')[0].startswith("file.yaml:2: $: not YAML: ")


def test_a_stand_in_is_never_a_character_of_the_file(tmp_path: Path) -> None:
    """Characters for private use stay what they are beside separators, written out or escaped."""
    assert read(tmp_path, 'a: "\u2028\ue000\\uE001"\n').value == {"a": "\u2028\ue000\ue001"}


def test_anchors_aliases_and_merge_keys_work(tmp_path: Path) -> None:
    """A mapping's own keys win over merged ones, and earlier merged ones over later ones."""
    found = read(tmp_path, "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: [*a, *b]\n  x: 0\nd: *a\n")
    assert found.value["c"] == {"x": 0, "y": 2, "z": 4}
    assert found.value["d"] == {"x": 1, "y": 2}
    assert not found.problems
    assert found.line(("c", "z")) == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", "3: $.a: this key is already in line 1"),
        ("a:\n  b: 2024-01-01\n", "2: $.a.b: '2024-01-01' is a date to YAML; if text is meant, put it in quotes"),
        ("a: .nan\n", "1: $.a: '.nan' is not a plain number to YAML; if text is meant, put it in quotes"),
        ("a: -.inf\n", "1: $.a: '-.inf' is not a plain number to YAML"),
        ("a: 010\n", "1: $.a: '010' is a number that is not plainly decimal"),
        ("a: 0o17\n", "1: $.a: '0o17' is a number that is not plainly decimal"),
        ("a: 0x1F\n", "1: $.a: '0x1F' is a number that is not plainly decimal"),
        ("a: 99999999999999999999\n", "1: $.a: '99999999999999999999' is a number"),
        ("a: !!binary aGk=\n", "1: $.a: 'aGk=' is a !!binary to YAML"),
        ("a: !!set {x}\n", "1: $.a: !!set has no JSON form"),
        ("a: !Thing [1]\n", "1: $.a: !Thing has no JSON form"),
        ("a: !!bool maybe\n", "1: $.a: 'maybe' is a !!bool to YAML"),
        ('a: "\\ud800"\n', "1: $.a: '\\ud800' is half of a surrogate pair, no character to YAML"),
        ("? [a, b]\n: 1\n", "1: $: a key must be text"),
        ("a: 1\n<<: 7\n", "2: $: `<<` takes a mapping or a list of mappings"),
        ("a: &a\n  - 1\n  - *a\n", "1: $.a[1]: an alias of what it is in has no end"),
        ("", "1: $: the file is empty"),
        ("# nothing\n", "1: $: the file is empty"),
        ("a: 1\nb: [1\n", "3: $: not YAML: while parsing a flow sequence, expected ',' or ']'"),
        ("a: 1\n\tb: 2\n", "2: $: not YAML: "),
        ("a: b: c\n", "1: $: not YAML: mapping values are not allowed here; a text that has ': ' in it needs quotes"),
        ("a:\n  b: 1\n c: 2\n", "3: $: not YAML: while parsing a block mapping, expected <block end>"),
        ('{"a": 1}\n{"a": 2}\n', "2: $: not YAML: expected '<document start>', but found"),
        ("a: 1\n--- \nb: 2\n", "2: $: not YAML: expected a single document"),
        ("a: 1\nb: *x\n", "2: $: not YAML: found undefined alias"),
        ('a: 1\nb: "\\U00110000"\n', r"2: $: not YAML: '\\U00110000' has no meaning"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', r"2: $: not YAML: '\\UFFFFFFFF' has no meaning"),
        ("# of 2031\n%YAML 1.3\n---\na: 1\n", "2: $: not YAML: '%YAML 1.3' has no meaning"),
        ("---\n%YAML 9.9\n}a\n", "2: $: not YAML: '%YAML 9.9' has no meaning"),
        (f"%YAML {'9' * 5000}.1\n---\na: 1\n", "1: $: not YAML: '%YAML 99"),
        ("a: 1\nb: \x07\n", "2: $: not YAML: character 0x7 is not allowed"),
        (b"a: 1\nb: \xff\n", "2: $: not UTF-8"),
        ("[" * 600, "1: $: nested too deeply"),
        ("a: " + "[" * 201 + "]" * 201, "1: $: not YAML: deeper than 200 levels"),
    ],
)
def test_what_is_not_json_is_a_problem_with_its_line(tmp_path: Path, content: str | bytes, told: str) -> None:
    """No content ends in a traceback, and none is turned into something else."""
    (problem,) = problems(tmp_path, content)
    assert problem.startswith(f"file.yaml:{told}")


def test_a_word_is_text_unless_yaml_1_2_says_otherwise(tmp_path: Path) -> None:
    """A country, an answer, a time and a port mapping stay what they are; only true and false are truth values."""
    found = read(tmp_path, "a: [no, Yes, on, OFF, y, 1:30, 22:22]\nb: [true, False, 1e3, 1e+16, 1_000]\n")
    assert found.value == {
        "a": ["no", "Yes", "on", "OFF", "y", "1:30", "22:22"],
        "b": [True, False, 1000.0, 1e16, 1000],
    }
    assert not found.problems


@pytest.mark.parametrize("written", ["no", "1:30", "010"])
def test_a_file_that_asks_for_yaml_1_1_gets_no_other_values_silently(tmp_path: Path, written: str) -> None:
    """What version 1.1 takes for a truth value or a number is a problem, not a value of another kind."""
    (problem,) = problems(tmp_path, f"%YAML 1.1\n---\na: {written}\n")
    assert problem.startswith(f"file.yaml:3: $.a: '{written}' is a ")


def test_an_anchor_may_be_set_anew(tmp_path: Path) -> None:
    """An alias means the newest anchor before it, and nothing is said about that."""
    assert read(tmp_path, "a: &x 1\nb: *x\nc: &x 2\nd: *x\n").value == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_keys_are_text_as_written(tmp_path: Path) -> None:
    """What looks like a number or a truth value is a key's name all the same."""
    assert read(tmp_path, "1: a\non: b\n2024-01-01: c\n").value == {"1": "a", "on": "b", "2024-01-01": "c"}


def test_a_small_file_cannot_become_huge(tmp_path: Path) -> None:
    """Aliases of aliases are counted as what they stand for; merges of merges end."""
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    assert "more than 100000 values" in problems(tmp_path, "\n".join(lines))[0]
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 30))]
    assert read(tmp_path, "\n".join(lines)).value["a29"] == {"x": 1}
    assert read(tmp_path, "a: &a\n  <<: *a\n  x: 1\n").value == {"a": {"x": 1}}


def test_a_file_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(InputError, match=r"none\.yaml: No such file or directory"):
        yaml_document.read(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="Is a directory"):
        yaml_document.read(tmp_path)


@given(JSON_VALUES)
def test_json_is_read_as_json(value: object) -> None:
    """A JSON file is a YAML file of the same value."""
    with tempfile.TemporaryDirectory() as folder:
        for ascii_only in (True, False):
            text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
            if ascii_only or not UNPRINTABLE.search(text):
                found = read(Path(folder), text)
                assert found.value == value
                assert not found.problems


@given(st.dictionaries(st.text("abc", min_size=1), JSON_VALUES, min_size=1), st.data())
def test_every_key_is_on_its_line(value: dict[str, object], data: st.DataObject) -> None:
    """In a file with one key on each line, the line of a key holds it."""
    keys = list(value)
    lines = []
    for key in keys:
        lines += ["# comment"] * data.draw(st.integers(0, 2))
        lines.append(f"{key}: {json.dumps(value[key])}")
    with tempfile.TemporaryDirectory() as folder:
        found = read(Path(folder), "\n".join(lines))
    assert all(lines[found.line((key,)) - 1].startswith(f"{key}: ") for key in keys)
