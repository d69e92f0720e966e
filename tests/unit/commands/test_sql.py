from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from keval.cli import root
from keval.errors import InputError, UsageError
from tests.builders import judgment_event, response_event, run_event, write_log
from tests.conftest import Keval


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a log beside a foreign file, in the folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    response = response_event(text="=1+1")
    return write_log(tmp_path / "run.jsonl", [run_event(), response, judgment_event(response)])


def sql(*arguments: str) -> None:
    """Run the command in this process."""
    root.main(["sql", *arguments], standalone_mode=False)


@pytest.mark.parametrize(
    "command", [["sql", "-f", "csv", "runs/*.jsonl", "SELECT count(*) FROM responses"], ["aggregate", "runs/*.jsonl"]]
)
def test_a_quoted_pattern_means_all_logs_that_match(
    command: list[str], log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Files are found without a shell, which cannot name thousands of them."""
    (log.parent / "runs").mkdir()
    for place in range(3):
        response = response_event(f"q{place}")
        write_log(Path(f"runs/{place}.jsonl"), [run_event(), response, judgment_event(response)])
    root.main(command, standalone_mode=False)
    assert ("3\n" if command[0] == "sql" else '"n_samples":3') in capfd.readouterr().out


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO 'run.jsonl'",
        "COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)",
        "WITH x AS (COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)) SELECT * FROM x",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)",
        "EXPLAIN WITH x AS (COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)) SELECT * FROM x",
        "EXPLAIN ANALYZE WITH x AS (COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)) SELECT * FROM x",
        "/* */ EXPLAIN ANALYZE COPY (SELECT 1) TO 'run.jsonl' (USE_TMP_FILE false)",
        "COPY (SELECT 1) TO 'new.csv'",
        "SELECT 1; COPY (SELECT 1) TO 'run.jsonl'",
        "SELECT 1; SELECT 2",
        "EXPORT DATABASE 'new'",
        "ATTACH 'new.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "PRAGMA database_list",
        "CALL enable_logging(storage = 'file')",
        pytest.param("FROM enable_logging(storage = 'file')", marks=pytest.mark.slow),
        "CREATE TABLE new AS SELECT 1",
        "DROP VIEW responses",
        "WITH x AS (INSERT INTO lines (id) VALUES ('new') RETURNING id) SELECT * FROM x",
        "FROM 'other.csv'",
        pytest.param("FROM read_csv('other.csv')", marks=pytest.mark.slow),
        pytest.param("FROM read_text('other.csv')", marks=pytest.mark.slow),
        "FROM read_text('/etc/passwd')",
        pytest.param("FROM read_blob('/proc/self/environ')", marks=pytest.mark.slow),
        pytest.param("FROM glob('*')", marks=pytest.mark.slow),
        pytest.param("FROM 'http://127.0.0.1:9/a.csv'", marks=pytest.mark.slow),
        "FROM query('COPY (SELECT 1) TO ''new.csv''')",
        pytest.param("FROM arguments", marks=pytest.mark.slow),
        "SELECT getenv('HOME')",
        "",
    ],
)
def test_a_query_touches_nothing_but_the_views(query: str, log: Path) -> None:
    """Every other statement and file is refused, and log and folder stay as they are."""
    before = log.read_bytes()
    with pytest.raises(UsageError):
        sql("run.jsonl", query)
    assert log.read_bytes() == before
    assert sorted(path.name for path in log.parent.iterdir()) == ["other.csv", "run.jsonl"]


@pytest.mark.parametrize("query", ["COPY (SELECT 1) TO 'new.csv'", "FROM read_csv('other.csv')"])
def test_a_refusal_says_what_to_do_instead(query: str, log: Path) -> None:
    """The message names the options that save a result and that lift the limit."""
    with pytest.raises(UsageError, match=r"(?s)-o FILE.*--unsafe"):
        sql(log.name, query)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "SELECT text FROM responses",
        "WITH r AS (SELECT * FROM responses) SELECT count(*) FROM r UNION ALL SELECT 1",
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 3) FROM n",
        "WITH r AS MATERIALIZED (FROM scores) SELECT * FROM r, r AS s",
        "FROM scores PIVOT (avg(score) FOR metric IN ('completeness'))",
        "DESCRIBE responses",
        "SHOW TABLES",
        "SUMMARIZE scores",
        "VALUES (1)",
        "EXPLAIN SELECT * FROM scores",
        "explain analyze SELECT * FROM scores -- all",
        "SELECT 1;",
        "SELECT ';' AS \"ü;\"; -- all\n/* of it; */ ;",
        "SELECT " + "+".join(["1"] * 335),
    ],
)
def test_what_only_reads_is_allowed(query: str, log: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Whatever reads views and nothing else runs without an option."""
    sql(log.name, query)
    assert capfdbinary.readouterr().out


@pytest.mark.parametrize(
    "query",
    [
        'SELECT count(*) FROM "Responses"',
        "SELECT count(*) FROM main.responses",
        "SELECT count(*) FROM query_table('responses')",
        "WITH responses AS (FROM responses) SELECT count(*) FROM responses",
        "SELECT (SELECT count(*) FROM responses) FROM runs",
        "SELECT count(*) FROM duckdb_views() WHERE view_name = 'responses'",
        "SELECT count(*) FROM information_schema.tables WHERE table_name = 'responses'",
    ],
)
def test_a_query_finds_what_it_reads(query: str, log: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Though only the views are made that a query reads, it finds them by whatever way it names them."""
    sql(log.name, query, "-f", "csv")
    assert capfdbinary.readouterr().out.splitlines()[1:] == [b"1"]


def test_a_view_that_is_misspelt_is_suggested(log: Path) -> None:
    """Of a name that no view has the message tells the one that is meant, though the query reads others as well."""
    with pytest.raises(UsageError, match="responses"):
        sql(log.name, "SELECT count(*) FROM runs, respnses")


@pytest.mark.parametrize("name", ["a[1]*?.jsonl", "it's.jsonl", "link.jsonl"])
def test_texts_are_read_from_a_log_of_any_name(name: str, log: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Wildcards, quotes and links in a log's name do not keep its texts from being read."""
    if name == "link.jsonl":
        Path(name).symlink_to(log)
    else:
        log.rename(name)
    sql(name, "SELECT status, text FROM responses", "-f", "jsonl")
    assert json.loads(capfdbinary.readouterr().out) == {"status": "answered", "text": "=1+1"}


def test_unsafe_allows_everything(log: Path) -> None:
    """With --unsafe a query writes a file and reads others."""
    sql(log.name, "COPY (SELECT a FROM 'other.csv') TO 'new.csv'; SELECT 1", "--unsafe")
    assert Path("new.csv").read_text() == "a\n1\n"


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 2**23])
def test_unsafe_statements_create_temporary_tables(
    size: int, log: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Also over a log that has an index, which is only read."""
    lines = log.read_bytes()
    log.write_bytes(lines * (1 + size // len(lines)))
    query = "CREATE TEMP TABLE t AS SELECT log FROM logs; SELECT t.log, status FROM t, responses"
    sql(log.name, query, "--unsafe", "-f", "jsonl")
    assert json.loads(capfdbinary.readouterr().out) == {"log": log.name, "status": "answered"}
    assert Path(f"{log.name}.index").exists() == bool(size)


def in_parquet(path: Path) -> list[list[object]]:
    """Return the rows of a file, by a connection of its own: a result may be open in the one that DuckDB shares."""
    with duckdb.connect() as connection:
        return [list(row) for row in connection.read_parquet(str(path)).fetchall()]


READ: dict[str, Callable[[Path], object]] = {
    "csv": lambda path: list(csv.reader(path.read_text().splitlines()))[1:],
    "json": lambda path: [list(row.values()) for row in json.loads(path.read_text())],
    "jsonl": lambda path: [list(json.loads(line).values()) for line in path.read_text().splitlines()],
    "parquet": in_parquet,
}


@pytest.mark.parametrize("form", READ)
def test_a_result_is_written_to_a_file(form: str, log: Path) -> None:
    """With -o the rows are in the file, in the format of -f."""
    query = "SELECT sample_id, status FROM responses -- all"
    sql(log.name, query, "-f", form, "-o", "out")
    assert READ[form](Path("out").resolve()) == [["q1", "answered"]]
    assert sorted(path.name for path in log.parent.iterdir()) == ["other.csv", "out", "run.jsonl"]


@pytest.mark.parametrize("form", ["table", *READ])
@pytest.mark.parametrize(
    ("target", "options"),
    [("run.jsonl", ["--overwrite"]), ("log2.jsonl", ["--overwrite"]), ("link", ["--overwrite"]), ("other.csv", [])],
)
def test_a_result_replaces_no_log_and_no_foreign_file(form: str, target: str, options: list[str], log: Path) -> None:
    """An input and another log are never written over, under any name; another file only with --overwrite."""
    Path("log2.jsonl").write_bytes(log.read_bytes())
    Path("link").symlink_to(log)
    before = Path(target).read_bytes()
    with pytest.raises(UsageError):
        sql(log.name, "SELECT 1", "-f", form, "-o", target, *options)
    assert Path(target).read_bytes() == before


def test_overwrite_replaces_a_file(log: Path) -> None:
    """With --overwrite the result takes the file's place."""
    sql(log.name, "SELECT 1 AS one", "-f", "csv", "-o", "other.csv", "--overwrite")
    assert Path("other.csv").read_text() == "one\n1\n"


def test_a_failed_query_leaves_the_file(log: Path) -> None:
    """The file is replaced by a whole result only."""
    with pytest.raises(UsageError):
        sql(log.name, "SELECT error('no')", "-f", "csv", "-o", "other.csv", "--overwrite")
    assert Path("other.csv").read_text() == "a,b\n1,2\n"


def test_parquet_needs_a_file(log: Path, keval: Keval) -> None:
    """Parquet without -o is a usage error."""
    done = keval("sql", log.name, "SELECT 1", "-f", "parquet")
    assert (done.returncode, done.stderr) == (2, "keval: -f parquet is a file: name it with -o FILE\n")


@pytest.mark.parametrize("name", ["nowhere.jsonl", ".", "-"])
@pytest.mark.usefixtures("log")
def test_views_are_printed_over_files_only(name: str) -> None:
    """A log that is not there, a folder and stdin are named in one line: no view could read them."""
    with pytest.raises(InputError, match="no such file"):
        sql(name, "--print-views")


@pytest.mark.parametrize("terms", [340, 400, 990])
@pytest.mark.slow
def test_a_deep_query_is_checked_or_refused_with_a_way_out(terms: int, log: Path, keval: Keval) -> None:
    """However many terms a sum has, it is answered, or the message names the option that lifts the check."""
    done = keval("sql", log.name, "SELECT " + "+".join(["1"] * terms), "-f", "csv")
    assert (done.returncode, "--unsafe" in done.stderr) in {(0, False), (2, True)}, done.stderr[-500:]


@pytest.mark.slow
def test_a_deep_query_is_answered_unchecked(log: Path, keval: Keval) -> None:
    """The way out is one: what is nested too deep to be checked can be run all the same."""
    done = keval("sql", log.name, "SELECT " + "+".join(["1"] * 990), "-f", "csv", "--unsafe")
    assert (done.returncode, done.stdout.splitlines()[1:]) == (0, ["990"]), done.stderr[-500:]


VALUES: dict[str, object] = {
    "true": True,
    "null": None,
    "1::utinyint": 1,
    "18446744073709551615::ubigint": 18446744073709551615,
    "(-9223372036854775808)::bigint": -9223372036854775808,
    "18446744073709551616::hugeint": "18446744073709551616",
    "340282366920938463463374607431768211455::uhugeint": "340282366920938463463374607431768211455",
    "'123456789012345678901234567890'::bignum": "123456789012345678901234567890",
    "1.5::float": 1.5,
    "'nan'::double": None,
    "'-inf'::double": None,
    "1.50::decimal(10, 2)": "1.50",
    "'ü'": "ü",
    "'\\xAA\\x5Ca'::blob": "\\xAA\\x5Ca",
    "'101'::bit": "101",
    "date '2020-01-02'": "2020-01-02",
    "'5000-01-01 (BC)'::date": "5000-01-01 (BC)",
    "'infinity'::date": "9999-12-31",
    "time '01:02:03'": "01:02:03",
    "'01:02:03+02'::timetz": "01:02:03+02:00",
    "'2020-01-01 01:02:03'::timestamp": "2020-01-01T01:02:03",
    "'2020-01-01 01:02:03'::timestamp_ns": "2020-01-01T01:02:03",
    "timezone('UTC', '2020-01-01 01:02:03+00'::timestamptz)": "2020-01-01T01:02:03",
    "interval 1 day": "1 day, 0:00:00",
    "'a'::enum('a', 'b')": "a",
    "'00000000-0000-0000-0000-000000000001'::uuid": "00000000-0000-0000-0000-000000000001",
    "{'a': 1, 'b': [date '2020-01-02']}": {"a": 1, "b": ["2020-01-02"]},
    "[1, 2]::integer[2]": [1, 2],
    "map([1], [2])": {"1": 2},
    "map([date '2020-01-02', '2021-01-01'], [true, null])": {"2020-01-02": True, "2021-01-01": None},
    "map([[1, 2]], [2])": {"key": [[1, 2]], "value": [2]},
    "map([18446744073709551616::hugeint], [18446744073709551616::hugeint])": {
        "18446744073709551616": "18446744073709551616"
    },
    "union_value(a := 1)": 1,
    "1::variant": 1,
    "'{}'::json": {},
}
"""Of each type of DuckDB a value, and what it is in JSON."""


def test_a_value_of_every_type_has_a_form_in_json(log: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Alone and within a list each value becomes what JSON has for it, text if it has nothing."""
    columns = ", ".join(f"{value} AS v{number}, [{value}] AS l{number}" for number, value in enumerate(VALUES))
    expected = {
        name: form
        for number, value in enumerate(VALUES.values())
        for name, form in ((f"v{number}", value), (f"l{number}", [value]))
    }
    sql(log.name, f"SELECT {columns}", "-f", "jsonl")
    assert json.loads(capfdbinary.readouterr().out) == expected
    sql(log.name, f"SELECT {columns}", "-f", "json")
    assert json.loads(capfdbinary.readouterr().out) == [expected]


@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_value_of_every_type_has_a_form_in_every_text(form: str, log: Path, keval: Keval) -> None:
    """No type ends a query with a traceback."""
    columns = ", ".join(f"{value} AS v{number}" for number, value in enumerate(VALUES))
    done = keval("sql", log.name, f"SELECT {columns}", "-f", form)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", ["union_value(a := 1)", "map([1], [1::hugeint])"])
def test_a_value_that_parquet_lacks_is_no_traceback(value: str, log: Path, keval: Keval) -> None:
    """Parquet takes a value of a rare type, or says that it does not."""
    assert keval("sql", log.name, f"SELECT {value} AS v", "-f", "parquet", "-o", "out").returncode in {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "json", "jsonl"])
@pytest.mark.parametrize("value", ["[" * 260 + "1" + "]" * 260, "interval '9999999 years'"])
def test_a_value_without_a_form_is_refused(form: str, value: str, log: Path) -> None:
    """What neither JSON nor Python can hold is named with a way out."""
    with pytest.raises(UsageError, match="VARCHAR"):
        sql(log.name, f"SELECT {value} AS v", "-f", form, "--unsafe")


@pytest.mark.parametrize("form", READ)
def test_a_semicolon_and_comments_end_a_query_in_every_format(form: str, log: Path) -> None:
    """What stands after the statement changes nothing."""
    sql(log.name, "SELECT ';' AS a; -- all\n;/* ; */", "-f", form, "-o", "out")
    assert READ[form](Path("out").resolve()) == [[";"]]


def test_a_refused_file_names_the_option_before_a_log_is_read(log: Path, keval: Keval) -> None:
    """What -o may not write is said at once, before the log is checked, with the option that allows it."""
    log.write_text("{oops\n" * 3)
    done = keval("sql", log.name, "SELECT 1", "-o", "other.csv")
    assert (done.returncode, done.stderr) == (2, "keval: other.csv exists; --overwrite replaces it\n")


def test_a_query_that_is_no_text_is_refused(log: Path, keval: Keval) -> None:
    """Bytes of the command line that are not UTF-8 are a usage error."""
    done = keval("sql", log.name, "SELECT '\udcff'")
    assert (done.returncode, "is no text in utf-8" in done.stderr) == (2, True)


def test_the_ending_of_a_file_names_the_format(log: Path, keval: Keval) -> None:
    """A table for people is cut to their screen, and so no file: an ending that names no format is refused."""
    assert keval("sql", log.name, "SELECT 1 AS a", "-o", "one.csv").returncode == 0
    assert (log.parent / "one.csv").read_text() == "a\n1\n"
    done = keval("sql", log.name, "SELECT 1 AS a", "-o", "one.txt")
    assert (done.returncode, done.stderr) == (
        2,
        "keval: one.txt: its ending names no format; give one with -f, such as -f csv\n",
    )
