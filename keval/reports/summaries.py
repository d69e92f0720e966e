"""Makes a log small enough to be read, by people and by models: one line, or one short section, per answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from keval.ids import JsonObject
from keval.printable import without_markup
from keval.projections import rows
from keval.projections.log_file import LogFile
from keval.projections.sql_file import load
from keval.questions import as_text
from keval.reports.trials import with_texts
from keval.reports.verdicts import verdicts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_ANSWER = 200
"""Characters of an answer in a JSON line."""

LONGEST_SECTION = 500
"""Characters of a text in Markdown; of a longer one the first lines are shown, and the last ones."""

FIRST_LINES, LAST_LINES = 8, 4
LONGEST_TEXT_LINE = 200


@dataclass(frozen=True, slots=True)
class Summary:
    """One task in short: what was asked, what was answered, and what became of it."""

    sample_id: str
    condition: str
    repetition: int
    question: str | None
    """None where the log has no record of the sample: failures of older versions have none."""
    answer: str | None
    passed: bool | None
    scores: Mapping[str, float]
    tools: tuple[str, ...]
    duration_ms: int | None
    why: str | None
    """Why there is no verdict: the kind of failure, or that nothing decides."""

    def as_json(self) -> JsonObject:
        """Return it as one JSON object, the answer cut."""
        return {
            "id": self.sample_id,
            "condition": self.condition,
            "repetition": self.repetition,
            "question": self.question,
            "answer": None if self.answer is None else cut(self.answer, LONGEST_ANSWER),
            "pass": self.passed,
            "scores": dict(self.scores),
            "tools": list(self.tools),
            "duration_ms": self.duration_ms,
            "reason": self.why,
        }

    def as_markdown(self) -> str:
        """Return it as a section, in which all text from outside is quoted."""
        verdict = {True: "passed", False: "FAILED", None: "no verdict"}[self.passed]
        scores = ", ".join(f"{without_markup(name)} {score:g}" for name, score in self.scores.items())
        why = without_markup(self.why or "")
        said = [verdict, scores, why, "" if self.duration_ms is None else f"{self.duration_ms / 1000:.1f} s"]
        tools = f"Tools: {without_markup(', '.join(self.tools))}\n\n" if self.tools else ""
        answer = "" if self.answer is None else f"{_quoted(self.answer)}\n\n"
        title = without_markup(f"{self.sample_id}, {self.condition}, {self.repetition}")
        return (
            f"## {title}\n\n**{'; '.join(filter(None, said))}**\n\n"
            f"{_quoted(self.question or '(unknown)')}\n\nAnswer:\n\n{answer}{tools}"
        )


def summaries(
    connection: DuckDBPyConnection, logs: Sequence[LogFile], pass_from: Mapping[str, float]
) -> Iterator[Summary]:
    """Yield all tasks that are planned and were tried, by condition and sample."""
    trials = load("reports", "trial_verdicts", verdicts=verdicts(connection, pass_from), only="true")
    for row in with_texts(logs, rows(connection, load("reports", "trials", trials=trials))):
        sample = row["sample"] or {}
        yield Summary(
            sample_id=row["sample_id"],
            condition=row["condition"],
            repetition=row["repetition"],
            question=as_text(sample["question"]) if "question" in sample else None,
            answer=row["text"],
            passed=row["passed"],
            scores={f"{each['judge']}/{each['metric']}": each["score"] for each in row["scores"]},
            tools=tuple(turn["name"] for turn in row["turns"] or () if turn["type"] == "tool_call"),
            duration_ms=row["duration_ms"],
            why=row["why"],
        )


def cut(text: str, longest: int) -> str:
    """Return the beginning of a text, with a mark where it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _quoted(text: str) -> str:
    lines = text.splitlines() or [""]
    if len(text) > LONGEST_SECTION:
        left = len(lines) - FIRST_LINES - LAST_LINES
        if left > 0:
            lines = [*lines[:FIRST_LINES], f"… {left} lines …", *lines[-LAST_LINES:]]
        lines = [cut(line, LONGEST_TEXT_LINE) for line in lines]
    return "\n".join(f"> {without_markup(line)}".rstrip() for line in lines)
