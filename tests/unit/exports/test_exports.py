"""Properties of the report formats: what stands in them, and that nothing out of a log can act."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import unicodedata
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from keval import plugins
from keval.exports import Export
from keval.exports._blocks import Table
from keval.exports._groups import groups
from keval.exports.csv import HEADER, Csv
from keval.exports.json import Json
from keval.exports.markdown import Markdown
from keval.exports.text import Text
from keval.logs.log_head import HEAD_BYTES
from keval.printable import printable
from keval.readable import NOTHING
from keval.reports.groups import GroupedMetric, GroupScore
from keval.reports.metric_tables import Difference
from keval.reports.model import BANNER, Claim, ConditionClaims, LogSource, Report, ServerUse
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistics import AGGREGATE
from tests.reports import HOSTILE, difference, hostile_report, score, small_report, summary

SMALL_TEXT = """\
keval report: docs-server, version 1

Read this first
 - INCOMPLETE: 2 of 36 planned answers are not done

Did it help?
 - with_docs vs baseline: completeness +0.38 [+0.12, +0.62] higher
 - What the line leaves open.
 - Read with care: 6 samples, so intervals are wide.

Scores, judge strict, scale 1 to 5

  metric         baseline, n = 6     with_docs, n = 6    with_docs minus baseline
 ────────────────────────────────────────────────────────────────────────────────────
  completeness   3.50 [2.25, 4.75]   3.88 [2.25, 5.00]   +0.38 [+0.12, +0.62] higher

Details of the scores

                             baseline       with_docs
 ─────────────────────────────────────────────────────
  scored / planned            17 / 18         17 / 18
  agent failed                      1               1
  failures by kind      1 (timeout 1)   1 (timeout 1)
  SD within samples                 –            0.50
  SD between samples             1.00            1.00
  complete-case mean             3.62            3.62
  worst and best case    [3.50, 3.50]    [3.50, 3.50]

 - SD within samples, baseline: one repetition

  with_docs minus baseline   paired   win / tie / loss
 ──────────────────────────────────────────────────────
  completeness                    6          5 / 1 / 0

Where did it get worse?

  with_docs: lost most   metric         baseline   with_docs   difference
 ─────────────────────────────────────────────────────────────────────────
  merge-logs             completeness   3.00       2.25        -0.75

  with_docs: gained most   metric         baseline   with_docs   difference
 ───────────────────────────────────────────────────────────────────────────
  own-failures             completeness   1.00       4.50        +3.50

Conditions

                                         baseline         with_docs
 ───────────────────────────────────────────────────────────────────
  planned                                      18                18
  completed                                    17                17
  failed                            1 (timeout 1)     1 (timeout 1)
  mean duration                            1.25 s            1.25 s
  median duration                          1.00 s            1.00 s
  p90 duration                             2.00 s            2.00 s
  p99 duration                             4.00 s            4.00 s
  agent cost                            ≥ $0.1234         ≥ $0.1234
  agent cost per answer                   $0.0082           $0.0082
  judge cost                              $0.5000           $0.5000
  input tokens                             12,345            12,345
  tool calls                                    0      3 (1 failed)
  golden answer in tool results   2 of 16 answers   2 of 16 answers

 - agent cost, each condition: unknown for 3 of 18 attempts

  condition   MCP server   connected   calls          answers using it
 ──────────────────────────────────────────────────────────────────────
  with_docs   docs         18 of 18    3 (1 failed)   12 of 17 (71 %)

Failures

  condition   stage      kind      count   for example
 ──────────────────────────────────────────────────────────────────
  with_docs   generate   timeout   1       no answer: 600 s in all

Retracted

  what          reason              by
 ───────────────────────────────────────
  2 responses   the key was wrong   ana

Unverified claims
 - baseline: none in 17 judged answers

  answers   with_docs: 2 different in 2 of 17 judged answers
 ────────────────────────────────────────────────────────────
  2         The tower is 330 m high.
  1         It is red.

Source
 log                   run.jsonl
 agent                 claude, model claude-sonnet-5
 models that answered  claude-sonnet-5-20260901
 judge                 strict (rubric), model claude-opus-5
 MCP server            docs: docs-server 1.4, 2 tools (search, read)
 dataset               questions.jsonl, 6 samples, sha256 0123456789ab
 time of the events    2026-11-20T11:00:00.000Z to 2026-11-20T11:10:00.000Z
 events                1 run, 34 responses, 34 judgments, 2 failures, 2 retracted
 seed                  0

Notes
 - A mean is the mean of the samples' means.
"""


def test_text_of_a_small_report_reads_like_this() -> None:
    """The whole text report, to be read by whoever changes it."""
    assert Text(width=90).render(small_report()).decode() == SMALL_TEXT


def test_a_changed_sample_names_the_judge_where_two_have_the_metric() -> None:
    """As the headline does: with one judge the metric's name is enough."""
    (table,) = small_report().metrics
    both = small_report(metrics=(table, dataclasses.replace(table, judge="lenient", judge_id="other-id")))
    for export in (Text(width=200), Markdown()):
        shown = export.render(both).decode()
        assert re.search(r"merge-logs[ |]+completeness \(strict\)", shown)
        assert "completeness (strict)" not in export.render(small_report()).decode()


def test_the_source_of_several_logs_says_of_each_what_differs() -> None:
    """What all share stands once; an unknown seed is never told of logs that have one."""
    report = small_report()
    one = LogSource("a.jsonl", report.header.agent, report.header.dataset, 0)
    other = dataclasses.replace(one, log="b.jsonl", seed=7)
    shown = Text(width=200).render(
        dataclasses.replace(report, header=dataclasses.replace(report.header, seed=None, logs=(one, other)))
    )
    assert re.findall(r"(?m)^ (?:agent|dataset|seed) +(.*)$", shown.decode()) == [
        "claude, model claude-sonnet-5",
        "questions.jsonl, 6 samples, sha256 0123456789ab",
        "a.jsonl: 0",
        "b.jsonl: 7",
    ]


def acting(text: str) -> list[str]:
    """Return the characters of a text that could act or hide, newlines apart."""
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    return [character for character in text if character != "\n" and unicodedata.category(character) in hidden]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("export", [Text(), Text(width=40), Markdown()])
def test_nothing_out_of_a_log_can_act_on_a_terminal(export: Text | Markdown, text: str) -> None:
    """Escape codes, changes of direction and separators are written as escapes."""
    assert acting(export.render(hostile_report(text)).decode()) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_color_adds_nothing_but_colors(text: str) -> None:
    """Without its colour codes, a coloured report is the plain one."""
    colored = Text(color=True).render(hostile_report(text)).decode()
    assert "\x1b[" in colored
    bare = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()]
    assert bare == Text().render(hostile_report(text)).decode().splitlines()


def test_markup_of_the_terminal_library_is_shown_as_it_was_written() -> None:
    """`[bold]` in a claim is six characters."""
    assert "[bold]loud[/bold]" in Text().render(hostile_report("[bold]loud[/bold]")).decode()


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Conditions that do not fit side by side go into several tables; no number is cut."""
    names = [f"condition_{number}" for number in range(7)]
    report = small_report(conditions=tuple(summary(name) for name in names))
    lines = Text(width=width).render(report).decode().splitlines()
    assert max(len(line) for line in lines) <= width
    if width > 40:
        assert all(any(name in line for line in lines) for name in names)
        assert "…" not in "".join(lines)


def test_of_a_condition_that_nothing_was_scored_of_that_is_said_once() -> None:
    """Not for each metric, nor for each statistic that is missing."""
    none = {
        "mean": None, "ci_lower": None, "ci_upper": None, "scored": 0, "agent_failed": 0, "not_measured": 36,
        "failed": {"mcp_not_ready": 36}, "sd_within_sample": None, "sd_between_samples": None, "n_samples": 0,
    }  # fmt: skip
    reasons = dict.fromkeys(("mean", "ci_lower", "sd_within_sample", "sd_between_samples"), "nothing was measured")
    (table,) = small_report().metrics
    tables = tuple(
        dataclasses.replace(table, metric=metric, scores=(table.scores[0], score("with_docs", **none, reasons=reasons)))
        for metric in ("completeness", "clarity")
    )
    drawn = Text().render(small_report(metrics=tables)).decode()
    assert drawn.count("with_docs: nothing was scored (mcp_not_ready 36)") == 1
    assert "nothing was measured" not in drawn


def test_what_metrics_share_is_said_once() -> None:
    """Two metrics of equal numbers have one table of details, which names both."""
    (table,) = small_report().metrics
    other = dataclasses.replace(table, metric="clarity")
    third = dataclasses.replace(table, metric="facts", scores=(table.scores[0], score("with_docs", sd_within_sample=2)))
    drawn = Text().render(small_report(metrics=(table, other, third))).decode()
    assert drawn.count("scored / planned") == 1
    assert re.search(r"(?m)^  completeness, clarity +baseline +with_docs$", drawn)
    assert drawn.count("SD within samples, baseline: one repetition") == 1


def test_what_only_combined_metrics_have_no_other_metric_lacks() -> None:
    """It has no reason there, and needs none."""
    (table,) = small_report().metrics
    combined = dataclasses.replace(
        table, metric="efficiency", computed="combined",
        scores=tuple(
            score(name, other_statistics={**table.scores[0].other_statistics, "score_of_means": value}, reasons=why)
            for name, value, why in (("baseline", 0.5, {}), ("with_docs", None, {"score_of_means": "no tokens"}))
        ),
    )  # fmt: skip
    drawn = Text().render(small_report(metrics=(table, combined))).decode()
    assert "formula of the means of efficiency, with_docs: no tokens" in " ".join(drawn.split())
    assert "does not say why" not in drawn


def test_a_table_that_is_printed_as_a_list_says_what_it_is_of() -> None:
    """Where two metrics have one each, nobody could tell them apart."""
    (table,) = small_report().metrics
    kinds = [f"a_kind_of_failure_that_is_long_{number}" for number in range(3)]
    tables = tuple(
        dataclasses.replace(
            table, metric=metric, scores=(score("baseline", failed=dict.fromkeys(kinds, times)),), differences=()
        )
        for metric, times in (("completeness", 7), ("clarity", 8))
    )
    drawn = Text(width=40).render(small_report(metrics=tables)).decode()
    for metric in ("completeness", "clarity"):
        assert re.search(rf"(?m)^{metric}\n\nfailures by kind$", drawn)


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_word_and_no_interval_of_a_table_of_scores_is_cut_in_two(width: int) -> None:
    """Whatever fits not side by side stands below each other."""
    (table,) = small_report().metrics
    named = [dataclasses.replace(table, metric=f"{number}_and_quite_a_long_name") for number in range(3)]
    drawn = Text(width=width).render(small_report(metrics=tuple(named))).decode()
    for whole in ("[2.25, 4.75]", "[+0.12, +0.62]", "2_and_quite_a_long_name", "with_docs minus"):
        assert whole in drawn[drawn.index("Scores,") :]
    assert max(map(len, drawn.splitlines())) <= width


def test_a_row_of_a_server_stands_only_where_it_is_used() -> None:
    """Eight conditions with six servers have as many rows as pairs that exist, not 48."""
    use = [ServerUse(f"server_{number}", 3, 3, 3, 2, 2, 0) for number in range(3)]
    conditions = (summary("a", servers=(use[0],)), summary("b", servers=(use[1], use[2])), summary("c"))
    drawn = Text().render(small_report(conditions=conditions)).decode()
    assert re.findall(r"(?m)^  (\w) +(server_\d) ", drawn) == [("a", "server_0"), ("b", "server_1"), ("b", "server_2")]
    assert "no such server" not in drawn


def parsed(rendered: bytes) -> list[Any]:
    """Return the block and inline tokens of a Markdown text as GitHub would read it."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(rendered.decode())
    return [token for block in blocks for token in (block, *(block.children or ()))]


def shape(report: Report) -> list[str]:
    """Return what a report's Markdown consists of, its text apart."""
    return [
        token.type if token.type != "html_inline" else token.content
        for token in parsed(Markdown().render(report))
        if token.type not in {"text", "text_special"}
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_not_change_the_structure_of_markdown(text: str) -> None:
    """No link, image, tag, cell, heading or emphasis comes out of a log."""
    assert shape(hostile_report(text)) == shape(hostile_report("harmless"))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_no_text_at_all_changes_the_structure_of_markdown(text: str) -> None:
    """Whatever a condition, judge or claim is called, the tables have the same cells."""
    assert shape(hostile_report(f"x{text}")) == shape(hostile_report("harmless"))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_markdown_shows_a_claim_as_it_was_written(text: str) -> None:
    """What a reader of the page sees is the claim, with what cannot be seen as escapes."""
    report = small_report(claims=(ConditionClaims("baseline", 1, 1, (Claim(f"({text})", 1),)),))
    shown = "".join(token.content for token in parsed(Markdown().render(report)) if token.type == "text")
    assert f"({printable(text)})" in shown


def test_markdown_says_mock_first() -> None:
    """The banner of a mocked run is the first thing on the page."""
    rendered = Markdown().render(small_report(mock=True, banner="MOCK: a stand-in")).decode()
    assert rendered.startswith("> **MOCK: a stand-in**\n")


def test_text_says_mock_first() -> None:
    """The banner of a mocked run is the first line."""
    rendered = Text().render(small_report(mock=True, banner="MOCK: a stand-in")).decode()
    assert rendered.startswith("MOCK: a stand-in\n\nkeval report")


def test_json_holds_the_whole_report() -> None:
    """What is parsed back has every field of the dataclasses with its value."""
    report = hostile_report(HOSTILE[1])
    assert json.loads(Json().render(report)) == json.loads(json.dumps(dataclasses.asdict(report)))


def test_json_keeps_the_order_of_the_fields() -> None:
    """Keys stand as in the dataclasses, `mock` first."""
    keys = list(json.loads(Json().render(small_report())))
    assert keys == [field.name for field in dataclasses.fields(Report)]


def rows(rendered: bytes) -> list[dict[str, str]]:
    """Return the rows of a CSV text."""
    return list(csv.DictReader(StringIO(rendered.decode(), newline="")))


def test_csv_holds_every_number_in_full_precision() -> None:
    """A third comes back as the same float; an unknown number is an empty field."""
    table = small_report().metrics[0]
    third = dataclasses.replace(table, scores=(score("baseline", mean=1 / 3, ci_lower=None),))
    (row, other) = rows(Csv().render(small_report(metrics=(third,))))
    assert float(row["mean"]) == 1 / 3
    assert row["ci_lower"] == ""
    assert row["failed_kinds"] == "timeout=1"
    assert (other["condition"], other["mean"]) == ("with_docs", "")


def test_csv_has_a_column_for_every_statistic() -> None:
    """The columns follow the tables of statistics; a report asks for no other. Those of a difference say so by name."""
    assert {name for name, each in AGGREGATE.items() if not each.asked_by} - {"failed"} <= {*HEADER}
    assert {
        name if name == "difference" else f"difference_{name}" for name, each in PAIRED.items() if not each.asked_by
    } <= {*HEADER}
    assert len(set(HEADER)) == len(HEADER)
    table = small_report().metrics[0]
    wide = dataclasses.replace(table, scores=(score("baseline", other_statistics={"var_within_sample": 0.25}),))
    assert rows(Csv().render(small_report(metrics=(wide,))))[0]["var_within_sample"] == "0.25"


@pytest.mark.parametrize("name", sorted(plugins.find("export").keys() & {"text", "markdown"}))
def test_a_statistic_without_a_row_of_its_own_has_one_under_its_label(name: str) -> None:
    """What was added to the tables is drawn without another line of code, where a report has it."""
    table = small_report().metrics[0]
    scores = tuple(dataclasses.replace(each, other_statistics={"mean_upper": 9.875}) for each in table.scores)
    differences = tuple(dataclasses.replace(each, other_statistics={"difference": 7.625}) for each in table.differences)
    wide = dataclasses.replace(table, scores=scores, differences=differences)
    export: Export = plugins.load("export", Export, name)()
    drawn = export.render(small_report(metrics=(wide,))).decode()
    assert re.search(rf"{AGGREGATE['mean_upper'].label}\W+9\.88\W+9\.88", drawn)
    assert "7.62" in drawn


def test_a_number_of_clusters_is_a_whole_number() -> None:
    """Also where it may be null: two clusters are 2, and not 2.00."""
    table = small_report().metrics[0]
    scores = tuple(dataclasses.replace(each, other_statistics={"n_clusters": 2}) for each in table.scores)
    text = Text().render(small_report(metrics=(dataclasses.replace(table, scores=scores),))).decode()
    assert re.search(r"clusters +2 +2\n", text)


@pytest.mark.parametrize(("counted", "shown"), [(0, False), (1234, True)])
def test_a_count_of_a_statistic_without_a_row_of_its_own_is_shown_where_it_is_not_0(counted: int, shown: bool) -> None:
    """Nothing is said of what never happened."""
    table = small_report().metrics[0]
    scores = tuple(dataclasses.replace(each, other_statistics={"not_applicable": counted}) for each in table.scores)
    drawn = Text().render(small_report(metrics=(dataclasses.replace(table, scores=scores),))).decode()
    assert bool(re.search(r"not applicable +1,234 +1,234\n", drawn)) is shown
    assert ("not applicable" in drawn) is shown


def test_a_difference_of_fewer_samples_than_the_means_beside_it_says_so() -> None:
    """It need not be the difference of these means: of two logs edited samples are left out."""
    report = small_report()
    table = report.metrics[0]
    means = min(each.n_samples for each in table.scores)
    for paired, is_told in ((means, False), (means - 2, True)):
        found = tuple(dataclasses.replace(each, n_paired=paired) for each in table.differences)
        changed = dataclasses.replace(report, metrics=(dataclasses.replace(table, differences=found),))
        shown = Markdown().render(changed).decode()
        assert (f"] of {paired} samples" in shown) == is_told


def test_csv_has_the_difference_beside_the_condition() -> None:
    """The baseline has no difference; the other condition has it with its conclusion."""
    baseline, with_docs = rows(Csv().render(small_report()))
    assert (baseline["difference"], baseline["conclusion"]) == ("", "")
    assert (with_docs["difference"], with_docs["difference_ci_lower"], with_docs["conclusion"]) == (
        "0.375",
        "0.125",
        "higher",
    )


def test_csv_has_a_row_for_each_condition_that_another_is_compared_with() -> None:
    """Of three logs the last one is compared with both others."""
    (table,) = small_report().metrics
    other = dataclasses.replace(table.differences[0], baseline="another", difference=-0.5)
    both = dataclasses.replace(table, differences=(*table.differences, other))
    found = rows(Csv().render(small_report(metrics=(both,))))
    told = [(row["condition"], row["baseline"], row["difference"]) for row in found]
    assert told == [("baseline", "", ""), ("with_docs", "baseline", "0.375"), ("with_docs", "another", "-0.5")]


def grouped(found: Difference) -> GroupedMetric:
    """Return the scores of a group, and the difference of its second condition."""
    (table,) = small_report().metrics
    scores = tuple(
        GroupScore({"topic": "=law", "year": "2024"}, each, None if place == 0 else found)
        for place, each in enumerate(table.scores)
    )
    fields = ("topic", "year")
    return GroupedMetric(fields, table.judge, table.judge_id, table.metric, table.min, table.max, 1, scores)


@pytest.mark.parametrize(
    ("qualification", "shown"),
    [
        ("exploratory", "higher"),
        ("exploratory, not after adjusting for 4 comparisons", "higher, not after adjusting for 4 comparisons"),
    ],
)
def test_a_group_whose_difference_does_not_hold_says_so_in_its_row(qualification: str, shown: str) -> None:
    """The heading says that groups explore."""
    section = groups(grouped(difference("with_docs", qualification=qualification)))
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [row[-1] for row in table.rows] == [NOTHING, shown]


def test_csv_has_a_row_for_each_group_of_samples() -> None:
    """Its last column says which; rows of all samples leave it empty, so that nothing is counted twice unseen."""
    found = rows(Csv().render(small_report(groups=(grouped(difference("with_docs")),))))
    assert [row["group"] for row in found] == ["", "", "topic==law, year=2024", "topic==law, year=2024"]
    assert [row["mean"] for row in found[:2]] == [row["mean"] for row in found[2:]]
    assert [row["conclusion"] for row in found] == ["", "higher", "", "higher"]


def test_csv_shows_a_condition_for_which_nothing_was_scored() -> None:
    """A condition without scores has a row with its plan, its failures and its cost."""
    failed = summary("broken", completed=0, failed={"mcp_not_ready": 18})
    (row,) = rows(Csv().render(small_report(metrics=(), conditions=(failed,))))
    assert (row["condition"], row["planned"], row["mean"]) == ("broken", "18", "")
    assert row["condition_failed_kinds"] == "mcp_not_ready=18"
    assert (row["condition_agent_cost_usd"], row["condition_agent_cost_usd_unknown"]) == ("0.1234", "3")


def test_csv_says_in_every_row_that_a_mock_answered() -> None:
    """`mock` is the first column."""
    assert {row["mock"] for row in rows(Csv().render(small_report(mock=True)))} == {"true"}
    assert HEADER[0] == "mock"


@pytest.mark.parametrize("text", [*HOSTILE, "+1", "-1", "@x", "\t=1", " =1"])
def test_csv_text_is_never_a_formula_and_never_breaks_a_row(text: str) -> None:
    """A spreadsheet computes nothing; a row is one line that ends in CRLF, as RFC 4180 has it."""
    rendered = Csv().render(hostile_report(text))
    lines = rendered.decode().split("\r\n")
    assert lines.pop() == ""
    assert len(lines) == 2
    assert acting("".join(lines)) == []
    (row,) = rows(rendered)
    assert not row["condition"].lstrip().startswith(("=", "+", "-", "@"))


def test_csv_leaves_negative_numbers_numbers() -> None:
    """Only text is kept from being a formula."""
    table = small_report().metrics[0]
    lower = dataclasses.replace(table, differences=(difference("with_docs", difference=-0.5),))
    assert rows(Csv().render(small_report(metrics=(lower,))))[1]["difference"] == "-0.5"


@pytest.mark.slow
@settings(max_examples=5)
@given(st.sampled_from(HOSTILE) | st.text())
def test_a_report_is_known_by_how_it_begins(text: str) -> None:
    """Every format knows its own earlier reports, with and without mock, and those of no other format."""
    exports = (Text(), Text(width=20), Markdown(), Json(), Csv())
    for report in (hostile_report(text), small_report(), dataclasses.replace(small_report(), banner=BANNER)):
        for made_by in exports:
            rendered = made_by.render(report)[:HEAD_BYTES]
            assert [type(each) for each in exports if each.is_own(rendered)] == [
                type(each) for each in exports if type(each) is type(made_by)
            ]


@pytest.mark.parametrize("head", [b"# keval reports\n", b"{\n", b"mock,judge\n", b"[]", b"keval reported", b"# A\n"])
def test_what_somebody_else_wrote_is_no_report(head: bytes) -> None:
    """Files that begin nearly as a report are left to whoever wrote them."""
    assert not any(each.is_own(head) for each in (Text(), Markdown(), Json(), Csv()))
