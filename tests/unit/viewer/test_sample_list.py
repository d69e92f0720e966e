"""The list of samples has what was asked for, once each, and in one order over all pages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keval import projections
from keval.errors import UsageError
from keval.viewer import sample_list
from keval.viewer.sample_list import BEGINNING, SORTS, Filters, first_answers, listing, page_of
from tests.builders import failure_event, judge_entry, judgment_event, plan_event, response_event, run_event, write_log

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAMPLES = 9


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DuckDBPyConnection]:
    """Give a log of samples of which several have the same score, one has none, and one failed."""
    events = [run_event(samples=SAMPLES)]
    for number in range(SAMPLES):
        for name in ("baseline", "with_docs"):
            answer = response_event(f"s{number}", name, text=f"Answer {number} of {name}", question=f"{number}?")
            if (number, name) == (7, "with_docs"):
                events.append(failure_event(answer, "infra_error", message="it took Too long"))
                continue
            events.append(answer)
            if number != 8:
                score = 1 + number % 3 if name == "with_docs" else 2
                events.append(judgment_event(answer, score))
    log = write_log(tmp_path_factory.mktemp("list") / "run.jsonl", events)
    with projections.connect([log]) as opened:
        yield opened


def found(connection: DuckDBPyConnection, **query: str) -> list[str]:
    """Return the samples of the first page of a list."""
    return [row["sample_id"] for row in page_of(connection, listing(connection, Filters.read(query))).rows]


def everything(connection: DuckDBPyConnection, filters: Filters) -> Iterator[str]:
    """Yield the samples of all pages."""
    asked: Filters | None = filters
    while asked is not None:
        page = page_of(connection, listing(connection, asked))
        assert page.rows or page.later is None
        yield from (row["sample_id"] for row in page.rows)
        asked = None if page.later is None else Filters.read({k: v for k, v in page.later.query().items() if v})


@pytest.mark.parametrize("sort", SORTS)
def test_pages_together_are_the_list(
    sort: str, connection: DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sample stands on one page, in the order of the whole list; those without a number come last."""
    whole = found(connection, sort=sort)
    assert sorted(whole) == [f"s{number}" for number in range(SAMPLES)]
    if sort != "sample":
        assert set(whole[-2:]) == {"s7", "s8"}
    monkeypatch.setattr(sample_list, "A_PAGE", 2)
    assert list(everything(connection, Filters(sort=sort))) == whole


def test_differences_stand_lowest_first(connection: DuckDBPyConnection) -> None:
    """What got worse is what people look for."""
    rows = page_of(connection, listing(connection, Filters())).rows
    differences = [row["difference"] for row in rows if row["difference"] is not None]
    assert all(one <= other for one, other in pairwise(differences))
    assert {row["sample_id"]: row["difference"] for row in rows}["s0"] == -1


def test_a_difference_that_is_float_noise_is_none(tmp_path: Path) -> None:
    """A tie of the report is one in the list: noise is small beside the values, which may be large."""
    scale = {"min": 0, "max": 1e9}
    judge = judge_entry([{"name": "completeness", **scale}])
    events = [run_event(samples=1, repetitions=2, judges=[judge])]
    mean, one, other = 366051492.85, 109551314.9, 622551670.8  # as floats, the mean of the two is less by its last bit
    for name, scores in {"baseline": (mean, mean), "with_docs": (one, other)}.items():
        for repetition, score in enumerate(scores, start=1):
            answer = response_event("s0", name, repetition)
            judgment = judgment_event(answer, score)
            judgment["scores"]["completeness"] |= scale
            events += [answer, judgment]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as connection:
        (sample,) = page_of(connection, listing(connection, Filters())).rows
        ((result, difference),) = connection.execute("select result, difference from paired_samples").fetchall()
    assert (sample["score"] != sample["baseline_score"], sample["difference"]) == (True, 0)
    assert (result, math.copysign(1, difference)) == ("tie", 1)


@pytest.mark.parametrize(
    ("query", "samples"),
    [
        ({"score_to": "1"}, {"s0", "s3", "s6"}),
        ({"score_from": "2", "score_to": "2"}, {"s1", "s4"}),
        ({"difference_from": "0.5"}, {"s2", "s5"}),
        ({"difference_to": "-0.5", "score_from": "4"}, set()),
        ({"kind": "infra_error"}, {"s7"}),
        ({"kind": "any"}, {"s7"}),
        ({"kind": "judge_error"}, set()),
        ({"condition": "baseline", "score_from": "2", "find": "answer 3 of BASELINE"}, {"s3"}),
        ({"find": "too LONG"}, {"s7"}),
        ({"find": "5?"}, {"s5"}),
        ({"find": "S5"}, {"s5"}),
        ({"find": "it says so", "score_from": "3"}, {"s2", "s5"}),
        ({"find": "it's 100 % _"}, set()),
    ],
)
def test_a_filter_leaves_what_it_says(query: dict[str, str], samples: set[str], connection: DuckDBPyConnection) -> None:
    """Several filters hold together; `view as SQL` is a query for the same samples."""
    assert set(found(connection, **query)) == samples
    statement = listing(connection, Filters.read(query)).statement()
    assert {row[0] for row in connection.execute(statement).fetchall()} == samples


def test_an_address_asks_again_for_the_same() -> None:
    """Whatever is asked for, its address says it in full."""
    filters = Filters(
        "with docs", "rubric/a b", 1.5, 2, -0.1, 1e-3, "timeout", "a & b", "-score", (None, "s\u2028'1"),
    )  # fmt: skip
    assert Filters.read({name: value for name, value in filters.query().items() if value is not None}) == filters


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "name"}, {"score_to": "much"}, {"score_to": "nan"}, {"difference_from": "-inf"}, {"after": "s1"},
        {"after": '[1, "s1", 2]'}, {"after": '["x", "s1"]'}, {"condition": "with_doc"}, {"metric": "rubric/x"},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_said(query: dict[str, str], connection: DuckDBPyConnection) -> None:
    """It is refused with the name of the field."""
    with pytest.raises(UsageError, match=next(iter(query))):
        listing(connection, Filters.read(query))


def test_a_long_search_stops_and_goes_on(connection: DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how far it came, and the next page begins there; nothing is left out or found twice."""
    monkeypatch.setattr(sample_list, "AT_ONCE", 2)
    hours = itertools.count(step=3_600)
    asked, samples, looked = Filters(find="answer", sort="sample"), [], 0
    while True:
        page = page_of(connection, listing(connection, asked), lambda: float(next(hours)))
        samples += [row["sample_id"] for row in page.rows]
        if page.later is None:
            break
        assert page.looked_through == 2
        looked += 2
        asked = page.later
    assert looked == 8
    assert samples == [f"s{number}" for number in range(SAMPLES)]


def test_a_log_without_scores_is_listed(tmp_path: Path) -> None:
    """By sample, with the kinds of failure."""
    answers = [response_event(name) for name in ("q1", "q2")]
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], judges=[]), answers[0], failure_event(answers[1])])
    with projections.connect([log]) as connection:
        asked = listing(connection, Filters())
        assert (asked.series, asked.baseline, asked.sort) == (None, None, "sample")
        assert [(row["sample_id"], row["failed"]) for row in page_of(connection, asked).rows] == [
            ("q1", []), ("q2", ["timeout"]),
        ]  # fmt: skip


def test_a_long_answer_is_cut_on_the_list(tmp_path: Path) -> None:
    """The first line of the first repetition, and a sign where there is more of it."""
    answers = [
        response_event("q1", text="\nx" * 3 + "y" * 500), response_event("q2", text="z" * 500),
        response_event("q1", repetition=2, text="later"),
    ]  # fmt: skip
    log = write_log(tmp_path / "run.jsonl", [run_event(["baseline"], repetitions=2), *reversed(answers)])
    with projections.connect([log]) as connection:
        page = [{"sample_id": name} for name in ("q1", "q2", "none")]
        assert first_answers(connection, "baseline", page) == {"q1": "x", "q2": "z" * BEGINNING + "…"}
        assert first_answers(connection, "baseline", []) == {}


def test_a_condition_stands_beside_the_baseline_of_its_own_config(tmp_path: Path) -> None:
    """Of two configs that call their first conditions alike only one of these is current: the other config has none."""
    first = run_event({"baseline": "Old.", "a": "A."}, samples=1, config_name="one", id="r1", run_id="r1")
    second = run_event({"baseline": "New.", "b": "B."}, samples=1, config_name="two", id="r2", run_id="r2")
    plan = plan_event([response_event("s0")["question_id"]])
    events = [each | {"plan_id": plan["plan_id"]} for each in (first, second)]
    named = (("baseline", "Old."), ("a", "A."), ("baseline", "New."), ("b", "B."))
    events += [plan, *(response_event("s0", name, prompt=prompt) for name, prompt in named)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as opened:
        found = {name: listing(opened, Filters.read({"condition": name})).baseline for name in ("baseline", "a", "b")}
    assert found == {"baseline": None, "a": None, "b": "baseline"}


def test_conditions_of_several_imports_stand_beside_the_first(tmp_path: Path) -> None:
    """Each file brings one, under a name of its own."""
    events = []
    for name in ("small", "large"):
        run = run_event([name], samples=1, config_name=name, id=name, run_id=name, command="import")
        events += [run, response_event("s0", name)]
    with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as opened:
        found = {name: listing(opened, Filters.read({"condition": name})).baseline for name in ("small", "large")}
    assert found == {"small": None, "large": "small"}


def test_two_versions_of_a_judge_are_chosen_apart(tmp_path: Path) -> None:
    """Both may be called the same, as two that were added to a log are; one alone has no version in its name."""
    answers = [response_event(f"s{number}", name) for number in range(2) for name in ("baseline", "with_docs")]
    by_first = [judgment_event(answer, 2) for answer in answers]
    by_second = [judgment_event(answer, 4, judge_id="another version") for answer in answers]
    scored: dict[str, float] = {}
    for events in ([*answers, *by_first], [*answers, *by_first, *by_second]):
        with projections.connect([write_log(tmp_path / "run.jsonl", events)]) as opened:
            names = [series.name for series in listing(opened, Filters()).all_series]
            for name in names:
                [*_, row] = page_of(opened, listing(opened, Filters(metric=name))).rows
                scored[name] = row["score"]
            [first] = {listing(opened, Filters(metric=name)).series for name in (names[0], "rubric/completeness")}
            assert first == listing(opened, Filters()).series, "an older address still means the first version"
    assert names[1].endswith(", version another /completeness")
    assert [scored[name] for name in names] == [2, 4]
    assert len(scored) == 3
