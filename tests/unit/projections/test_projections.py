"""Properties of the views: which events count, what state each task is in, and what is compared."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest

from keval import ids, projections, schema
from keval.errors import EnvironmentLacksError, InputError
from keval.ids import JsonObject, answer_sha256
from keval.processes import memory
from keval.projections import continuation
from keval.projections.views import MACROS, definition, named_in
from tests.builders import (
    AGENT_ID,
    JUDGE_ID,
    ask,
    condition_id,
    failure_event,
    judge_entry,
    judge_failure_event,
    judgment_event,
    plan_event,
    response_event,
    retraction_event,
    run_event,
    write_log,
)

PUBLIC = (
    "runs", "responses", "judgments", "failures", "scores", "tool_calls", "sample_scores", "condition_scores", "costs",
    "missing",
)  # fmt: skip
STRICT_ID = "another-judge"


def rows(folder: Path, events: list[JsonObject], query: str) -> list[JsonObject]:
    """Return what a query finds in a log of these events, all of which are valid."""
    assert [problem for event in events if (problem := schema.event_problem(event))] == []
    return ask(write_log(folder / "log.jsonl", events), query)


def values(folder: Path, events: list[JsonObject], query: str) -> list[object]:
    """Return the only column that a query finds."""
    return [value for row in rows(folder, events, query) for value in row.values()]


# Files and views


FILES = {path.stem for path in Path(projections.__file__).parent.glob("*.sql")}
EXPRESSIONS = {*MACROS, "passed", "turns", "failed_attempts", "planned_samples"}
"""Those that are no query, but what queries have in them."""


@pytest.mark.parametrize("view", sorted(FILES - EXPRESSIONS))
def test_every_view_says_what_one_row_is(view: str) -> None:
    """The comment at the top of each file says what a row of the view is."""
    assert projections.about(view).startswith("One row per ")


def test_means_are_the_same_whatever_the_order_of_the_lines(tmp_path: Path) -> None:
    """To the last digit: DuckDB's exact sum of even two numbers may depend on which comes first."""
    answers = [response_event("q1"), response_event("q2"), response_event("q3")]
    scored = [[each, judgment_event(each, score)] for each, score in zip(answers, (7 / 3, 1.3, 13 / 3), strict=True)]
    orders = (itertools.chain([run_event()], *order) for order in itertools.permutations(scored))
    found = [rows(tmp_path, list(order), "from condition_means") for order in orders]
    assert found == found[:1] * 6


def test_every_file_is_a_table_or_a_view() -> None:
    """Each SQL file is run; those beside tables and views are loaded by name."""
    folder = Path(projections.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.parent.rglob("*.py"))
    loaded = set(re.findall(r'"projections",\s+"(\w+)"', code))
    by_name = (continuation.CHOSEN, continuation.JOINED)
    loaded |= {file for queries in by_name for file in queries.values()}
    made = {*projections.ALL, *MACROS}
    assert made | loaded == FILES


def test_all_sql_stands_in_files() -> None:
    """No text in the Python of these folders is a query: each is a file, which a person can read and run."""
    package = Path(projections.__file__).parent.parent
    for folder in ("projections", "reports", "compare", "gate", "stats", "exports"):
        for path in (package / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
                assert not re.search(r"\bselect\b.*\b(from|where)\b", text, re.DOTALL), f"{path}:{text}"
    for folder in ("reports", "compare", "gate", "preparation", "executors", "execution"):
        asked = "".join(path.read_text(encoding="utf-8") for path in (package / folder).glob("*.py"))
        assert [path.stem for path in (package / folder).glob("*.sql") if f'"{path.stem}"' not in asked] == [], folder


@pytest.mark.slow
def test_an_empty_log_has_all_views(tmp_path: Path) -> None:
    """A log without a line has every view, without a row."""
    with projections.connect([write_log(tmp_path / "log.jsonl", [])]) as connection:
        assert [view for view in projections.VIEWS if connection.view(view).fetchall()] == []


def test_what_a_view_needs_is_found_in_its_text() -> None:
    """The tables and views that keval finds in the text of each one are those that DuckDB's parser finds."""
    made = {*projections.ALL, *MACROS}
    with duckdb.connect() as connection:
        for name in made:
            query = definition(name)
            ((parsed,),) = connection.execute("select json_serialize_sql(?::varchar)", [query]).fetchall()
            found = set(re.findall(r'"table_name":"(\w+)"', parsed)) & made
            assert found == named_in(query), name


def test_only_what_is_asked_is_made(tmp_path: Path) -> None:
    """A view that is asked is there with all that it is made from, and no other."""
    with projections.connect([write_log(tmp_path / "log.jsonl", [])], tools=False, asked=["runs"]) as connection:
        assert connection.view("runs").fetchall() == []
        with pytest.raises(duckdb.CatalogException):
            connection.view("scores")


def test_a_log_without_judgments_has_the_columns_of_scores(tmp_path: Path) -> None:
    """A query over scores is valid before anything was judged."""
    query = "select condition, metric, avg(score), var_samp(score) from scores group by all"
    assert rows(tmp_path, [run_event(), response_event()], query) == []


def test_scores_has_a_row_for_each_judgment_and_metric(tmp_path: Path) -> None:
    """A judgment of two metrics gives two rows with scale and reasoning."""
    response = response_event()
    events = [run_event(), response, judgment_event(response, {"clarity": 2, "completeness": 4})]
    found = rows(tmp_path, events, "select * from scores order by metric")
    assert [(row["metric"], row["score"], row["min"], row["max"], row["passed"]) for row in found] == [
        ("clarity", 2.0, 1.0, 5.0, None),
        ("completeness", 4.0, 1.0, 5.0, None),
    ]
    assert found[0]["reasoning"] == "It says so."
    assert (found[0]["judge"], found[0]["judge_id"]) == ("rubric", JUDGE_ID)
    assert (found[0]["condition"], found[0]["condition_id"]) == ("baseline", condition_id("baseline"))
    assert (found[0]["sample_id"], found[0]["repetition"], found[0]["replicate"]) == ("q1", 1, 1)
    assert (found[0]["response_id"], found[0]["judgment_id"]) == (response["id"], events[2]["id"])
    assert found[0]["agent_id"] == AGENT_ID


@pytest.mark.slow
def test_the_script_runs_in_a_plain_duckdb(tmp_path: Path) -> None:
    """The printed script makes the same views in a DuckDB that knows nothing of keval."""
    events = _small_log()
    path = write_log(tmp_path / "log.jsonl", events)
    with duckdb.connect() as plain, projections.connect([path]) as connection:
        plain.execute(projections.views_sql([path]))
        for view in projections.VIEWS:
            query = f"from {view} order by all"
            assert plain.execute(query).fetchall() == connection.execute(query).fetchall(), view


def test_public_names_are_views_of_the_script(tmp_path: Path) -> None:
    """Whatever is computed in advance, the names that users rely on are views."""
    script = projections.views_sql([write_log(tmp_path / "log.jsonl", [])])
    assert all(f"CREATE OR REPLACE VIEW {view} AS" in script for view in PUBLIC)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["it's.jsonl", 'a "b".jsonl', "a[1].jsonl", "*.jsonl", "a?.jsonl", "ü\u2028.jsonl", "log.jsonl.gz", "x=1/a b"],
)
def test_a_file_name_is_taken_literally(tmp_path: Path, name: str) -> None:
    """Quotes, wildcards and endings in a file's name mean nothing, even beside a file they would match."""
    write_log(tmp_path / "a1.jsonl", [response_event("wrong")])
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    assert ask(write_log(path, [response_event("right")]), "select sample_id from responses") == [
        {"sample_id": "right"}
    ]


def test_what_is_not_json_is_an_input_error(tmp_path: Path) -> None:
    """A file that nobody checked gives an error that names it."""
    path = tmp_path / "log.jsonl"
    path.write_text('{"type": "run"\n{}\n')
    with pytest.raises(InputError, match=r"log\.jsonl"), projections.connect([path]):
        pass


def test_a_closed_connection_leaves_nothing_behind(tmp_path: Path) -> None:
    """The folder in which the lines are kept is gone with the connection."""
    with projections.connect([write_log(tmp_path / "log.jsonl", [response_event()])]) as connection:
        (folder,) = connection.execute("select current_setting('temp_directory')").fetchone() or ()
        assert Path(folder).is_dir()
    assert not Path(folder).exists()


def test_a_query_that_finds_no_room_is_told_as_a_lack_of_the_machine(tmp_path: Path) -> None:
    """DuckDB's word about memory comes with what to do, and is no bug of keval's."""
    log = write_log(tmp_path / "log.jsonl", [response_event()])
    limits = "set memory_limit = '8MB'; set max_temp_directory_size = '0KB'"
    query = "select count(*) from (select distinct i, i || 'x' from range(9000000) as r(i))"
    with pytest.raises(EnvironmentLacksError, match="TMPDIR") as raised, projections.connect([log]) as connection:
        connection.execute(f"{limits}; {query}")
    assert "Possible solutions" not in str(raised.value)  # which are settings that no user has


@pytest.mark.parametrize(("texts", "limit"), [(True, "8.0 GiB"), (False, "1.5 GiB")])
def test_where_texts_are_read_a_query_may_take_what_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: bool, limit: str
) -> None:
    """Two thousand of them are in memory at once, however long each is; numbers need no more than they did."""
    monkeypatch.setattr(memory, "for_queries", lambda: 8 * 2**30)
    with projections.connect([write_log(tmp_path / "log.jsonl", [response_event()])], texts=texts) as connection:
        assert connection.execute("select current_setting('memory_limit')").fetchall() == [(limit,)]


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    """U+2028 and other line ends inside a text are data."""
    text = "one\u2028two\u2029three\x85four\r\nfive\x0b"
    assert values(tmp_path, [response_event(text=text)], "select text from responses") == [text]


def test_unknown_types_are_ignored(tmp_path: Path) -> None:
    """A line of an unknown type may hold anything under the names that keval uses."""
    alien = {
        "type": "note", "v": 1, "id": "n", "time": "2026-11-20T11:00:00.123Z", "run_id": "r", "sample": 7,
        "repetition": "first", "judge": "x", "scores": [1], "turns": {"a": None}, "cost_usd": {}, "target": ["n"],
        "mock": "maybe", "conditions": "all", "Text": {},
    }  # fmt: skip
    response = response_event()
    events = [alien, response, judgment_event(response, 4), alien | {"id": response["id"]}]
    assert values(tmp_path, events, "select score from scores") == [4.0]
    assert values(tmp_path, events, "select count(*) from events") == [4]


# Which events count


def test_the_last_event_of_an_id_counts_by_place_not_by_time(tmp_path: Path) -> None:
    """Of two responses with one id the one further down counts, though its clock was behind."""
    events = [response_event(text="first", time="2026-11-20T12:00:00.000Z"), response_event(text="second")]
    assert values(tmp_path, events, "select text from responses") == ["second"]


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    """A later file overrides an earlier one, and an empty one in between changes nothing."""
    first = write_log(tmp_path / "b.jsonl", [response_event(text="first")])
    empty = write_log(tmp_path / "c.jsonl", [])
    second = write_log(tmp_path / "a.jsonl", [response_event(text="second")])
    assert ask([first, empty, second], "select text from responses") == [{"text": "second"}]
    assert ask([second, empty, first], "select text from responses") == [{"text": "first"}]


@pytest.mark.slow
def test_positions_follow_the_lines_of_a_long_log(tmp_path: Path) -> None:
    """Several threads read, and yet the position of each event is that of its line."""
    path = tmp_path / "log.jsonl"
    filler = "x" * 500
    with path.open("wb") as log:
        for number in range(1, 150_001):
            log.write(orjson.dumps({"type": "note", "id": str(number), "time": filler}) + b"\n")
    paths = [path, write_log(tmp_path / "next.jsonl", [{"type": "note", "id": "150001"}])]
    found = ask(paths, "select count(*) as n, count(*) filter (position = id::bigint) as right from events")
    assert found == [{"n": 150_001, "right": 150_001}]


@pytest.mark.slow
def test_a_retracted_response_is_gone_with_its_judgments(tmp_path: Path) -> None:
    """Nothing computed from a log knows of a retracted response; what it cost was paid."""
    response = response_event()
    events = [run_event(), response, judgment_event(response), retraction_event(response)]
    for view in ("responses", "judgments", "scores", "tool_calls", "outcomes", "sample_scores"):
        assert rows(tmp_path, events, f"from {view}") == []
    found = rows(tmp_path, events, "select completed, not_done from missing where condition = 'baseline'")
    assert found == [{"completed": 0, "not_done": 2}]
    assert values(tmp_path, events, "select sum(cost_usd) from costs") == [0.75]


def test_a_retracted_response_brings_no_earlier_failure_back(tmp_path: Path) -> None:
    """The task is not done and asked again; that it once failed is no answer of the agent."""
    response = response_event()
    events = [run_event(), failure_event(response), response, retraction_event(response)]
    found = rows(tmp_path, events, "select completed, failed, not_done from missing where condition = 'baseline'")
    assert found == [{"completed": 0, "failed": 0, "not_done": 2}]


def test_a_retracted_judgment_leaves_its_response(tmp_path: Path) -> None:
    """Only the target of a retraction is gone."""
    response = response_event()
    judgment = judgment_event(response)
    events = [response, judgment, retraction_event(judgment)]
    assert values(tmp_path, events, "select count(*) from judgments") == [0]
    assert values(tmp_path, events, "select count(*) from responses") == [1]


def test_an_event_after_its_retraction_counts(tmp_path: Path) -> None:
    """A retraction takes back what came before it, and nothing that came later."""
    response = response_event()
    again = [response, retraction_event(response), response]
    assert values(tmp_path, again, "select count(*) from responses") == [1]
    assert values(tmp_path, [retraction_event(response), response], "select count(*) from responses") == [1]


def test_a_retracted_run_or_failure_is_gone(tmp_path: Path) -> None:
    """Every type of event can be retracted."""
    run, failure = run_event(), failure_event(response_event())
    events = [run, failure, retraction_event(run), retraction_event(failure)]
    for view in ("runs", "failures", "tasks", "conditions"):
        assert rows(tmp_path, events, f"from {view}") == []


def test_the_same_answer_after_a_retraction_keeps_its_judgments(tmp_path: Path) -> None:
    """An agent that answers the same again is not judged again, so its judgments must count."""
    response = response_event()
    events = [response, judgment_event(response, 4), retraction_event(response), response]
    assert values(tmp_path, events, "select score from scores") == [4.0]


@pytest.mark.slow
def test_only_the_newest_version_of_a_question_counts(tmp_path: Path) -> None:
    """Answers to an edited question are kept, marked, and never pooled with those to the new one."""
    old = [response_event(repetition=n, question="Old?") for n in (1, 2)]
    new = response_event(repetition=1, question="New?")
    events = [*old, *(judgment_event(response, 1) for response in old), new, judgment_event(new, 5)]
    found = rows(tmp_path, events, "select sample ->> 'question' as question, current from responses order by position")
    assert [(row["question"], row["current"]) for row in found] == [("Old?", False), ("Old?", False), ("New?", True)]
    assert values(tmp_path, events, "select score from scores") == [5.0]
    assert values(tmp_path, events, "select mean from condition_scores") == [5.0]
    assert values(tmp_path, events, "select completed from missing") == [1]


def test_a_failure_can_bring_the_newest_version(tmp_path: Path) -> None:
    """An edited question that was only failed so far makes the old answers old."""
    old, new = response_event(question="Old?"), response_event(question="New?")
    events = [old, judgment_event(old), failure_event(new)]
    assert values(tmp_path, events, "select count(*) from scores") == [0]
    assert values(tmp_path, events, "select state from outcomes") == ["agent_failed"]


def test_current_samples_are_those_of_an_agent(tmp_path: Path) -> None:
    """What another agent was asked does not outdate an answer."""
    events = [response_event(question="Old?"), response_event(question="New?", agent_id="another")]
    assert values(tmp_path, events, "select current from responses") == [True, True]


def test_a_judgment_of_an_older_text_does_not_count(tmp_path: Path) -> None:
    """When a response is written again with another text, judgments of the first text are stale."""
    first, second = response_event(text="first"), response_event(text="second")
    events = [first, judgment_event(first, 1), second]
    assert values(tmp_path, events, "select count(*) from scores") == [0]
    assert values(tmp_path, events, "select current from judgments") == [False]
    assert values(tmp_path, [*events, judgment_event(second, 5)], "select score from scores") == [5.0]


def compared(response: JsonObject, other: JsonObject, score: float) -> JsonObject:
    """Return the judgment of a pair."""
    beside = {"other_response_id": other["id"], "other_answer_sha256": answer_sha256(other["text"])}
    return judgment_event(response, score, id=ids.digest(response["id"], other["id"]), **beside)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"conditions": ("baseline", "docs")}, {"baseline": 3, "docs": 5}),
        ({"conditions": ("docs", "baseline")}, {"baseline": 1, "docs": 3}),
        (
            {"conditions": ("baseline", "docs"), "config": {"name": "test", "baseline": "docs"}},
            {"baseline": 1, "docs": 3},
        ),
        (
            {
                "conditions": ("docs", "baseline"),
                "judges": [{**judge_entry(), "parameters": {"model": "m", "baseline": "baseline"}}],
            },
            {"baseline": 3, "docs": 5},
        ),
    ],
)
def test_a_pair_counts_with_the_baseline_of_now(
    tmp_path: Path, run: dict[str, Any], expected: dict[str, float]
) -> None:
    """Whichever was judged last: over two baselines there is no one preference."""
    baseline, docs = response_event("q1", "baseline"), response_event("q1", "docs")
    pairs = [compared(*pair) for pair in ((baseline, baseline, 3), (docs, baseline, 5))]
    pairs_over_docs = [compared(*pair) for pair in ((baseline, docs, 1), (docs, docs, 3))]
    for judged in ([*pairs, *pairs_over_docs], [*pairs_over_docs, *pairs]):
        events = [run_event(("baseline", "docs")), baseline, docs, run_event(**run), *judged]
        found = rows(tmp_path, events, "select condition, score from scores")
        assert {row["condition"]: row["score"] for row in found} == expected


def test_an_answer_given_again_after_a_retraction_is_a_pairs_again(tmp_path: Path) -> None:
    """While it is gone, what was preferred to it does not count."""
    baseline, docs = response_event("q1", "baseline"), response_event("q1", "with_docs")
    retracted = [run_event(), baseline, docs, compared(docs, baseline, 5), retraction_event(baseline)]
    assert rows(tmp_path, retracted, "select score from scores") == []
    for again in ([baseline], [baseline, compared(docs, baseline, 5)]):
        assert values(tmp_path, [*retracted, *again], "select score from scores") == [5]


PAIR_JUDGE = {**judge_entry(), "unit": "pair"}


def scores_of_pairs(folder: Path, baseline: str | None, docs: str | None, **config: object) -> list[JsonObject]:
    """Return what is said of one pair of tasks: None has answered, else it is a failure's kind."""
    events: list[JsonObject] = [
        run_event(samples=1, judges=[PAIR_JUDGE], config={"name": "test", **config}),
        response_event("q2", "with_docs"),
    ]
    given = {"baseline": baseline, "with_docs": docs}
    answers = {name: response_event("q1", name) for name in given}
    events += [answers[name] if kind is None else failure_event(answers[name], kind) for name, kind in given.items()]
    if baseline is None:
        events += [compared(answers[name], answers["baseline"], 3) for name, kind in given.items() if kind is None]
    query = (
        "select condition, mean, scored, agent_failed, not_measured, not_done from sample_scores where sample_id = 'q1'"
    )
    return rows(folder, events, f"{query} order by condition")


@pytest.mark.parametrize(
    ("baseline", "docs", "means"),
    [
        (None, None, (3, 3)),
        (None, "timeout", (3, 1)),
        ("timeout", None, (3, 5)),
        ("timeout", "agent_error", (3, 3)),
        (None, "infra_error", (3, None)),
        ("infra_error", None, (None, None)),
    ],
)
def test_to_a_judge_of_pairs_any_answer_is_better_than_none(
    tmp_path: Path, baseline: str | None, docs: str | None, means: tuple[float | None, ...]
) -> None:
    """So two conditions that fail as often are as good; what the machine failed says nothing of either."""
    found = scores_of_pairs(tmp_path, baseline, docs)
    assert tuple(row["mean"] for row in found) == means
    failed = [kind in {"timeout", "agent_error"} for kind in (baseline, docs)]
    assert [row["agent_failed"] for row in found] == failed
    assert [row["not_done"] for row in found] == [0, 0]
    assert [row["scored"] + row["agent_failed"] + row["not_measured"] for row in found] == [1, 1]


def test_what_became_of_another_configs_baseline_changes_nothing(tmp_path: Path) -> None:
    """Each config of a log compares within itself, also where they share a judge."""
    failed, docs, other = (response_event("q1", name) for name in ("baseline", "with_docs", "other"))
    runs = [
        run_event(names, samples=1, judges=[PAIR_JUDGE], config_name=name)
        for name, names in (("one", ("baseline", "with_docs")), ("two", ("other", "more")))
    ]
    events = [*runs, failure_event(failed, "timeout"), docs, other, compared(docs, other, 1)]
    found = rows(tmp_path, events, "select condition, mean from sample_scores order by condition")
    assert {row["condition"]: row["mean"] for row in found} == {"baseline": 3, "other": None, "with_docs": 5}


def test_a_pair_counts_without_its_other_response_where_the_log_has_no_baseline(tmp_path: Path) -> None:
    """A log cut with grep may lack it; where the baseline's is there, the other one was another config's."""
    baseline, docs, other = (response_event("q1", name) for name in ("baseline", "with_docs", "other"))
    run = run_event(judges=[PAIR_JUDGE])
    assert values(tmp_path, [run, docs, compared(docs, baseline, 5)], "select score from scores") == [5]
    events = [run, baseline, docs, compared(docs, baseline, 5), compared(docs, other, 1)]
    assert values(tmp_path, events, "select score from scores") == [5]


@pytest.mark.parametrize(("baseline", "docs"), [(None, "timeout"), ("timeout", None), ("timeout", "timeout")])
def test_pairs_with_a_failure_are_left_out_where_failures_are(
    tmp_path: Path, baseline: str | None, docs: str | None
) -> None:
    """Whoever failed."""
    found = scores_of_pairs(tmp_path, baseline, docs, failures="exclude")
    assert [row["mean"] for row in found] == [None if baseline else 3, None]
    assert [row["not_done"] + row["not_measured"] for row in found] == [0, 0]


def test_a_judge_apart_from_the_config_compares_with_its_baseline(tmp_path: Path) -> None:
    """As one that the config names."""
    baseline, docs = response_event("q1", "baseline"), response_event("q1", "docs")
    judged = ((baseline, docs, 1), (docs, docs, 3), (baseline, baseline, 3), (docs, baseline, 5))
    pairs = [compared(*pair) for pair in judged]
    run = run_event(("docs", "baseline"), judges=[])
    found = rows(tmp_path, [run, baseline, docs, run_event(()), *pairs], "select condition, score from scores")
    assert {row["condition"]: row["score"] for row in found} == {"baseline": 1, "docs": 3}


def test_imported_answers_are_compared_with_the_imported_baseline(tmp_path: Path) -> None:
    """However many imports brought the conditions, and in whatever order."""
    baseline, docs = response_event("q1", "baseline"), response_event("q1", "docs")
    events = [
        run_event(("docs",), command="import", judges=[]),
        docs,
        run_event(("baseline",), command="import", judges=[]),
        baseline,
        run_event(()),
        compared(docs, baseline, 5),
        compared(baseline, docs, 1),
    ]
    found = rows(tmp_path, events, "select condition, score from scores")
    assert [(row["condition"], row["score"]) for row in found] == [("docs", 5)]


def test_the_same_response_repeated_later_keeps_its_judgments(tmp_path: Path) -> None:
    """Merging logs repeats lines; a response after its judgment with the same text changes nothing."""
    response = response_event()
    events = [response, judgment_event(response, 4), response]
    assert values(tmp_path, events, "select score from scores") == [4.0]
    assert values(tmp_path, [events[1], response], "select score from scores") == [4.0]


def test_a_merge_of_two_texts_keeps_the_judgments_of_the_last(tmp_path: Path) -> None:
    """Whole logs one after the other give the state of the last one for what both hold."""
    logs = [
        [response := response_event(text=text), judgment_event(response, score)] for text, score in (("a", 1), ("b", 5))
    ]
    for first, second in itertools.permutations(logs):
        events = [*first, *second, *first, *second]
        assert values(tmp_path, events, "select score from scores") == [second[1]["scores"]["completeness"]["score"]]


def test_a_judgment_without_its_response_stands_for_itself(tmp_path: Path) -> None:
    """A log cut to its judgments still has scores."""
    events = [judgment_event(response_event(), 4)]
    assert values(tmp_path, events, "select mean from condition_scores") == [4.0]
    assert values(tmp_path, events, "select completed from missing") == [1]


# Conditions and plans


def test_an_edited_prompt_makes_another_condition(tmp_path: Path) -> None:
    """Both conditions of the name have their own numbers; the one of the newest run is current."""
    old, new = response_event(prompt="Old."), response_event(prompt="New.")
    events = [
        run_event({"baseline": "Old."}), old, judgment_event(old, 1),
        run_event({"baseline": "New."}), new, judgment_event(new, 5),
    ]  # fmt: skip
    query = "select condition, mean, current from condition_scores order by current"
    assert rows(tmp_path, events, query) == [
        {"condition": "baseline", "mean": 1.0, "current": False},
        {"condition": "baseline", "mean": 5.0, "current": True},
    ]
    assert values(tmp_path, events, "select score from scores where current") == [5.0]


def test_without_a_run_the_last_condition_of_a_name_is_current(tmp_path: Path) -> None:
    """The place in the log decides when no run event does."""
    events = [response_event(prompt="Old."), response_event(prompt="New.")]
    found = rows(tmp_path, events, "select condition_id, current from conditions order by current")
    assert [row["condition_id"] for row in found] == [
        condition_id("baseline", "Old."),
        condition_id("baseline", "New."),
    ]
    assert [row["current"] for row in found] == [False, True]


def test_a_condition_that_a_newer_run_leaves_out_stays_current(tmp_path: Path) -> None:
    """Merging the logs of two configs with different conditions loses none of them."""
    events = [run_event(["baseline"]), run_event(["with_docs", "with_graph"])]
    found = rows(tmp_path, events, "select condition, current from conditions order by place")
    assert [(row["condition"], row["current"]) for row in found] == [
        ("with_docs", True), ("with_graph", True), ("baseline", True),
    ]  # fmt: skip


def test_an_edited_agent_makes_the_old_numbers_old(tmp_path: Path) -> None:
    """A condition is current with the agent of the newest run only, and agents are never pooled."""
    old, new = response_event(agent_id="old"), response_event()
    events = [old, judgment_event(old, 1), run_event(["baseline"]), new, judgment_event(new, 5)]
    found = rows(tmp_path, events, "select mean, current from condition_scores order by mean")
    assert found == [{"mean": 1.0, "current": False}, {"mean": 5.0, "current": True}]


@pytest.mark.slow
def test_a_renamed_condition_keeps_its_numbers(tmp_path: Path) -> None:
    """A condition is its content: with another name in the newest run it goes by that name everywhere."""
    response = response_event()
    renamed = run_event(["control"])
    renamed["conditions"]["control"]["condition_id"] = condition_id("baseline")
    events = [run_event(["baseline"]), response, judgment_event(response, 4), renamed]
    assert rows(tmp_path, events, "select condition, mean, current from condition_scores") == [
        {"condition": "control", "mean": 4.0, "current": True}
    ]
    assert values(tmp_path, events, "select condition from scores") == ["control"]
    assert values(tmp_path, events, "select distinct condition from costs") == ["control"]


def test_the_newest_run_says_what_is_planned(tmp_path: Path) -> None:
    """More samples or repetitions in a newer run raise the plan; a run without the condition ends it."""
    events = [
        run_event(["baseline"], samples=2, repetitions=1),
        run_event(["baseline"], samples=2, repetitions=3),
        run_event(["with_docs"], samples=9, repetitions=9),
        run_event(()),
    ]
    assert rows(tmp_path, events, "select condition, planned, not_done from missing order by condition") == [
        {"condition": "baseline", "planned": None, "not_done": None},
        {"condition": "with_docs", "planned": 81, "not_done": 81},
    ]


def test_without_a_run_nothing_is_planned(tmp_path: Path) -> None:
    """An unknown plan is null, and so is what it leaves to do."""
    found = rows(tmp_path, [response_event()], "select planned, completed, not_done from missing")
    assert found == [{"planned": None, "completed": 1, "not_done": None}]


def test_conditions_come_in_the_order_of_the_config(tmp_path: Path) -> None:
    """Not by name, and not in the order in which they were answered."""
    events = [response_event(condition="a"), response_event(condition="b"), run_event(["z", "b", "a"])]
    assert values(tmp_path, events, "select condition from conditions order by place") == ["z", "b", "a"]


def test_a_log_of_one_run_has_a_row_for_all_that_is_planned(tmp_path: Path) -> None:
    """Before the first answer every condition and metric has its row, without a number."""
    found = rows(tmp_path, [run_event()], "select * from condition_scores order by condition_place")
    assert [(row["condition"], row["planned"], row["not_done"], row["mean"]) for row in found] == [
        ("baseline", 2, 2, None), ("with_docs", 2, 2, None),
    ]  # fmt: skip
    assert [(row["mean_lower"], row["mean_upper"]) for row in found] == [(1.0, 5.0), (1.0, 5.0)]
    assert found[0]["failed"] == {}


# Judges and metrics


def test_metrics_come_in_the_judges_order(tmp_path: Path) -> None:
    """Judges as they came, metrics as the judge lists them, in runs and in judgments."""
    metrics = [{"name": name, "min": 0, "max": 1} for name in ("zeal", "accuracy")]
    response = response_event()
    events = [
        run_event(["baseline"], judges=[judge_entry(metrics, name="z"), judge_entry(judge_id="b", name="a")]),
        response,
        judgment_event(response, {"y": 1, "x": 2}, judge_id="c", judge={"name": "late", "type": "t", "model": None}),
    ]
    found = rows(tmp_path, events, "select judge, metric, max from metrics order by place")
    assert [tuple(row.values()) for row in found] == [
        ("z", "zeal", 1.0), ("z", "accuracy", 1.0), ("a", "completeness", 5.0), ("late", "y", 5.0), ("late", "x", 5.0),
    ]  # fmt: skip


def test_a_judge_run_by_itself_concerns_all_conditions(tmp_path: Path) -> None:
    """A condition that the second judge has not reached yet has its row, and nothing in it."""
    response = response_event()
    other = judge_entry(judge_id=STRICT_ID, name="strict")
    events = [run_event(), response, run_event((), judges=[other]), judgment_event(response, 4, judge_id=STRICT_ID)]
    query = "select condition, scored, not_done from condition_scores where judge = 'strict' order by condition"
    assert [tuple(row.values()) for row in rows(tmp_path, events, query)] == [("baseline", 1, 1), ("with_docs", 0, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("view", ["responses", "judgments", "failures", "scores", "costs"])
def test_a_condition_has_its_newest_name_in_every_view(tmp_path: Path, view: str) -> None:
    """Whoever joins two views by the name would lose what came before it was changed."""
    renamed = run_event(["old"], samples=1, repetitions=2)
    renamed["conditions"] = {"new": renamed["conditions"].pop("old")}
    answer = response_event("q1", "old")
    events = [answer, judgment_event(answer), failure_event(response_event("q1", "old", 2)), renamed]
    assert {row["condition"] for row in rows(tmp_path, events, f"from {view}")} == {"new"}


def test_conditions_and_agents_are_told_apart_whatever_their_ids_are(tmp_path: Path) -> None:
    """Also where the ids of one, put together, are those of another: other programs may make ids of a few letters."""
    one = response_event("q1", "one", agent_id="c1") | {"id": "r1", "condition_id": "ab"}
    other = response_event("q1", "other", agent_id="1") | {"id": "r2", "condition_id": "abc"}
    events = [each for response in (one, other) for each in (response, judgment_event(response))]
    events += [failure_event(response | {"id": f"f{response['id']}", "repetition": 2}) for response in (one, other)]
    for view in ("responses", "judgments", "failures"):
        found = rows(tmp_path, events, f"from {view} order by position")
        assert [row["condition"] for row in found] == ["one", "other"]


def test_a_judge_has_no_rows_for_conditions_of_runs_that_do_not_name_it(tmp_path: Path) -> None:
    """A judge of another config is not missing under this one's conditions, nor an older version under any."""
    old, new, other = (judge_entry(judge_id=name) for name in ("old", "new", "other"))
    events = [
        run_event({"baseline": "Other."}, judges=[other], config_name="other"),
        run_event({"baseline": "Old."}, judges=[old]),
        run_event({"baseline": "New."}, judges=[new]),
    ]
    found = rows(
        tmp_path, events, "select judge_id, current from series join conditions using (condition_id) order by judge_id"
    )
    assert found == [{"judge_id": "new", "current": True}, {"judge_id": "other", "current": False}]


def test_the_id_of_a_judgment_is_looked_up_where_it_is_asked_for(tmp_path: Path) -> None:
    """Whoever asks for numbers alone would wait for a join of millions of judgments otherwise."""
    answer = response_event("q1")
    judgment = judgment_event(answer)
    events = [run_event(samples=1), answer, judgment]
    numbers, with_id = (
        str(values(tmp_path, events, f"explain {query}")[1]).count("LEFT")
        for query in ("select avg(score) from scores", "select avg(score), min(judgment_id) from scores")
    )
    assert numbers < with_id
    assert values(tmp_path, events, "select judgment_id from scores") == [judgment["id"]]


# States


def test_what_a_judge_is_not_for_is_known_by_its_question_and_not_by_its_id(tmp_path: Path) -> None:
    """Another config asks something else under the same id: what is failed or missing there counts."""
    outside = {
        "score": None,
        "reasoning": None,
        "min": 1,
        "max": 5,
        "passed": None,
        "not_applicable": "x",
        "outside": True,
    }
    events: list[JsonObject] = []
    for conditions in (["old"], ["new", "untried"]):
        name = conditions[0]
        answers = [response_event("q1", name, number, question=f"{name}?") for number in (1, 2)]
        plan = plan_event([answers[0]["question_id"]])
        events += [
            run_event(conditions, samples=1, repetitions=2, config_name=conditions[0], plan_id=plan["plan_id"]),
            plan,
            answers[0],
        ]
        if name == "old":
            events += [answers[1], *(judgment_event(each) | {"scores": {"completeness": outside}} for each in answers)]
        else:
            events += [judgment_event(answers[0]), failure_event(answers[1])]
    query = "select condition, scored, agent_failed, not_applicable, not_done from condition_scores order by condition"
    assert [tuple(row.values()) for row in rows(tmp_path, events, query)] == [
        ("new", 1, 1, 0, 0),
        ("old", 0, 0, 2, 0),
        ("untried", 0, 0, 0, 2),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("timeout", "agent_failed"),
        ("agent_error", "agent_failed"),
        ("mcp_failed", "agent_failed"),
        ("mcp_unused", "agent_failed"),
        ("mcp_all_failed", "agent_failed"),
        ("infra_error", "not_measured"),
        ("mcp_not_ready", "not_measured"),
        ("budget", "not_measured"),
    ],
)
def test_whose_failure_it_was_decides(tmp_path: Path, kind: str, state: str) -> None:
    """A failure of the agent counts as the minimum; what could not be measured is no number."""
    found = rows(tmp_path, [run_event(["baseline"]), failure_event(response_event(), kind)], "select * from outcomes")
    assert [(row["state"], row["kind"], row["value"]) for row in found] == [
        (state, kind, 1.0 if state == "agent_failed" else None)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("judge_error", "not_measured"),
        ("judge_invalid", "not_measured"),
        ("budget", "not_measured"),
        ("timeout", "not_measured"),
        ("code_refused", "not_measured"),
    ],
)
def test_a_judges_failure_is_not_the_agents(tmp_path: Path, kind: str, state: str) -> None:
    """A response that no judge could score is not measured, whatever kept the judge from it."""
    response = response_event()
    events = [run_event(["baseline"]), response, judge_failure_event(response, kind)]
    assert values(tmp_path, events, "select state from outcomes") == [state]


@pytest.mark.slow
def test_a_judges_failure_counts_only_without_a_judgment(tmp_path: Path) -> None:
    """Where one replicate failed and another did not, the mean is that of the rest; other judges are not touched."""
    response = response_event()
    failure = judge_failure_event(response, replicate=2)
    judgment = judgment_event(response, 4)
    for order in itertools.permutations([failure, judgment]):
        assert values(tmp_path, [response, *order], "select state from outcomes") == ["scored"]
    events = [response, failure, judgment_event(response, 4, judge_id=STRICT_ID)]
    found = rows(tmp_path, [run_event(["baseline"]), *events], "select judge_id, state from outcomes order by state")
    assert [tuple(row.values()) for row in found] == [(JUDGE_ID, "not_measured"), (STRICT_ID, "scored")]


def test_what_a_mock_answers_later_leaves_a_judges_failure_as_it_is(tmp_path: Path) -> None:
    """The real answer still counts, and its judge failed on it."""
    answer = response_event()
    rehearsed = answer | {"text": "Mock.", "mock": True, "run_id": "rehearsal"}
    events = [
        run_event(),
        answer,
        judge_failure_event(answer),
        run_event(id="rehearsal", run_id="rehearsal", mock=True),
    ]
    assert values(tmp_path, [*events, rehearsed], "select current from failures") == [True]


def test_a_rehearsal_of_an_edited_judge_replaces_none(tmp_path: Path) -> None:
    """`keval judge LOG` between it and the edited config's real run takes the log's judge, and adds none to it."""
    before, edited = judge_entry(), judge_entry(judge_id="c" * 16)
    judged = [run_event(judges=[before]), answer := response_event(), judgment_event(answer)]
    rehearsal = run_event(judges=[edited], id="r2", run_id="r2", mock=True)
    alone = run_event(()) | {"conditions": None, "command": "judge", "judges": [before], "id": "r3", "run_id": "r3"}
    now = run_event(judges=[edited], id="r4", run_id="r4")
    for events in ([*judged, rehearsal, alone, now], [*judged, alone, now]):
        assert values(tmp_path, events, "select judge_id from current_judges") == ["c" * 16]


def test_a_judges_failure_on_an_older_text_does_not_count(tmp_path: Path) -> None:
    """What the judge could not do with the first answer says nothing of the second."""
    first, second = response_event(text="first"), response_event(text="second")
    events = [run_event(["baseline"]), first, judge_failure_event(first), second]
    assert values(tmp_path, events, "select state from outcomes") == ["not_done"]
    assert values(tmp_path, events, "select current from failures") == [False]


@pytest.mark.slow
@pytest.mark.parametrize("status", ["answered", "empty", "refused", "limit"])
def test_a_response_waits_for_its_judgment_whatever_its_status(tmp_path: Path, status: str) -> None:
    """Without a judgment it is not done, with one it is scored as judged."""
    response = response_event(status=status, text="")
    assert values(tmp_path, [run_event(["baseline"]), response], "select state from outcomes") == ["not_done"]
    events = [run_event(["baseline"]), response, judgment_event(response, 2)]
    assert rows(tmp_path, events, "select state, value from outcomes") == [{"state": "scored", "value": 2.0}]


@pytest.mark.slow
def test_a_failure_beside_a_response_does_not_count(tmp_path: Path) -> None:
    """The task was done in the end, whichever line came first and whether or not the failure names the response."""
    response = response_event()
    named, unnamed = failure_event(response), failure_event(response)
    for name in ("response_id", "sample_sha256"):
        del unnamed[name]
    for failure in (named, unnamed):
        for events in itertools.permutations([response, failure]):
            assert rows(tmp_path, list(events), "select completed, failed from missing") == [
                {"completed": 1, "failed": 0}
            ]
            assert values(tmp_path, list(events), "select current from failures") == [False]


@pytest.mark.slow
def test_the_last_failure_of_a_task_is_its_kind(tmp_path: Path) -> None:
    """A task that failed twice is one failed task."""
    response = response_event()
    events = [run_event(["baseline"]), failure_event(response, "timeout"), failure_event(response, "infra_error")]
    assert rows(tmp_path, events, "select failed, failed_by_kind from missing") == [
        {"failed": 1, "failed_by_kind": {"infra_error": 1}}
    ]
    assert values(tmp_path, events, "select failed from condition_scores") == [{"infra_error": 1}]
    assert values(tmp_path, events, "select current from failures order by position") == [False, True]


def test_a_condition_in_which_everything_failed_has_its_row(tmp_path: Path) -> None:
    """No judgment is needed for a headline: the agent's failures are the minimum."""
    failures = [failure_event(response_event(name)) for name in ("q1", "q2")]
    found = rows(tmp_path, [run_event(["baseline"]), *failures], "select * from condition_scores")
    assert [(row["mean"], row["mean_complete_case"], row["agent_failed"], row["failed"]) for row in found] == [
        (1.0, None, 2, {"timeout": 2})
    ]


def test_each_planned_task_is_in_one_state(tmp_path: Path) -> None:
    """The counts of the states add up to the plan."""
    found = rows(tmp_path, _small_log(), "select * from condition_scores")
    assert found
    for row in found:
        assert row["scored"] + row["agent_failed"] + row["not_measured"] + row["not_done"] == row["planned"] == 6


def _small_log() -> list[JsonObject]:
    """Return a log of two conditions, three samples and two repetitions with something of everything."""
    call = {
        "type": "tool_call", "id": "t1", "name": "mcp__docs__search", "server": "docs", "input": {"query": "why"},
        "result": "Because.", "error": False, "duration_ms": 5,
    }  # fmt: skip
    unanswered = call | {"id": "t2", "result": None, "error": True, "duration_ms": None}
    events = [run_event(samples=3, repetitions=2)]
    for number, (condition, sample, repetition) in enumerate(
        itertools.product(("baseline", "with_docs"), ("q1", "q2"), (1, 2))
    ):
        response = response_event(
            sample, condition, repetition, turns=[{"type": "text", "text": "So."}, call, unanswered],
            failed_attempts=[
                {"kind": "infra_error", "message": "429", "cost_usd": None, "usage": None, "duration_ms": 1}
            ],
        )  # fmt: skip
        if number in {2, 5}:
            events.append(failure_event(response, "timeout" if number == 2 else "infra_error"))
        elif number == 7:
            events += [response, judge_failure_event(response)]
        else:
            events += [response, judgment_event(response, 1 + number / 2), judgment_event(response, 2, replicate=2)]
    return events


# Bounds, tool calls, costs


@pytest.mark.slow
def test_bounds_take_in_what_was_not_measured_or_not_done(tmp_path: Path) -> None:
    """One of two planned repetitions is scored 3, the other sample was never tried: worst 1, best 5 for the rest."""
    response = response_event()
    events = [run_event(["baseline"], samples=2, repetitions=2), response, judgment_event(response, 3)]
    found = rows(tmp_path, events, "select mean, mean_lower, mean_upper from condition_scores")
    assert found == [{"mean": 3.0, "mean_lower": ((3 + 1) / 2 + 1) / 2, "mean_upper": ((3 + 5) / 2 + 5) / 2}]
    query = "select mean, mean_lower, mean_upper, planned, not_done from sample_scores"
    assert rows(tmp_path, events, query) == [
        {"mean": 3.0, "mean_lower": 2.0, "mean_upper": 4.0, "planned": 2, "not_done": 1}
    ]


def test_tool_calls_are_those_of_current_responses(tmp_path: Path) -> None:
    """Each call has its server, arguments and result; a call that was never answered is an error."""
    found = rows(tmp_path, _small_log(), "select * from tool_calls order by condition, sample_id, repetition, turn")
    assert len(found) == 12
    assert [found[0][name] for name in ("condition", "sample_id", "turn", "name", "server", "result", "error")] == [
        "baseline", "q1", 2, "mcp__docs__search", "docs", "Because.", False,
    ]  # fmt: skip
    assert orjson.loads(found[0]["input"]) == {"query": "why"}
    assert (found[1]["result"], found[1]["error"], found[1]["duration_ms"]) == (None, True, None)


def test_costs_sum_what_is_known_and_count_what_is_not(tmp_path: Path) -> None:
    """Attempts that failed cost money too; an unknown cost is never 0."""
    attempt = {"kind": "infra_error", "message": "529", "usage": None, "duration_ms": 1}
    response = response_event(failed_attempts=[attempt | {"cost_usd": 0.5}, attempt | {"cost_usd": None}])
    events = [response, response_event("q2", cost_usd=None), failure_event(response_event("q3"), cost_usd=0.125)]
    (found,) = rows(tmp_path, events, "select * from costs")
    assert (found["stage"], found["n"], found["cost_usd"], found["unknown"]) == ("generate", 3, 0.875, 2)
    assert (found["failed_attempts"], found["failed_attempts_cost_usd"]) == (2, 0.5)
    assert (found["input_tokens"], found["cache_creation_input_tokens"]) == (200, None)
    assert values(tmp_path, events[1:2], "select cost_usd from costs") == [None]


def test_every_event_costs_once(tmp_path: Path) -> None:
    """A response that was replaced was paid for; a line that stands in two files was paid for once."""
    first, second = response_event(text="first"), response_event(text="second", cost_usd=1.0)
    judgment = judgment_event(first)
    log = [first, judgment, second, retraction_event(second)]
    assert rows(tmp_path, log * 2, "select stage, judge, n, cost_usd from costs order by stage") == [
        {"stage": "generate", "judge": None, "n": 2, "cost_usd": 1.25},
        {"stage": "judge", "judge": "rubric", "n": 1, "cost_usd": 0.5},
    ]


@pytest.mark.slow
@pytest.mark.parametrize("by_run", [False, True])
def test_what_a_mock_says_that_it_cost_is_not_added_to_what_was_paid(tmp_path: Path, by_run: bool) -> None:
    """A rehearsal in the log of the real run costs nothing; alone it has the stand-in's costs, and says so."""
    said: dict[str, Any] = {} if by_run else {"mock": True}
    rehearsal = [
        run_event(["baseline"], id="r1", run_id="r1", mock=True),
        response_event("q1", run_id="r1", cost_usd=9.0, **said),
        failure_event(response_event("q2"), run_id="r1", cost_usd=1.0, **said),
    ]
    real = [run_event(["baseline"], id="r2", run_id="r2"), response_event("q1", run_id="r2", cost_usd=0.25)]
    asked = "select n, cost_usd, mock from costs"
    assert [tuple(row.values()) for row in rows(tmp_path, rehearsal, asked)] == [(2, 10.0, True)]
    assert [tuple(row.values()) for row in rows(tmp_path, [*rehearsal, *real], asked)] == [(1, 0.25, False)]
    judged = judgment_event(real[1], run_id="r1", cost_usd=5.0, **said)
    stages = "select stage, cost_usd, mock from costs order by stage"
    found = [tuple(row.values()) for row in rows(tmp_path, [*rehearsal, *real, judged], stages)]
    assert found == [("generate", 0.25, False), ("judge", 5.0, True)]


@pytest.mark.slow
def test_an_event_is_mock_by_itself_or_by_its_run(tmp_path: Path) -> None:
    """Nothing that a stand-in made passes for real, even if only the run event says so."""
    response = response_event(run_id="rehearsal")
    real = response_event(condition="with_docs", run_id="real", mock=False)
    events = [
        run_event(run_id="rehearsal", id="rehearsal", mock=True), response, judgment_event(response),
        real, judgment_event(real, run_id="real", mock=False),
    ]  # fmt: skip
    found = rows(tmp_path, events, "select condition, mock from condition_scores order by condition")
    assert found == [{"condition": "baseline", "mock": True}, {"condition": "with_docs", "mock": False}]
    assert values(tmp_path, events, "select mock from comparisons") == [True]


# Comparisons


def test_conditions_are_compared_with_the_first_of_the_config(tmp_path: Path) -> None:
    """By sample, over the samples with a value under both."""
    events = [run_event(["with_docs", "baseline"], samples=4)]
    for condition, scores in (("baseline", (1, 2, None, 4)), ("with_docs", (2, 2, 3, None))):
        for number, score in enumerate(scores):
            response = response_event(f"q{number}", condition)
            events += [response] if score is None else [response, judgment_event(response, score)]
    (found,) = rows(tmp_path, events, "select * from comparisons")
    assert (found["baseline"], found["condition"]) == ("with_docs", "baseline")
    assert (found["n_paired"], found["n_dropped"], found["difference"]) == (2, 2, -0.5)
    assert (found["wins"], found["ties"], found["losses"]) == (0, 1, 1)


def test_conditions_that_are_not_current_are_not_compared(tmp_path: Path) -> None:
    """A prompt that was edited since is no competitor."""
    responses = [response_event(condition="with_docs", prompt=prompt) for prompt in ("Old.", "Answer.")]
    events = [*responses, *map(judgment_event, responses), run_event()]
    assert values(tmp_path, events, "select condition_id from comparisons") == [condition_id("with_docs")]


@pytest.mark.slow
def test_differences_that_are_float_noise_are_ties(tmp_path: Path) -> None:
    """The same scores in another order give the same mean, no spread, and no winner."""
    scores = (1.1, 2.2, 3.3)
    events = []
    for sample, (condition, order) in itertools.product(
        ("q1", "q2", "q3"), (("baseline", scores), ("with_docs", scores[::-1]))
    ):
        for repetition, score in enumerate(order, 1):
            response = response_event(sample, condition, repetition)
            events += [response, judgment_event(response, score)]
    (found,) = rows(tmp_path, [run_event(), *events], "select * from comparisons")
    assert (found["difference"], found["sd_difference"], found["se"], found["ties"]) == (0.0, 0.0, 0.0, 3)
    assert values(tmp_path, events, "select sd_between_samples from condition_scores") == [0.0, 0.0]
