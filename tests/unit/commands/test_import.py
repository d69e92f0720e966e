"""Answers from elsewhere become events that every other command understands."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import duckdb
import orjson
import pytest

from keval.ids import JsonObject
from tests.builders import run_event, write_log
from tests.conftest import Keval
from tests.importing import MAPPING, ROW

pytestmark = pytest.mark.slow  # each test starts commands

ROWS: list[JsonObject] = [
    {"question": "1+1?", "answer": "2", "text": "2", "condition": "small"},
    {"question": "1+2?", "answer": "3", "text": "4", "condition": "small"},
    {"question": "1+1?", "answer": "2", "text": "2", "condition": "large"},
    {"question": "1+2?", "answer": "3", "text": "3", "condition": "large"},
    {"question": "1+2?", "answer": "3", "text": "5", "condition": "large"},
]
"""Under one of the conditions a question was answered twice."""


def write(folder: Path, rows: list[JsonObject], name: str = "answers.jsonl") -> Path:
    """Write rows as JSONL and return the file."""
    path = folder / name
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def imported(keval: Keval, folder: Path, path: Path, *options: str | Path) -> list[JsonObject]:
    """Import a file and return the events of the log."""
    done = keval("import", path, *options, "-o", folder / "run.jsonl")
    assert done.returncode == 0, done.stderr
    return [orjson.loads(line) for line in (folder / "run.jsonl").read_bytes().splitlines()]


def asked(keval: Keval, log: Path, query: str) -> list[JsonObject]:
    """Return the rows that a query finds in a log."""
    done = keval("sql", log, query, "-f", "json")
    assert done.returncode == 0, done.stderr
    found: list[JsonObject] = json.loads(done.stdout)
    return found


def as_csv(rows: list[JsonObject]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet", "jsonl.gz"])
def test_rows_in_our_own_words_need_no_mapping(keval: Keval, tmp_path: Path, ending: str) -> None:
    """In every format they become the same valid log, with its plan."""
    plain = write(tmp_path, ROWS)
    path = tmp_path / f"rows.{ending}"
    if ending == "parquet":
        with duckdb.connect() as connection:
            connection.execute(f"COPY (FROM read_json('{plain}')) TO '{path}'")
    else:
        contents = {"json": orjson.dumps(ROWS), "csv": as_csv(ROWS), "jsonl.gz": gzip.compress(plain.read_bytes())}
        path.write_bytes(contents.get(ending, plain.read_bytes()))
    run, plan, *responses = imported(keval, tmp_path, path)
    assert (run["command"], run["agent"]["type"], run["repetitions"]) == ("import", "imported", 2)
    assert (plan["plan_id"], len(plan["question_ids"])) == (run["plan_id"], 2)
    assert [(each["condition"], each["repetition"], each["text"]) for each in responses] == [
        ("small", 1, "2"), ("small", 1, "4"), ("large", 1, "2"), ("large", 1, "3"), ("large", 2, "5"),
    ]  # fmt: skip
    assert keval("validate", tmp_path / "run.jsonl").returncode == 0


def test_a_mapping_says_where_everything_is(keval: Keval, tmp_path: Path) -> None:
    """Sample, answer, tool calls, tokens, cost, time and scores come from wherever they are in a row."""
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    run, _, response, judgment = imported(keval, tmp_path, write(tmp_path, [ROW]), "-c", tmp_path / "mapping.yaml")
    assert response["sample"] == {"id": "7", "question": "How much?", "answer": "1080", "level": 3}
    assert (response["time"], response["repetition"], response["cost_usd"]) == ("2026-03-01T12:00:00.000Z", 2, 0.5)
    assert (response["usage"]["output_tokens"], response["usage"]["input_tokens"]) == (12, None)
    assert (response["sources"], response["agent"]["model"], run["config_name"]) == (["Sums"], "gpt", "elsewhere")
    call, text = response["turns"]
    assert (call["name"], call["input"], call["result"], text["text"]) == ("add", {"a": 1}, "1080", "1080")
    assert judgment["judge"] == {"name": "board", "type": "imported", "model": None}
    score = {"score": 1, "reasoning": "it is", "min": 0, "max": 1, "passed": True}
    assert judgment["scores"] == {"correct": score}
    assert run["judges"][0]["judge_id"] == judgment["judge_id"]


def test_rules_on_the_command_line_come_before_those_of_the_mapping(keval: Keval, tmp_path: Path) -> None:
    """A name of a response is one of its fields; every other name is a field of the sample."""
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    maps = ["--map", "text={out}!", "--map", "id=n{@row}", "--map", "topic=sums"]
    events = imported(keval, tmp_path, write(tmp_path, [ROW]), "-c", tmp_path / "mapping.yaml", *maps)
    assert (events[2]["text"], events[2]["sample"]["id"], events[2]["sample"]["topic"]) == ("1080!", "n1", "sums")


@pytest.mark.parametrize(
    ("conditions", "mapping", "baseline"),
    [
        pytest.param(("small", "large"), "", "small", marks=pytest.mark.slow),
        pytest.param(("large", "baseline"), "", "baseline", marks=pytest.mark.slow),
        (("large", "baseline"), "baseline: large", "large"),
        pytest.param(("small", "large"), "baseline: large", "large", marks=pytest.mark.slow),
    ],
)
def test_the_baseline_is_named_or_called_so_or_the_first(
    keval: Keval, tmp_path: Path, conditions: tuple[str, str], mapping: str, baseline: str
) -> None:
    """The mapping's word comes first, then the name `baseline`, then the order of the file."""
    judge = "judges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: 1}}}]"
    (tmp_path / "mapping.yaml").write_text(f"{judge}\n{mapping}")
    rows = [{**ROWS[0], "condition": name, "ok": 1} for name in conditions]
    imported(keval, tmp_path, write(tmp_path, rows), "-c", tmp_path / "mapping.yaml")
    assert asked(keval, tmp_path / "run.jsonl", "SELECT baseline FROM comparisons") == [{"baseline": baseline}]


def test_a_baseline_of_which_there_is_no_row_is_refused(keval: Keval, tmp_path: Path) -> None:
    """A typing error in the mapping would silently compare with another condition."""
    (tmp_path / "mapping.yaml").write_text("baseline: smal")
    done = keval("import", write(tmp_path, ROWS), "-c", tmp_path / "mapping.yaml", "-o", tmp_path / "run.jsonl")
    assert (done.returncode, (tmp_path / "run.jsonl").exists()) == (3, False)
    assert "baseline: no row is of the condition 'smal', nor of the log; there are: 'small', 'large'" in done.stderr


def test_the_baseline_may_be_of_another_file_of_the_log(keval: Keval, tmp_path: Path) -> None:
    """And a corrected file changes nothing of which condition is the baseline: the first import says it."""
    judge = "judges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: 1}}}]"
    (tmp_path / "mapping.yaml").write_text(f"name: both\n{judge}\nbaseline: small")
    (tmp_path / "plain.yaml").write_text(f"name: both\n{judge}")
    files = {
        name: write(tmp_path, [{**row, "ok": 1} for row in ROWS if row["condition"] == name][:2], f"{name}.jsonl")
        for name in ("small", "large")
    }
    for name in ("small", "large"):
        imported(keval, tmp_path, files[name], "-c", tmp_path / "mapping.yaml")
    assert asked(keval, tmp_path / "run.jsonl", "SELECT baseline FROM comparisons") == [{"baseline": "small"}]
    (tmp_path / "run.jsonl").unlink()
    for name in ("small", "large"):
        imported(keval, tmp_path, files[name], "-c", tmp_path / "plain.yaml")
    good = files["small"].read_text()
    for text, difference in ((good.replace('"ok":1', '"ok":0'), 1.0), (good, 0.0)):
        files["small"].write_text(text)
        imported(keval, tmp_path, files["small"], "-c", tmp_path / "plain.yaml")
        assert asked(keval, tmp_path / "run.jsonl", "SELECT baseline, difference FROM comparisons") == [
            {"baseline": "small", "difference": difference}
        ]


def test_what_was_retracted_is_there_again_once_it_is_imported_again(keval: Keval, tmp_path: Path) -> None:
    """As a retracted answer of an agent is asked for once more: also by another mapping, whose scores are then all."""
    scores = "judges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: TOP}}}]"
    path = write(tmp_path, [{**row, "ok": 1} for row in ROWS[:2]])
    (tmp_path / "wrong.yaml").write_text(f"name: both\n{scores.replace('TOP', '9')}")
    (tmp_path / "right.yaml").write_text(f"name: both\n{scores.replace('TOP', '1')}")
    run, *_ = imported(keval, tmp_path, path, "-c", tmp_path / "wrong.yaml")
    log = tmp_path / "run.jsonl"
    for mapping in ("right.yaml", "wrong.yaml"):
        assert keval("retract", log, "--run", run["id"], "--reason", "wrong scale").returncode == 0
        imported(keval, tmp_path, path, "-c", tmp_path / mapping)
        query = "SELECT max, mean, not_done, not_measured FROM condition_scores WHERE current"
        assert asked(keval, log, query) == [
            {"max": 9.0 if mapping == "wrong.yaml" else 1.0, "mean": 1.0, "not_done": 0, "not_measured": 0}
        ]


def test_a_row_that_is_there_twice_is_told(keval: Keval, tmp_path: Path) -> None:
    """Without ids it is another repetition, which all others lack; rows that are all there as often are repetitions."""
    done = keval("import", write(tmp_path, ROWS), "-o", tmp_path / "run.jsonl")
    assert (
        "answers.jsonl:5: the same question under 'large' as in an earlier row: taken for repetition 2 of"
        in done.stderr
    )
    assert "3 answers of 8 will count as not done" in done.stderr
    done = keval("import", write(tmp_path, [*ROWS[:2], *ROWS[:2]]), "-o", tmp_path / "even.jsonl")
    assert "taken for repetition" not in done.stderr


def test_fields_that_nothing_takes_are_named(keval: Keval, tmp_path: Path) -> None:
    """A field counts as used by a rule, also one for a part of it, or by its own name; the others are told."""
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    path = write(tmp_path, [ROW, {**ROW, "uid": 8, "tokens": 3, "answer": "1080", "text": "taken by 'out'"}])
    done = keval("import", path, "-c", tmp_path / "mapping.yaml", "-o", tmp_path / "run.jsonl")
    assert "not used: tokens, answer, text; a rule" in done.stderr
    assert "not used" not in keval("import", write(tmp_path, ROWS)).stderr


def test_a_log_is_told_that_it_needs_no_import(keval: Keval, tmp_path: Path) -> None:
    """Its events are no rows with fields to be mapped."""
    log = write_log(tmp_path / "run.jsonl", [run_event()])
    done = keval("import", log)
    assert done.returncode == 2
    assert "is a log of keval, which needs no import" in done.stderr


def test_the_same_file_again_adds_nothing(keval: Keval, tmp_path: Path) -> None:
    """All ids are made from content; into another log the same lines are written but for the run's time."""
    path, log = write(tmp_path, ROWS), tmp_path / "run.jsonl"
    first = imported(keval, tmp_path, path)
    written = log.read_bytes()
    imported(keval, tmp_path, path)
    assert log.read_bytes() == written
    log.unlink()
    again = imported(keval, tmp_path, path)
    assert again[2:] == first[2:]
    assert [each["id"] for each in again] == [each["id"] for each in first]


def test_files_of_one_condition_each_are_compared(keval: Keval, tmp_path: Path) -> None:
    """The first file's condition is the baseline, unless one is called so; a corrected file replaces its own."""
    (tmp_path / "name.yaml").write_text("name: sums\n")
    current = "select condition, planned from conditions where current order by place"
    for name in ("small", "large", "baseline"):
        rows = [{**row, "condition": name} for row in ROWS[:2]]
        imported(keval, tmp_path, write(tmp_path, rows, f"{name}.jsonl"), "-c", tmp_path / "name.yaml")
    log = tmp_path / "run.jsonl"
    planned = [{"condition": name, "planned": 2} for name in ("baseline", "small", "large")]
    assert asked(keval, log, current) == planned
    better = [{**row, "condition": "small", "text": "right"} for row in ROWS[:2]]
    imported(keval, tmp_path, write(tmp_path, better, "small.jsonl"), "-c", tmp_path / "name.yaml")
    assert {each["condition"]: each["planned"] for each in asked(keval, log, current)} == dict.fromkeys(
        ("baseline", "large", "small"), 2
    )
    said = asked(keval, log, "select text from responses where current and condition = 'small'")
    assert said == [{"text": "right"}, {"text": "right"}]


def test_what_was_corrected_or_added_is_all_that_is_written(keval: Keval, tmp_path: Path) -> None:
    """The newest text of an answer counts, and so does the newest plan."""
    imported(keval, tmp_path, write(tmp_path, ROWS))
    corrected = [*ROWS[:4], {**ROWS[4], "text": "3"}, {**ROWS[0], "question": "1+3?", "answer": "4"}]
    events = imported(keval, tmp_path, write(tmp_path, corrected))[7:]
    assert [each["type"] for each in events] == ["run", "plan", "response", "response"]
    log = tmp_path / "run.jsonl"
    assert asked(keval, log, "SELECT count(*) AS n FROM responses WHERE text = '5'") == [{"n": 0}]
    assert asked(keval, log, "SELECT condition, planned, not_done FROM missing ORDER BY 1") == [
        {"condition": "large", "planned": 6, "not_done": 3},
        {"condition": "small", "planned": 6, "not_done": 3},
    ]


def test_a_score_that_is_taken_back_counts_no_more(keval: Keval, tmp_path: Path) -> None:
    """A corrected file says what counts, back and forth, and a row that never had a score has no judgment."""
    (tmp_path / "mapping.yaml").write_text("judges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: 1}}}]")
    log = tmp_path / "run.jsonl"
    query = """
        SELECT mean, scored, (SELECT count(*) FROM judgments) AS judged FROM condition_scores WHERE condition = 'small'
    """
    numbers = []
    for ok in (1, None, None, 1, None):
        rows = write(tmp_path, [{**ROWS[0], "ok": ok}, {**ROWS[1], "ok": 0}, {**ROWS[2], "ok": None}])
        imported(keval, tmp_path, rows, "-c", tmp_path / "mapping.yaml")
        (found,) = asked(keval, log, query)
        numbers.append((found["mean"], found["scored"], found["judged"]))
    assert numbers == [(0.5, 2, 2), (0.0, 1, 1), (0.0, 1, 1), (0.5, 2, 2), (0.0, 1, 1)]


def test_an_imported_log_is_judged_aggregated_and_reported(keval: Keval, tmp_path: Path) -> None:
    """A judge of our own stands beside the foreign one, who is never asked again."""
    rows = [{**row, "ok": row["text"] == row["answer"]} for row in ROWS[:4]]
    (tmp_path / "mapping.yaml").write_text("judges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: 1}}}]")
    imported(keval, tmp_path, write(tmp_path, rows), "-c", tmp_path / "mapping.yaml")
    log = tmp_path / "run.jsonl"
    alone = keval("judge", log)
    assert (alone.returncode, "give one with -j" in alone.stderr) == (2, True)
    (tmp_path / "judge.yaml").write_text("type: exact_match")
    assert keval("judge", log, "-j", tmp_path / "judge.yaml").returncode == 0
    scores = asked(keval, log, "SELECT metric, condition, avg(score) AS mean FROM scores GROUP BY ALL ORDER BY ALL")
    assert [(row["metric"], row["condition"], row["mean"]) for row in scores] == [
        ("exact_match", "large", 1), ("exact_match", "small", 0.5), ("ok", "large", 1), ("ok", "small", 0.5),
    ]  # fmt: skip
    report = keval("report", log, "-f", "json")
    assert {table["metric"] for table in json.loads(report.stdout)["metrics"]} == {"exact_match", "ok"}
    assert '"aggregate"' in keval("aggregate", log).stdout


@pytest.mark.parametrize(("mapped", "calls"), [("", None), ("tool_calls: {each: calls, name: '{name}'}", 0)])
def test_tool_calls_that_no_mapping_reads_are_unknown_not_0(
    keval: Keval, tmp_path: Path, mapped: str, calls: int | None
) -> None:
    """Only a file whose tool calls are read says of an answer without any that it called none."""
    (tmp_path / "mapping.yaml").write_text(f"response: {{{mapped}}}")
    run = imported(keval, tmp_path, write(tmp_path, [{**ROWS[0], "calls": []}]), "-c", tmp_path / "mapping.yaml")[0]
    assert run["agent"].get("reports_tool_calls", True) == (calls is not None)
    report = json.loads(keval("report", tmp_path / "run.jsonl", "-f", "json").stdout)
    assert report["conditions"][0]["tool_calls"] == calls


def test_a_pipe_takes_imported_events(keval: Keval, tmp_path: Path) -> None:
    """Without -o they go to stdout, where a judge can take them."""
    events = keval("import", write(tmp_path, ROWS))
    (tmp_path / "judge.yaml").write_text("type: exact_match")
    judged = keval("judge", "-j", tmp_path / "judge.yaml", stdin=events.stdout)
    assert judged.stdout.count('"type":"judgment"') == 5


def test_a_row_that_does_not_fit_is_named_and_nothing_is_imported(keval: Keval, tmp_path: Path) -> None:
    """Each problem has its line and field, and is found before the first event is written."""
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    rows = write(tmp_path, [ROW, {**ROW, "uid": 8, "ok": 2, "cost": "much"}])
    done = keval("import", rows, "-c", tmp_path / "mapping.yaml", "-o", tmp_path / "run.jsonl")
    assert done.returncode == 3
    assert "answers.jsonl:2: cost_usd: must be a number, not 'much'\n" in done.stderr
    assert "answers.jsonl:2: correct: the score 2 is outside of the scale, 0 to 1\n" in done.stderr
    assert not (tmp_path / "run.jsonl").exists()


def test_what_is_wrong_in_every_row_is_said_once(keval: Keval, tmp_path: Path) -> None:
    """With the first row, how many more there are, and what to do; another problem has a line of its own."""
    rows = [{"question": str(number), "text": "2"} for number in range(40)]
    done = keval("import", write(tmp_path, [*rows, {"question": "x", "answer": "2"}]))
    first, *rest = done.stderr.splitlines()
    assert "answers.jsonl:1 and 39 more rows: answer: missing; map it" in first
    assert "`golden_answers: false`" in first
    assert len(rest) == 2, rest


def test_a_field_of_the_files_is_not_taken_for_the_number_of_the_row(keval: Keval, tmp_path: Path) -> None:
    """What a column of that name says would be lost, and rules would read something else."""
    done = keval("import", write(tmp_path, [{**ROWS[0], "@row": 5}]))
    assert (done.returncode, done.stdout) == (3, "")
    assert "answers.jsonl:1: a field is called '@row'" in done.stderr


def test_what_no_event_can_hold_is_found_before_anything_is_written(keval: Keval, tmp_path: Path) -> None:
    """Each event is made once for that: no log is begun, whichever row has it."""
    rows = write(tmp_path, [ROWS[0], {**ROWS[1], "time": "0999-01-01T00:00:00Z"}])
    done = keval("import", rows, "-o", tmp_path / "run.jsonl")
    assert (done.returncode, (tmp_path / "run.jsonl").exists()) == (3, False)
    assert "answers.jsonl:2: a response event breaks its schema: $.time" in done.stderr


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"repetition": 1}, "repetition 1 of 'a' under 'imported' stands in row 1 already"),
        ({"repetition": 2, "answer": "other"}, "the sample 'a' has another question, answer or field than in"),
    ],
)
def test_rows_that_contradict_each_other_are_a_problem(
    keval: Keval, tmp_path: Path, second: JsonObject, told: str
) -> None:
    """One answer is not counted twice, and a sample is one question with one golden answer."""
    row = {"id": "a", "question": "Q?", "answer": "A", "text": "A", "repetition": 1}
    done = keval("import", write(tmp_path, [row, {**row, **second}]))
    assert (done.returncode, done.stdout, f"answers.jsonl:2: {told}" in done.stderr) == (3, "", True), done.stderr


def test_values_that_are_not_there_stay_unknown(keval: Keval, tmp_path: Path) -> None:
    """An empty cell is no number, a row without a score has no judgment, and an empty text is an empty answer."""
    (tmp_path / "mapping.yaml").write_text(
        "golden_answers: false\njudges: [{name: b, metrics: {ok: {score: {field: ok}, min: 0, max: 1}}}]"
    )
    path = tmp_path / "rows.csv"
    path.write_text("question,text,cost_usd,output_tokens,ok\nQ?,,,,\nR?,yes,0.25,3,1\n")
    events = imported(keval, tmp_path, path, "-c", tmp_path / "mapping.yaml")
    first, second = (each for each in events if each["type"] == "response")
    assert (first["status"], first["cost_usd"], first["usage"], first["sample"]["answer"]) == (
        "empty",
        None,
        None,
        None,
    )
    assert (second["cost_usd"], second["usage"]["output_tokens"]) == (0.25, 3)
    assert [each["response_id"] for each in events if each["type"] == "judgment"] == [second["id"]]


def promptfoo(folder: Path) -> Path:
    """Write a small result file of promptfoo: two providers, of one of which a test passes."""
    rows = [
        {"testIdx": place, "promptIdx": 0, "vars": {"question": f"q{place}"}, "provider": {"id": name},
         "prompt": {"label": "p"}, "response": {"output": "x"}, "success": passes, "score": score, "failureReason": 0}
        for name, outcomes in (("a", [(True, 1.0), (False, 0.25)]), ("b", [(True, 1.0), (True, 0.5)]))
        for place, (passes, score) in enumerate(outcomes)
    ]  # fmt: skip
    path = folder / "results.json"
    path.write_bytes(orjson.dumps({"evalId": "e", "results": {"version": 3, "results": rows}}))
    return path


def test_a_result_file_of_another_tool_needs_no_rules(keval: Keval, tmp_path: Path) -> None:
    """Its means are those that the tool has, by condition; the same file again adds nothing."""
    path = promptfoo(tmp_path)
    events = imported(keval, tmp_path, path)
    means = asked(keval, tmp_path / "run.jsonl", "SELECT condition, metric, mean FROM condition_scores ORDER BY ALL")
    assert [(each["condition"], each["metric"], each["mean"]) for each in means] == [
        ("a", "pass", 0.5), ("a", "score", 0.625), ("b", "pass", 1.0), ("b", "score", 0.75),
    ]  # fmt: skip
    assert imported(keval, tmp_path, path, "--from", "promptfoo") == events


def test_rules_are_for_tables(keval: Keval, tmp_path: Path) -> None:
    """A tool's file says itself what is what; a tool that is not known is told with those that are."""
    path = promptfoo(tmp_path)
    refused = keval("import", path, "--from", "promptfoo", "--map", "text={output}")
    assert (refused.returncode, "rules are for tables" in refused.stderr) == (2, True)
    misspelt = keval("import", path, "--from", "promtfoo")
    assert (misspelt.returncode, "promptfoo" in misspelt.stderr) == (2, True)
    wrong = keval("import", path, "--from", "inspect")
    assert wrong.returncode == 3
    assert "it was read as a file of inspect" in wrong.stderr


@pytest.mark.parametrize("named", [(), ("--from", "promptfoo")])
def test_a_damaged_packed_file_is_told_in_words(keval: Keval, tmp_path: Path, named: tuple[str, ...]) -> None:
    """It is an error of the input, and nothing is begun."""
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(orjson.dumps({"evalId": "e", "results": {}}))[:-12])
    refused = keval("import", path, *named, "-o", tmp_path / "run.jsonl")
    assert (refused.returncode, "damaged or not packed as its name says" in refused.stderr) == (3, True)
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.slow
def test_what_trials_prints_is_read_back(keval: Keval, tmp_path: Path) -> None:
    """`keval trials -f jsonl` has the names of agent-eval-harness: all answers come back, with steps of any type."""
    (tmp_path / "questions.jsonl").write_text('{"id": "q1", "question": "Why?", "answer": "Why?"}\n')
    config = "name: tried\ndataset: {path: questions.jsonl}\nagent: {type: echo}\njudge: {type: exact_match}\n"
    (tmp_path / "eval.yaml").write_text(f'{config}conditions: {{plain: {{system_prompt: "Answer."}}}}\n')
    tried = keval("trials", tmp_path / "eval.yaml", "-k", "2", "-f", "jsonl", cwd=tmp_path)
    (tmp_path / "trials.jsonl").write_text(tried.stdout)
    done = keval("import", tmp_path / "trials.jsonl", "-o", tmp_path / "back.jsonl")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "back.jsonl").read_text().count('"type":"response"') == 2
