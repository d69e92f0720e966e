"""Says in words what a transcript holds, in the order in which a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from keval.ids import JsonObject
from keval.projections.tool_use import tool_use
from keval.questions import as_text
from keval.readable import count, dollars, duration
from keval.tool_names import tool_part
from keval.transcripts.transcript import Transcript

UNKNOWN = "(the log does not say it)"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of our own words, and a text that may come from anywhere."""

    title: str
    text: str


def title(transcript: Transcript) -> str:
    """Return which task it is."""
    outcome = transcript.outcome
    return f"{transcript.sample_id} · {transcript.condition} · repetition {outcome['repetition']}"


def about(transcript: Transcript) -> str:
    """Return what became of the task, in one line: its id is what `keval retract` takes."""
    event = transcript.outcome
    if transcript.response is None:
        said = f"failed: {event['kind']}" if transcript.failure else "its answer is not in the log"
        shown = event["id"] if transcript.failure else event["response_id"]
        parts = [said, shown, event["time"]]
    else:
        agent = event["agent"]
        model = f", model {agent['model']}" if agent["model"] else ""
        parts = [event["status"], event["id"], f"{agent['name']}{model}", event["time"]]
    return " · ".join([*parts, *(["MOCK"] if event.get("mock") else [])])


def sections(transcript: Transcript) -> Iterator[Section]:
    """Yield question, golden answer, steps, answer or failure, scores with reasons, labels, and what it cost."""
    yield from question(transcript)
    yield from steps(transcript)
    yield from result(transcript)


def question(transcript: Transcript) -> Iterator[Section]:
    """Yield what was asked, and the golden answer if the sample has one."""
    sample = transcript.sample
    yield Section("Question", UNKNOWN if sample is None else as_text(sample["question"]))
    if sample is None or sample["answer"] is not None:
        yield Section("Golden answer", UNKNOWN if sample is None else sample["answer"])


def steps(transcript: Transcript) -> Iterator[Section]:
    """Yield what the agent did before it answered."""
    sample, outcome = transcript.sample, transcript.outcome
    yield from _steps(outcome.get("turns") or (), outcome.get("text"), None if sample is None else sample["answer"])


def result(transcript: Transcript) -> Iterator[Section]:
    """Yield answer or failure, attempts that failed before, scores with reasons, labels, and what it cost."""
    outcome = transcript.outcome
    if transcript.response is not None:
        yield Section("Answer", outcome["text"] or "(empty)")
    if transcript.failure is not None:
        yield Section("Failure", f"{outcome['kind']}: {outcome['message']}")
    attempts = [
        _attempt(number, attempt) for number, attempt in enumerate(outcome.get("failed_attempts") or (), start=1)
    ]
    if attempts:
        yield Section("Attempts that failed before", "\n".join(attempts))
    yield Section("Scores", "\n".join(_scores(transcript)) or "(not judged)")
    if transcript.labels:
        yield Section("Labels", "\n".join(map(_label, transcript.labels)))
    yield Section("Cost", " · ".join(_cost(transcript)))


def _steps(turns: Sequence[JsonObject], answer: str | None, golden: str | None) -> Iterator[Section]:
    """Yield each step before the answer; the text that is the answer is not said twice."""
    if turns and turns[-1]["type"] == "text" and turns[-1]["text"] == answer:
        turns = turns[:-1]
    for number, turn in enumerate(turns, start=1):
        if turn["type"] == "text":
            yield Section(f"Step {number}: text", turn["text"])
        else:
            yield Section(f"Step {number}: tool call", _call(turn, golden))


def _call(call: JsonObject, golden: str | None) -> str:
    server, result = call["server"], call["result"]
    name = call["name"] if server is None else f"{server} · {call['name'].removeprefix(f'mcp__{tool_part(server)}__')}"
    given = "" if call["input"] is None else f" {orjson.dumps(call['input']).decode()}"
    size = "no result" if result is None else _size(len(result.encode("utf-8", "surrogatepass")))
    took = "" if call["duration_ms"] is None else f", {duration(call['duration_ms'])}"
    failed = "failed, " if call["error"] else ""
    leaks = ", holds the golden answer" if tool_use([call], golden)["found"] else ""
    return f"{name}{given}\n→ {failed}{size}{took}{leaks}" + ("" if result is None else f"\n{result}")


def _size(size: int) -> str:
    for unit, limit in (("MB", 1_000_000), ("KB", 1_000)):
        if size >= limit:
            return f"{size / limit:.1f} {unit}"
    return f"{size} bytes"


def _attempt(number: int, attempt: JsonObject) -> str:
    return f"{number}. {attempt['kind']}: {attempt['message']} ({dollars(attempt['cost_usd'])})"


def _scores(transcript: Transcript) -> Iterator[str]:
    for judgment in transcript.judgments:
        judge, several = judgment["judge"]["name"], judgment["replicate"] > 1 or _repeats(transcript, judgment)
        by = f"{judge}, replicate {judgment['replicate']}" if several else judge
        for metric, given in judgment["scores"].items():
            yield f"{by}: {metric} {_score(given, transcript.passed(judgment, metric))}"
        for claim in judgment["unverified_claims"] or ():
            if claim.strip(" \t\r\n"):  # as in keval/projections/lines.sql
                yield f"{by}: unverified claim: {claim}"
    for failure in transcript.judge_failures:
        yield f"{failure['judge']['name']}: not judged: {failure['kind']}: {failure['message']}"


def _repeats(transcript: Transcript, judgment: JsonObject) -> bool:
    return [other["judge_id"] for other in transcript.judgments].count(judgment["judge_id"]) > 1


def _score(given: JsonObject, passed: bool | None) -> str:
    if given["score"] is None:
        return f"not applicable: {given.get('not_applicable') or 'no reason given'}"
    verdict = {True: ", passed", False: ", FAILED", None: ""}[passed]
    scale = f" ({given['min']:g} to {given['max']:g}{verdict})"
    reasoning = given.get("reasoning")
    return f"{given['score']:g}{scale}" + (f": {reasoning}" if reasoning else "")


def _label(label: JsonObject) -> str:
    scores = ", ".join(f"{name} {score:g}" for name, score in (label.get("scores") or {}).items())
    said = ", ".join(filter(None, [label.get("metric"), label.get("verdict"), scores]))
    return f"{label['labeler']}: {said}" + (f": {label['note']}" if label.get("note") else "")


def _cost(transcript: Transcript) -> Iterator[str]:
    outcome = transcript.outcome
    own = outcome is not transcript.judgments[0] if transcript.judgments else True
    if own:
        yield _paid("agent", [outcome.get("cost_usd")])
    judged = [judgment["cost_usd"] for judgment in (*transcript.judgments, *transcript.judge_failures)]
    if judged:
        yield _paid("judges", judged)
    if not own:
        return
    yield duration(outcome.get("duration_ms"))
    usage = outcome.get("usage")
    if usage:
        yield f"{count(usage['input_tokens'])} input and {count(usage['output_tokens'])} output tokens"
    yield f"{outcome['attempts']} attempt{'' if outcome['attempts'] == 1 else 's'}"


def _paid(who: str, costs: Sequence[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    if not known:
        return f"{who} cost unknown"
    return f"{who} {'≥ ' if len(known) < len(costs) else ''}{dollars(sum(known))}"
