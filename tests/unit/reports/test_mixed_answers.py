from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from keval import projections
from keval.cli import run
from keval.errors import InputError
from keval.ids import JsonObject
from keval.reports.mixed_answers import READ, mixed, refuse_mixed
from keval.reports.queries import Queries
from tests.builders import ENVIRONMENT, judgment_event, response_event, run_event, write_log

SAID = "MIXED: the answers are not all by the same agent"
CLAUDE = {"name": "claude", "type": "claude", "model": "claude-sonnet-5"}


def run_of(
    number: int,
    answers: int,
    condition: str = "with_docs",
    *,
    agent: Mapping[str, object] = CLAUDE,
    models: tuple[str, ...] = ("claude-sonnet-5",),
    **environment: object,
) -> list[JsonObject]:
    """Return a run with answers to its own questions under one condition."""
    run_id = f"{number:016}"
    run = run_event(samples=2, id=run_id, run_id=run_id, environment={**ENVIRONMENT, **environment})
    found = [
        response_event(f"q{number}-{place}", condition, run_id=run_id, agent=agent, models=list(models))
        for place in range(answers)
    ]
    return [run, *found, *(judgment_event(answer, 3 + place % 2) for place, answer in enumerate(found))]


def told(tmp_path: Path, *runs: list[JsonObject]) -> list[str]:
    """Return what is said of a log of these runs."""
    log = write_log(tmp_path / "run.jsonl", [event for run in runs for event in run])
    with projections.connect([log], texts=False, tools=False, asked=READ) as connection:
        return mixed(Queries(connection))


@pytest.mark.slow
def test_two_versions_of_claude_code_are_two_agents(tmp_path: Path) -> None:
    """Within one condition its answers are counted by version, and refused with the way out."""
    found = told(tmp_path, run_of(1, 2, claude_code="2.1.0"), run_of(2, 4, claude_code="2.1.3"))
    assert found == [f"{SAID}: with_docs: 2 answers by claude-code 2.1.0, 4 by claude-code 2.1.3"]
    with projections.connect([tmp_path / "run.jsonl"], texts=False, tools=False, asked=READ) as connection:
        assert refuse_mixed(connection, allow=True) == found
        with pytest.raises(InputError, match="--allow-mixed"):
            refuse_mixed(connection)


def test_conditions_that_are_compared_have_one_maker(tmp_path: Path) -> None:
    """A model that changed between two conditions would look like an effect of the context."""
    (found,) = told(
        tmp_path,
        run_of(1, 2, "baseline", models=("claude-sonnet-5-20260901",)),
        run_of(2, 1, "with_docs", models=("claude-sonnet-5-20261001",)),
    )
    before, after = "baseline: 2 answers by claude-sonnet-5-20260901", "with_docs: 1 answer by claude-sonnet-5-20261001"
    assert found == f"{SAID}: {before}; {after}"


@pytest.mark.slow
def test_another_model_that_stepped_in_is_found(tmp_path: Path) -> None:
    """A fallback is another agent; a small model beside the one that was asked for is part of the same."""
    one, helped = ("claude-sonnet-5",), ("claude-haiku-4-5", "claude-sonnet-5")
    assert told(tmp_path, run_of(1, 2, models=one), run_of(2, 2, models=helped)) == []
    (found,) = told(tmp_path, run_of(1, 2, models=one), run_of(2, 1, models=("claude-haiku-4-5",)))
    assert found.endswith("with_docs: 1 answer by claude-haiku-4-5, 2 by claude-sonnet-5")


@pytest.mark.parametrize(
    "changed",
    [
        {"keval": "0.1.1"}, {"python": "3.12.0"}, {"platform": "other"}, {"anthropic": "2.0.0"},
        {"claude_agent_sdk": "0.2.0"}, {"git_commit": "f" * 40, "git_dirty": True}, {"claude_code": None},
    ],
    ids=lambda changed: next(iter(changed)),
)  # fmt: skip
def test_what_makes_no_other_agent_is_no_drift(tmp_path: Path, changed: Mapping[str, object]) -> None:
    """A resumed run after an update of keval, of Python or of the project is daily work; unknown is not different."""
    first, second = run_of(1, 2, claude_code="2.1.0"), run_of(2, 2, claude_code="2.1.0")
    second[0]["environment"] |= changed
    assert told(tmp_path, first, second) == []


def test_the_version_of_claude_code_is_of_no_other_agent(tmp_path: Path) -> None:
    """An agent that is not Claude Code does not change with it."""
    echo = {"name": "echo", "type": "echo", "model": None}
    runs = [run_of(number, 2, agent=echo, models=(), claude_code=f"2.1.{number}") for number in (1, 2)]
    assert told(tmp_path, *runs) == []


@pytest.mark.slow
def test_commands_refuse_to_pool_and_say_the_way_out(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`report` ends with 3; with --allow-mixed it says so before any number, and so does `aggregate` on stderr."""
    log = str(tmp_path / "run.jsonl")
    told(tmp_path, run_of(1, 2, claude_code="2.1.0"), run_of(2, 4, claude_code="2.1.3"))
    assert run(["report", log]) == 3
    refused = capfd.readouterr()
    assert refused.out == ""
    assert "2 answers by claude-code 2.1.0, 4 by claude-code 2.1.3\n" in refused.err
    assert "--allow-mixed" in refused.err
    assert run(["report", log, "--allow-mixed", "-f", "markdown"]) == 0
    taken = capfd.readouterr().out
    assert taken.index("MIXED") < taken.index("## Source")
    assert run(["aggregate", log]) == 3
    assert run(["aggregate", log, "--allow-mixed"]) == 0
    assert "MIXED" in capfd.readouterr().err


@pytest.mark.slow
def test_conditions_of_an_import_may_be_models(tmp_path: Path) -> None:
    """They are compared because they differ; within one condition two models are still two."""
    imported = {"name": "imported", "type": "imported", "model": None}
    one = run_of(1, 2, "baseline", agent=imported, models=("gpt",))
    assert told(tmp_path, one, run_of(2, 2, agent=imported, models=("opus",))) == []
    assert told(tmp_path, one, run_of(2, 2, "baseline", agent=imported, models=("opus",))) == [
        f"{SAID}: baseline: 2 answers by gpt, 2 by opus"
    ]
