import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from keval.config.reader import load
from keval.errors import UsageError
from keval.events import new_run_id, now
from keval.execution.config_check import Findings, check
from keval.mock import Mock
from keval.preparation.prepared import unread
from keval.preparation.readiness import check_files
from keval.preparation.run_events import run_event
from keval.preparation.work_ahead import NOTHING_TO_GENERATE
from tests.builders import write_log
from tests.servers.over_http import free_port
from tests.tasks import answer_to, tasks_of

CONFIG = """\
name: checked
dataset: {path: questions.jsonl}
agent: {type: command, command: [cat], model: claude-opus-5}
conditions: {plain: {system_prompt: "Answer."}, polite: {system_prompt: "Please answer."}}
judges: [{type: exact_match}, JUDGE]
"""


def told(folder: Path, judge: str) -> list[str]:
    """Return what a check warns of."""
    (folder / "questions.jsonl").write_text('{"id": "1", "question": "Q", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("JUDGE", judge))
    found: list[str] = []
    check(load(folder / "eval.yaml", environ={}), folder / "none.jsonl", found.append)
    return found


@pytest.mark.parametrize(
    ("judge", "says"),
    [
        (
            "{type: rubric, model: claude-opus-5}",
            "judge rubric needs golden answers, which the dataset does not have: it gives no score",
        ),
        ("{type: rubric, rubric: relevance, model: claude-opus-5}", None),
        ("{type: regex, pattern: Q}", None),
    ],
)
def test_a_judge_without_golden_answers_is_warned_of_and_costs_nothing(
    judge: str, says: str | None, tmp_path: Path
) -> None:
    """It is not asked, so its plan is of no call; one that needs none is."""
    (tmp_path / "questions.jsonl").write_text('{"id": "1", "question": "Q"}\n')
    config = CONFIG.replace("[{type: exact_match}, JUDGE]", f"[{judge}]").replace(
        ".jsonl}", ".jsonl, answer_key: null}"
    )
    (tmp_path / "eval.yaml").write_text(config)
    found: list[str] = []
    done = check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", found.append)
    assert [each for each in found if "golden" in each] == ([] if says is None else [says])
    assert done.estimates[-1].number == (6 if says is None else 0)


@pytest.mark.parametrize(
    ("only_for", "says"),
    [
        ("", "which 1 of 3 samples does not have: it gives no score there"),
        (", only_for: {of: [b, c]}", "which 1 of 2 samples that it is for does not have: it gives no score there"),
        (", only_for: {of: b}", None),
    ],
)
def test_samples_without_a_golden_answer_are_counted(only_for: str, says: str | None, tmp_path: Path) -> None:
    """Of those that the judge is for: the others have a score."""
    golden, none = tmp_path / "golden.jsonl", tmp_path / "none.jsonl"
    golden.write_text("".join(json.dumps({"id": of, "question": of, "answer": "A", "of": of}) + "\n" for of in "ab"))
    none.write_text('{"id": "c", "question": "c", "of": "c"}\n')
    (tmp_path / "eval.yaml").write_text(
        CONFIG.replace(
            "dataset: {path: questions.jsonl}",
            "datasets: [{name: one, path: golden.jsonl}, {name: two, path: none.jsonl, answer_key: null}]",
        ).replace("[{type: exact_match}, JUDGE]", f"[{{type: exact_match{only_for}}}]")
    )
    found: list[str] = []
    check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "log.jsonl", found.append)
    needs = "judge exact_match needs golden answers, "
    assert [each for each in found if "golden" in each] == ([] if says is None else [needs + says])


@pytest.mark.parametrize(("clusters", "is_told"), [(1, True), (5, True), (6, False)])
def test_so_few_clusters_that_nothing_can_be_told_are_named(clusters: int, is_told: bool, tmp_path: Path) -> None:
    """However many questions there are: the exact test counts clusters, and its p is never below 2 / 2^n."""
    rows = [{"id": str(n), "question": f"Q{n}", "answer": "A", "of": str(n % clusters)} for n in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = CONFIG.replace("JUDGE", "{type: regex, pattern: Q}").replace(".jsonl}", ".jsonl, cluster_key: of}")
    (tmp_path / "eval.yaml").write_text(config)
    found: list[str] = []
    check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", found.append)
    assert any(each.startswith(f"the samples belong to {clusters} cluster") for each in found) is is_told


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("mustsay", "judge contains looks at the field 'mustsay', which no sample has; did you mean 'must_say'?"),
        ("must_say", None),
    ],
)
def test_a_field_that_no_sample_has_is_told(field: str, says: str | None, tmp_path: Path) -> None:
    """A judge would find nothing in it, and all answers would be paid for before anybody sees that."""
    samples = [
        {"id": "1", "question": "Q", "answer": "A"},
        {"id": "2", "question": "Q?", "answer": "A", "must_say": "A"},
    ]
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in samples))
    config = CONFIG.replace("[{type: exact_match}, JUDGE]", f"[{{type: contains, expected_field: {field}}}]")
    (tmp_path / "eval.yaml").write_text(config)
    found: list[str] = []
    check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", found.append)
    assert [each for each in found if "looks at" in each] == ([] if says is None else [says])


@pytest.mark.parametrize(
    ("judge", "is_warned"),
    [
        ("{type: rubric, model: claude-opus-5}", True),
        ("{type: jury, models: [claude-sonnet-5, claude-opus-5]}", True),
        ("{type: pairwise, model: claude-opus-5}", True),
        ("{type: rubric, model: claude-sonnet-5}", False),
    ],
)
def test_a_judge_that_asks_the_agents_model_is_warned_of(judge: str, is_warned: bool, tmp_path: Path) -> None:
    """Before anything is paid: a model may favour its own answers."""
    assert any("the same model, claude-opus-5" in each for each in told(tmp_path, judge)) == is_warned


def test_a_judge_of_tool_calls_that_nobody_reports_is_warned_of(tmp_path: Path) -> None:
    """A command says nothing of the tools that it calls; the check says that the judge has nothing to judge."""
    found = told(tmp_path, "{type: trajectory, at_most: {'*': 3}}")
    assert "judge trajectory looks at tool calls, which agent command does not report" in " ".join(found)


@pytest.mark.parametrize(
    ("agent", "is_warned"),
    [
        ("command: [cat]", False),
        ("command: [cat], input: none", True),
        ('command: [echo, "{system_prompt}"], input: none', False),
        ("adapter: deaf.yaml", True),
        ("adapter: codex", False),
    ],
)
def test_a_system_prompt_that_the_program_is_not_given_is_warned_of(
    agent: str, is_warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two prompts that nobody reads would be compared, and no answer would tell."""
    (tmp_path / "deaf.yaml").write_text(
        'name: deaf\nwritten_for: deaf 1\ncommand: [cat, "{question}"]\noutput: json\nevents: [{answer: $.text}]\n'
    )
    monkeypatch.setitem(globals(), "CONFIG", CONFIG.replace("command: [cat]", agent))
    assert any("not given the system prompt of plain, polite" in each for each in told(tmp_path, "{type: number}")) == (
        is_warned
    )


@pytest.mark.parametrize(
    ("judge", "is_warned"),
    [
        ("{type: contains, replicates: 3}", True),
        ("{type: contains}", False),
        ("{type: rubric, model: claude-sonnet-5, replicates: 3}", False),
    ],
)
def test_replicates_of_a_judge_that_repeats_itself_are_warned_of(judge: str, is_warned: bool, tmp_path: Path) -> None:
    """They would look like a judge that never varies; of one that does, replicates say how far."""
    assert (
        any("says the same of an answer each time: 3 replicates" in each for each in told(tmp_path, judge)) == is_warned
    )


def test_a_sample_that_no_judge_is_for_is_warned_of(tmp_path: Path) -> None:
    """Its answers would be paid for and never judged; with a judge for all samples nothing is said."""
    assert not any("no judge is for" in each for each in told(tmp_path, "{type: contains}"))
    config = CONFIG.replace("{type: exact_match}, JUDGE", "{type: exact_match, only_for: {id: '1'}}")
    (tmp_path / "questions.jsonl").write_text(
        "".join(f'{{"id": "{number}", "question": "Q{number}", "answer": "A"}}\n' for number in (1, 2, 3))
    )
    (tmp_path / "eval.yaml").write_text(config)
    found: list[str] = []
    check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", found.append)
    assert [each for each in found if "judge" in each] == [
        "no judge is for 2 samples, as '2': what is answered there is paid for and never judged"
    ]


def test_a_mock_run_needs_no_keys(tmp_path: Path) -> None:
    """Without keys a check names what lacks; for a mock run nothing does."""
    told(tmp_path, "{type: rubric, model: claude-sonnet-5}")
    config = load(tmp_path / "eval.yaml", environ={})
    assert any("ANTHROPIC_API_KEY" in each for each in check(config, tmp_path / "none.jsonl", print).problems)
    with Mock() as mock:
        found = check(config, tmp_path / "none.jsonl", print, mock_url=mock.base_url)
    assert not found.problems


@pytest.mark.parametrize(
    ("agent", "what"),
    [
        ("type: command, command: [cat]", "program"),
        ("type: http, url: 'http://localhost:1'", "service"),
        ("type: echo", ""),
    ],
)
def test_what_a_mock_run_does_not_stand_in_for_is_told(
    agent: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and only of a mock run: the program of the agent is really started, and may spend."""
    monkeypatch.setitem(
        globals(), "CONFIG", CONFIG.replace("type: command, command: [cat], model: claude-opus-5", agent)
    )
    assert not any("--mock" in each for each in told(tmp_path, "{type: number}"))
    found: list[str] = []
    check(
        load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", found.append, mock_url="http://localhost:1"
    )
    assert [f"the agent's {what}: that is really called" in each for each in found if "--mock" in each] == (
        [True] if what else []
    )


def test_a_service_that_cannot_be_reached_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task of a run would fail, after all its attempts."""
    agent = f"type: http, url: 'http://127.0.0.1:{free_port()}'"
    monkeypatch.setitem(
        globals(), "CONFIG", CONFIG.replace("type: command, command: [cat], model: claude-opus-5", agent)
    )
    told(tmp_path, "{type: number}")
    (problem,) = check(load(tmp_path / "eval.yaml", environ={}), tmp_path / "none.jsonl", print).problems
    assert problem.startswith("agent http: cannot reach the service: ")
    assert problem.endswith("; is it running, and is its address right?")


def test_a_link_out_of_the_workspace_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tasks share what is there."""
    (tmp_path / "project").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "project" / "data").symlink_to("../data")
    monkeypatch.setitem(globals(), "CONFIG", CONFIG + "workspace: {copy: project}\n")
    (found,) = (each for each in told(tmp_path, "{type: number}") if each.startswith("workspace:"))
    assert "project/data, a link, leads out of the folder that is copied" in found


@pytest.mark.parametrize(
    ("agent", "is_refused"),
    [
        ("command: [python, agent.py]", True),
        ("command: [python, ./agent.py]", True),
        ('command: [python, "{folder}/agent.py"]', False),
        ("command: [python, -c, agent]", False),
        ("command: [cat, agent.py]}\nworkspace: {copy: project", False),
    ],
)
def test_a_file_that_the_program_will_not_find_is_refused(
    agent: str, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies beside the config, and the program runs in an empty folder; a workspace may have one of that name."""
    for name in ("agent.py", "agent", "questions.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "project").mkdir()
    monkeypatch.setitem(globals(), "CONFIG", CONFIG.replace("command: [cat], model: claude-opus-5", agent))
    (tmp_path / "eval.yaml").write_text(CONFIG.replace("JUDGE", "{type: number}"))
    prepared = unread(load(tmp_path / "eval.yaml", environ={}), None, None)
    with pytest.raises(UsageError, match=r"write \{folder\}/agent.py") if is_refused else nullcontext():
        check_files(prepared)


def asked_of(folder: Path, log: Path, execution: str = "") -> tuple[Findings, list[str]]:
    """Return what a check of a config over a log finds, and what it warns of."""
    (folder / "questions.jsonl").write_text('{"id": "1", "question": "Q", "answer": "A"}\n')
    (folder / "eval.yaml").write_text(CONFIG.replace("JUDGE", "{type: number}") + execution)
    said: list[str] = []
    return check(load(folder / "eval.yaml", environ={}), log, said.append), said


def test_a_check_says_what_a_run_on_the_log_would_ask(tmp_path: Path) -> None:
    """How much is there, and what counts no more; nothing of a log that is not there."""
    log = tmp_path / "run.jsonl"
    found, _ = asked_of(tmp_path, log)
    assert (found.ahead, found.has_answers) == ((), False)
    config = found.prepared
    answers = [answer_to(config, task) for task in tasks_of(config)]
    write_log(log, [run_event(config, "generate", new_run_id()), *answers[:2]])
    before, _ = asked_of(tmp_path, log)
    assert before.ahead[0].endswith("; 4 more will be asked for, ≈ $1.00 with judgments")
    write_log(log, [run_event(config, "generate", new_run_id()), *answers])
    unjudged = "responses of earlier runs lack judgments, which will be made: 6 by exact_match, 6 by number"
    assert asked_of(tmp_path, log)[0].ahead == (NOTHING_TO_GENERATE, unjudged)
    after, _ = asked_of(tmp_path, log, "execution: {repetitions: 2}\n")
    assert after.ahead[0].startswith("2 responses will count no more: the plan now leaves out 1 repetition")


def test_a_check_says_which_pairs_will_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what other judges will do, and at the cost of those that are no answer beside itself."""
    monkeypatch.setitem(globals(), "CONFIG", CONFIG.replace("JUDGE", "{type: pairwise, model: claude-opus-5}"))
    log = tmp_path / "run.jsonl"
    config = asked_of(tmp_path, log)[0].prepared
    write_log(log, [run_event(config, "run", new_run_id()), *(answer_to(config, each) for each in tasks_of(config))])
    found, _ = asked_of(tmp_path, log)
    assert found.ahead[1].endswith(", which will be made: 6 by exact_match, 6 by pairwise, ≈ $0.18, a rough guess")
    assert found.estimates[-1].cost_usd == pytest.approx(0.18)


def test_an_edited_condition_is_priced_as_before_the_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the estimate as in what is said of the work ahead, until the condition has answers of its own."""
    log = tmp_path / "run.jsonl"
    config = asked_of(tmp_path, log)[0].prepared
    write_log(
        log, [run_event(config, "generate", new_run_id()), *(answer_to(config, each) for each in tasks_of(config))]
    )
    monkeypatch.setitem(globals(), "CONFIG", CONFIG.replace("Please answer.", "Please do answer."))
    found, _ = asked_of(tmp_path, log)
    (polite,) = [each for each in found.estimates if each.name == "polite"]
    assert (polite.each_usd, polite.measured) == (0.25, True)
    assert any(line.endswith("3 more will be asked for, ≈ $0.75 with judgments") for line in found.ahead)


def test_a_budget_that_a_run_would_refuse_is_refused_by_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a price nobody can hold it; with one it is compared with the estimate."""
    log = tmp_path / "none.jsonl"
    for budget, is_warned in ((0.01, True), (100, False)):
        found, said = asked_of(tmp_path, log, f"execution: {{budget_usd: {budget}}}\n")
        assert (found.errors, any("and the estimate of all calls" in line for line in said)) == ((), is_warned)
    monkeypatch.setitem(globals(), "CONFIG", CONFIG.replace("claude-opus-5", "of-no-known-price"))
    refused, _ = asked_of(tmp_path, log, "execution: {budget_usd: 1}\n")
    assert [type(error) for error in refused.errors] == [UsageError]
    assert "budget_usd is set" in refused.problems[0]


def test_a_daily_budget_that_the_run_will_reach_is_told_by_the_check(tmp_path: Path) -> None:
    """With what today cost already; one that has room for all is no matter of a warning."""
    log = tmp_path / "run.jsonl"
    config = asked_of(tmp_path, log)[0].prepared
    answer = answer_to(config, tasks_of(config)[0]) | {"cost_usd": 0.3, "time": now()}
    write_log(log, [run_event(config, "generate", new_run_id()), answer])
    for budget, is_told in ((0.31, True), (1000, False)):
        _, said = asked_of(tmp_path, log, f"execution: {{daily_budget_usd: {budget}}}\n")
        assert any("of which $0.3000 is spent today (UTC), and the estimate" in line for line in said) == is_told


def test_a_model_of_nearly_a_known_name_is_told_by_the_check(tmp_path: Path) -> None:
    """One of another name altogether may be anybody's own: of that nothing is said."""
    for model, is_told in (("claude-sonet-5", True), ("of-our-own", False), ("claude-sonnet-5", False)):
        said = told(tmp_path, f"{{type: rubric, model: {model}}}")
        assert (
            any(line.endswith("so neither is its price; did you mean 'claude-sonnet-5'?") for line in said) == is_told
        )


def test_a_daily_budget_that_is_spent_is_told_by_the_check(tmp_path: Path) -> None:
    """What the log's events of today cost is compared with it; those of another day are not of today."""
    log = tmp_path / "run.jsonl"
    config = asked_of(tmp_path, log)[0].prepared
    answer = answer_to(config, tasks_of(config)[0]) | {"cost_usd": 0.3}
    for time, is_told in ((now(), True), ("2026-01-01T00:00:00.000Z", False)):
        write_log(log, [run_event(config, "generate", new_run_id()), answer | {"time": time}])
        _, said = asked_of(tmp_path, log, "execution: {daily_budget_usd: 0.3}\n")
        assert any("daily_budget_usd 0.3 is reached: $0.3000 spent today" in line for line in said) == is_told


def test_of_a_server_that_is_down_nothing_is_said_to_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it offers is not known, so neither is what would be asked again for it; that it is down is said."""
    log = tmp_path / "run.jsonl"
    found, _ = asked_of(tmp_path, log)
    config = found.prepared
    write_log(
        log, [run_event(config, "generate", new_run_id()), *(answer_to(config, each) for each in tasks_of(config))]
    )
    servers = 'mcp_servers: {down: {type: stdio, command: "false"}}\n'
    asking = CONFIG.replace('"Please answer."}', '"Please answer.", mcp_servers: [down]}')
    monkeypatch.setitem(globals(), "CONFIG", servers + asking)
    found, _ = asked_of(tmp_path, log)
    assert (found.ahead, ["'down'" in problem for problem in found.problems]) == ((), [True])
