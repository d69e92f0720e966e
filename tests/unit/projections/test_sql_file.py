from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keval.errors import InputError
from keval.projections import sql_file
from keval.projections.sql_file import literal, load, verbatim

PACKAGE = Path(sql_file.__file__).parent.parent


def test_a_parameter_that_is_not_given_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path into JSON is no parameter."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "q.sql").write_text("select $what, j ->> '$.field'")
    monkeypatch.setattr(sql_file, "PACKAGE", tmp_path)
    assert load("folder", "q", what="1") == "select 1, j ->> '$.field'"
    with pytest.raises(KeyError, match="what"):
        load("folder", "q")


def test_nothing_is_put_into_a_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a line end would end the comment, and what follows in it would be run."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "commented.sql").write_text("-- All of $what.\nselect $what -- as $what says\n")
    monkeypatch.setattr(sql_file, "PACKAGE", tmp_path)
    assert load("folder", "commented", what="'a\nb'") == "-- All of $what.\nselect 'a\nb' -- as $what says\n"


@given(text=st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])))
def test_a_literal_is_the_text(text: str) -> None:
    """Whatever stands in it, quotes and backslashes included."""
    with duckdb.connect() as connection:
        assert connection.execute(f"select {literal(text)}").fetchall() == [(text,)]


@pytest.mark.parametrize("name", ["a*.jsonl", "[ab].jsonl", "what?.jsonl", "plain.jsonl"])
def test_a_path_is_that_of_one_file(tmp_path: Path, name: str) -> None:
    """DuckDB takes wildcards in names of files; a log may be called so."""
    for each in (name, "a1.jsonl", "a.jsonl"):
        (tmp_path / each).write_text('{"name": "' + each + '"}\n')
    query = f"select name from read_json({literal(verbatim(tmp_path / name))})"  # noqa: S608 - what is tested
    with duckdb.connect() as connection:
        assert connection.execute(query).fetchall() == [(name,)]


def test_a_path_that_no_pattern_means_is_refused(tmp_path: Path) -> None:
    """DuckDB would say that there is no such file; a backslash or a wildcard alone is no trouble."""
    with pytest.raises(InputError, match=r"DuckDB reads no path that has a backslash and one of"):
        verbatim(tmp_path / "a*\\b.jsonl")
    assert verbatim(tmp_path / "a\\b.jsonl").endswith("a\\b.jsonl")
