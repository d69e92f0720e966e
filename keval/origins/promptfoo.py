"""Results of promptfoo, as `promptfoo eval -o results.json` or `.jsonl` writes them.

A condition is the provider, and the prompt where there are several. A repeated test is a repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from keval.errors import InputError
from keval.ids import JsonObject, digest
from keval.origins import (
    NUMBER,
    OBJECT,
    OBJECTS,
    GoldenAnswers,
    Origin,
    Results,
    as_score,
    check,
    failure,
    named_scores,
    refuse_unfit,
    shape,
    without_scale,
)
from keval.origins._files import document_of, parsed, row_in

ERROR = 2
"""`failureReason` of a row for which there is no answer; of 1 the answer is there, and an assertion failed."""

ROW = shape(
    response={"type": ["object", "null"], "properties": {"tokenUsage": OBJECT}}, vars=OBJECT, tokenUsage=OBJECT,
    gradingResult=OBJECT, namedScores=OBJECT, cost=NUMBER, latencyMs=NUMBER, promptIdx={"type": ["integer", "null"]},
    prompt=OBJECT, provider={"type": ["object", "string", "null"]},
    testCase={"type": ["object", "null"], "properties": {"assert": OBJECTS}},
)  # fmt: skip
"""What is read of a row."""

QUESTIONS = ("question", "query", "input", "prompt", "message", "text")
"""Variables that are what is asked, the first that there is; else all of them are."""

EXPECTED = ("equals", "iequals", "contains", "icontains", "similar", "factuality", "levenshtein", "rouge-n", "bleu")
"""Assertions whose value is a golden answer."""

OWN = ("pass", "score")
"""The scores that promptfoo itself gives each row."""

NAMED = "named "
"""What stands before the name of a score that is called like one of these, or like one that is renamed so."""

REASON = "reason"
"""The field of a record that says why."""

LONGEST_LABEL = 60


@dataclass(frozen=True, kw_only=True)
class Promptfoo(Origin):
    """Reads results of promptfoo: answers, whether assertions passed, scores, cost and time."""

    def fits(self, head: bytes) -> bool:
        """Return whether it is an object with an evalId and results, or a row with what only promptfoo writes."""
        whole = rb'\A\s*\{\s*("evalId"\s*:|"results"\s*:\s*\{\s*"(version|timestamp|prompts|stats)"\s*:)'
        row = rb'\A\s*\{.*"(namedScores|gradingResult)"\s*:.*"(promptIdx|latencyMs)"\s*:'
        return re.match(whole, head) is not None or re.match(row, head.replace(b"\n", b" ")) is not None

    def read(self, path: Path) -> Results:
        """Read a file of either kind; all of it is in memory."""
        document, rows = _read(path)
        answered = [row for row in rows if _has_answer(row)]
        metrics, unscaled = named_scores(map(_scores, answered))
        golden = GoldenAnswers()
        for row in answered:
            golden.take(_golden(row))
        name_of = _condition_names(rows)
        time = (document.get("results") or {}).get("timestamp") if isinstance(document.get("results"), dict) else None
        has_golden = bool(answered) and golden.are_taken

        def records() -> Iterator[JsonObject]:
            for row in rows:
                yield _record(row, name_of(row), metrics, time, has_golden=has_golden)

        config = document.get("config")
        described = config.get("description") if isinstance(config, dict) else None
        name = described if isinstance(described, str) and described else path.name.partition(".")[0]
        return Results(
            name, records, "promptfoo", metrics, reasons={name: REASON for name in OWN if name in metrics},
            has_golden_answers=has_golden, left_out=[*golden.left_out(), *without_scale(unscaled)],
        )  # fmt: skip


def _read(path: Path) -> tuple[JsonObject, list[JsonObject]]:
    """Return the document and its rows; of JSON lines an empty document."""
    content = document_of(path)
    try:
        document = parsed(content)
    except orjson.JSONDecodeError:
        return {}, _lines(content)
    found = document.get("results") if isinstance(document, dict) else None
    rows = found.get("results") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        if isinstance(document, dict) and "testIdx" in document:
            return {}, [_held(check(ROW, document, "the row"), "the row")]
        raise InputError("no rows of promptfoo: an object with results.results, or a row in each line, is expected")
    places = ((f"results.results[{place}]", row) for place, row in enumerate(rows))
    return document, [_held(check(ROW, row, where), where) for where, row in places]


def _lines(content: bytes) -> list[JsonObject]:
    numbered = enumerate(content.split(b"\n"), start=1)
    return [_held(row_in(line, number, ROW), f"line {number}") for number, line in numbered if line.strip()]


def _held(row: JsonObject, where: str) -> JsonObject:
    """Return a row of which an event can hold what becomes text or part of an id. Raises InputError."""
    output = (row.get("response") or {}).get("output")
    refuse_unfit({"vars": row.get("vars"), "output": output, "testCase": row.get("testCase")}, where)
    return row


def _has_answer(row: JsonObject) -> bool:
    return row.get("failureReason") != ERROR and (row.get("response") or {}).get("output") is not None


def _scores(row: JsonObject) -> JsonObject:
    own = dict(zip(OWN, (row.get("success"), row.get("score")), strict=True))
    named = (row.get("namedScores") or {}).items()
    return own | {NAMED + name if name.replace(NAMED, "") in own else name: score for name, score in named}


def _condition_names(rows: Sequence[JsonObject]) -> Callable[[JsonObject], str]:
    """Return what names the condition of a row: the provider, and the prompt where there are several.

    The provider always: another file of the same prompts may be another one's.

    promptfoo numbers its columns in `promptIdx`, of which each is one provider with one prompt. Columns that nothing
    else tells apart, as of one provider with two configs, have their number in the name.
    """
    in_order = sorted(rows, key=_column)
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(map(_prompt, in_order)), start=1)}

    def name(row: JsonObject) -> str:
        prompt = _prompt(row)
        said = prompt if len(prompt) <= LONGEST_LABEL and "\n" not in prompt else f"prompt {numbers[prompt]}"
        return ", ".join([_provider(row), *([said] if len(numbers) > 1 else [])])

    columns: dict[str, set[int]] = {}
    for row in rows:
        columns.setdefault(name(row), set()).add(_column(row))

    def unlike(row: JsonObject) -> str:
        found = name(row)
        return f"{found}, column {_column(row) + 1}" if len(columns[found]) > 1 else found

    return unlike


def _column(row: JsonObject) -> int:
    return int(row.get("promptIdx") or 0)


def _provider(row: JsonObject) -> str:
    provider = row.get("provider") or {}
    if isinstance(provider, str):
        return provider
    return str(provider.get("label") or provider.get("id") or "provider")


def _prompt(row: JsonObject) -> str:
    """Return what a prompt is known by: its label, which is its text with the variables' names if it has no other."""
    return str((row.get("prompt") or {}).get("label") or "") or f"prompt {_column(row) + 1}"


def _record(
    row: JsonObject, condition: str, metrics: Mapping[str, str], time: str | None, *, has_golden: bool
) -> JsonObject:
    response, scores = row.get("response") or {}, _scores(row)
    output, usage = response.get("output"), row.get("tokenUsage") or response.get("tokenUsage") or {}
    cost, latency, reason = row.get("cost"), row.get("latencyMs"), (row.get("gradingResult") or {}).get("reason")
    variables, test = row.get("vars") or {}, row.get("testCase") or {}
    return {
        # Two tests may ask the same and look for something else.
        "id": digest("promptfoo", variables, test.get("description"), test.get("assert")),
        "question": _question(variables, row),
        **({"answer": _golden(row)} if has_golden else {}),
        # What answers is a service, and of what failed nobody knows whether the answer would have been bad.
        "failure": None
        if _has_answer(row)
        else failure("infra_error", row.get("error") or response.get("error"), "the provider gave no answer"),
        "text": output if isinstance(output, str) else "" if output is None else orjson.dumps(output).decode(),
        "condition": condition,
        "time": time,
        "input_tokens": usage.get("prompt") or None,
        "output_tokens": usage.get("completion") or None,
        "cost_usd": cost or None,  # 0 where promptfoo knows no price
        "duration_ms": round(latency) if isinstance(latency, int | float) else None,
        REASON: reason if isinstance(reason, str) else None,
        **{place: as_score(scores.get(name)) for name, place in metrics.items()},
    }


def _question(variables: Mapping[str, Any], row: JsonObject) -> str:
    for name in QUESTIONS:
        if isinstance(variables.get(name), str) and variables[name].strip():
            return str(variables[name])
    if variables:
        return "\n".join(f"{name}: {_text(value)}" for name, value in variables.items())
    return str((row.get("prompt") or {}).get("raw") or "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _golden(row: JsonObject) -> str | None:
    """Return what an answer should be by the first assertion that says it, or by a variable called so."""
    for assertion in (row.get("testCase") or {}).get("assert") or []:
        value = assertion.get("value") if isinstance(assertion, dict) else None
        if isinstance(value, str) and value.strip() and assertion.get("type") in EXPECTED:
            return value
    variables = row.get("vars") or {}
    found = (variables.get(name) for name in ("answer", "expected", "golden_answer", "reference", "target"))
    return next((value for value in found if isinstance(value, str) and value.strip()), None)
