"""Properties of numbers by group."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keval import projections
from keval.errors import UsageError
from keval.exports.text import Text
from keval.ids import JsonObject
from keval.reports.builder import compose
from keval.stats.asked import Asked
from keval.stats.groups import known_fields, leads_inside, ungrouped
from tests.aggregated import bodies, example
from tests.builders import write_log

KINDS = {"s1": "how", "s2": "how", "s3": "how", "s4": "why", "s5": "why"}


BY_KIND = Asked(by=("kind of question",))

SAMPLES = ("samples",)
"""What tells of fields."""


def grouped() -> list[JsonObject]:
    """Return the worked example, in which all samples but one are of a kind."""
    events = example()
    for event in events:
        if event["type"] == "response":
            event["sample"]["kind of question"] = KINDS.get(event["sample"]["id"])
            event["sample"]["hard"] = event["sample"]["id"] in {"s2", "s4"}
    return events


def only_how(events: list[JsonObject]) -> list[JsonObject]:
    """Return the events of the samples of one kind."""
    return [event for event in events if event.get("sample", {"id": event.get("sample_id", "s1")})["id"] < "s4"]


@pytest.mark.slow
def test_a_group_has_the_numbers_that_its_samples_alone_would_have(tmp_path: Path) -> None:
    """In the order of conditions and values; the condition as a whole is there, too, and comparisons are last."""
    events = grouped()
    found = bodies(tmp_path, events, asked=BY_KIND)
    groups = [body for body in found if body.get("level") == "group"]
    assert [(body["condition"], body["by"]) for body in groups] == [
        (condition, {"kind of question": kind}) for condition in ("A", "B") for kind in ("how", "why")
    ]
    assert [body["type"] for body in found] == ["aggregate"] * 6 + ["comparison"] * 3
    how = groups[0]
    whole = bodies(tmp_path, only_how(events))[0]
    for name in (
        "mean",
        "se",
        "var_sample",
        "var_response",
        "var_judgment",
        "se_repeat",
        "n_judgments",
        "condition_id",
    ):
        assert how[name] == whole[name]


@pytest.mark.slow
def test_a_group_has_the_difference_that_its_samples_alone_would_have(tmp_path: Path) -> None:
    """Adjusted for the comparisons of all groups, which are no part of the family of the conditions as a whole."""
    events = grouped()
    whole, how, why = [each for each in bodies(tmp_path, events, asked=BY_KIND) if each["type"] == "comparison"]
    (alone,) = [each for each in bodies(tmp_path, only_how(events)) if each["type"] == "comparison"]
    assert (whole["n_paired"], how["by"], why["by"]) == (6, {"kind of question": "how"}, {"kind of question": "why"})
    for name in (
        "difference",
        "se",
        "p",
        "p_t",
        "n_paired",
        "wins",
        "d_z",
        "baseline_id",
        "condition_id",
        "conclusion",
    ):
        assert how[name] == alone[name]
    assert (how["p_holm"], how["p_bh"], how["family_size"], why["p_bh"]) == (None, 0.5, 2, 0.5)
    assert (whole["p_holm"], whole["family_size"], whole["qualification"]) == (whole["p"], 1, None)
    assert "p_bh" not in whole
    assert how["qualification"] == "exploratory"


@pytest.mark.slow
def test_a_report_shows_groups_beside_and_not_among_its_conditions(tmp_path: Path) -> None:
    """A row per group and condition, in every format for people; metrics and sentences are as without groups."""
    with projections.connect([write_log(tmp_path / "log.jsonl", grouped())]) as connection:
        report, without = compose(connection, by=("kind of question",)), compose(connection)
    assert (report.metrics, report.headlines, without.groups) == (without.metrics, without.headlines, ())
    ((grouped_metric,),) = (report.groups,)
    assert [(dict(each.by)["kind of question"], each.score.condition) for each in grouped_metric.scores] == [
        ("how", "A"), ("how", "B"), ("why", "A"), ("why", "B"),
    ]  # fmt: skip
    text = Text().render(report).decode()
    assert "By kind of question (exploratory): completeness, judge rubric" in text
    assert "of 2 comparisons of groups" in text


@pytest.mark.slow
def test_a_group_of_few_clusters_is_told_below_its_numbers(tmp_path: Path) -> None:
    """Its samples may be many: an interval over six clusters is none to rest on."""
    run, *events = grouped()
    run["config"] = {"name": "test", "dataset": {"cluster_key": "cluster"}}
    for event in events:
        if event["type"] == "response":
            event["sample"] |= {"cluster": event["sample"]["id"], "kind of question": "how"}
    with projections.connect([write_log(tmp_path / "log.jsonl", [run, *events])]) as connection:
        text = Text(width=200).render(compose(connection, by=("kind of question",))).decode()
    assert "Groups of fewer than 10 clusters: " in text
    assert "(how: 6 clusters)" in text
    assert "Student's t over clusters of samples." in text


@pytest.mark.slow
def test_several_fields_divide_by_all_of_their_values(tmp_path: Path) -> None:
    """A group is what has the same values in all of them; true is the text true."""
    found = bodies(tmp_path, grouped(), asked=Asked(by=("kind of question", "hard")))
    groups = [(body["by"]["kind of question"], body["by"]["hard"]) for body in found if body.get("level") == "group"]
    assert groups[:4] == [("how", "false"), ("how", "true"), ("why", "false"), ("why", "true")]


def test_a_sample_is_in_the_group_of_each_element_of_a_list(tmp_path: Path) -> None:
    """Once, however often the list has it, and beside each value of another field; without an element it is in none."""
    tags = {"s1": ["sql", "cli", "sql", None], "s2": ["cli"], "s3": "cli", "s4": [], "s5": [None]}
    events = grouped()
    for event in events:
        if event["type"] == "response":
            event["sample"]["tags"] = tags.get(event["sample"]["id"])
    found = bodies(tmp_path, events, asked=Asked(by=("tags", "hard")))
    groups = [
        (body["by"]["tags"], body["by"]["hard"], body["n_samples"])
        for body in found
        if body.get("level") == "group" and body["condition"] == "A"
    ]
    assert groups == [("cli", "false", 2), ("cli", "true", 1), ("sql", "false", 1)]
    with projections.connect([write_log(tmp_path / "log.jsonl", events)], tools=False, asked=SAMPLES) as connection:
        assert ungrouped(connection, ["tags"]) == 3
        assert ungrouped(connection, ["tags", "hard"]) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("field", "count"), [("kind of question", 1), ("nowhere", 6), ("hard", 0)])
def test_samples_without_the_field_are_counted(tmp_path: Path, field: str, count: int) -> None:
    """What is null or absent is in no group, and it is known how many samples that are."""
    with projections.connect([write_log(tmp_path / "log.jsonl", grouped())], tools=False, asked=SAMPLES) as connection:
        assert ungrouped(connection, [field]) == count
        assert known_fields(connection) == ["answer", "hard", "id", "kind of question", "question"]


@pytest.mark.parametrize(("field", "told"), [("", "without a name"), ("*", "called *")])
def test_a_field_that_no_path_can_name_is_refused(tmp_path: Path, field: str, told: str) -> None:
    """An unset variable of a shell is one."""
    log = write_log(tmp_path / "log.jsonl", grouped())
    with (
        projections.connect([log], tools=False, asked=SAMPLES) as connection,
        pytest.raises(UsageError, match=re.escape(told)),
    ):
        ungrouped(connection, [field])


@pytest.mark.parametrize(
    ("path", "leads"), [(["meta", "level"], True), (["meta", "tags", 1], True), (["meta", "depth"], False)]
)
def test_it_is_known_whether_a_path_leads_into_a_sample(tmp_path: Path, path: list[str | int], *, leads: bool) -> None:
    """What a user meant as a path is told apart from a name that is wrong."""
    events = grouped()
    for event in events:
        if event["type"] == "response":
            event["sample"]["meta"] = {"level": 1, "tags": ["a", "b"]}
    with projections.connect([write_log(tmp_path / "log.jsonl", events)], tools=False, asked=SAMPLES) as connection:
        assert leads_inside(connection, path) == leads
