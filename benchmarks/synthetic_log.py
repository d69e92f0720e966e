"""Writes a log of a run with so many responses and judgments, as large and as varied as a real one, without the run.

    python -m benchmarks.synthetic_log RESPONSES FILE [FIRST_SAMPLE]

Two conditions, five repetitions, one judgment each, one metric from 1 to 5; a line has some 800 bytes. Every line is
encoded and validated as keval does it. Another first sample makes lines that come after those of an earlier call: the
log grows while its run goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from keval import ids
from keval.events import encode, event, new_run_id
from keval.ids import JsonObject
from keval.processes import environment

PROMPTS = {name: f"Answer as {name}." for name in ("baseline", "with_docs")}
CONDITIONS = {name: ids.condition_id(prompt, {}, {}, []) for name, prompt in PROMPTS.items()}
REPETITIONS = 5
METRIC = "quality"
AGENT = {"name": "echo", "type": "echo", "model": None}
JUDGE = {"name": "quality", "type": "rubric", "model": "none"}
AGENT_ID = ids.agent_id("echo", None, {})
JUDGE_ID = ids.judge_id("rubric", "none", {})
TEXT = "The value that was given last counts; this is answer "


def events(responses: int, first_sample: int = 0) -> Iterator[JsonObject]:
    """Yield so many responses, each followed by its judgment."""
    run_id = new_run_id()
    for index in range(responses):
        number, within = divmod(index, len(CONDITIONS) * REPETITIONS)
        condition = list(CONDITIONS)[within % len(CONDITIONS)]
        response = _response(_sample(first_sample + number), condition, 1 + within // len(CONDITIONS), run_id)
        yield response
        yield _judgment(response, score=1 + (number % 7 + within * 3) % (4 + within % 2))


def run(responses: int) -> JsonObject:
    """Return the event of a run that asks for so many responses."""
    samples = responses // (len(CONDITIONS) * REPETITIONS)
    gates = {"require_mcp_tool_use": False, "require_mcp_tool_success": False}
    conditions = {
        name: {
            "condition_id": CONDITIONS[name], "system_prompt": prompt, "mcp_servers": [], "gates": gates, "tools": [],
            "tasks": samples * REPETITIONS,
        }
        for name, prompt in PROMPTS.items()
    }  # fmt: skip
    metrics = [{"name": METRIC, "min": 1, "max": 5}]
    judge = {**JUDGE, "judge_id": JUDGE_ID, "replicates": 1, "parameters": {}, "texts": {}, "metrics": metrics}
    return event(
        "run", new_run_id(), new_run_id(),
        command="generate", config={"name": "synthetic"}, config_sha256="0" * 64, config_name="synthetic",
        dataset={"path": "questions.jsonl", "sha256": "0" * 64, "samples": samples},
        agent={**AGENT, "agent_id": AGENT_ID, "options": {}, "files": []}, conditions=conditions, judges=[judge],
        mcp_servers={}, seed=0, repetitions=REPETITIONS, plan_id=None, environment=environment.fingerprint(Path()),
        mock=False,
    )  # fmt: skip


def _sample(number: int) -> JsonObject:
    question = f"What does option {number} of the server do when it is given twice?"
    return {"id": f"s{number}", "question": question, "answer": "The last one counts.", "category": f"c{number % 7}"}


def _response(sample: JsonObject, condition: str, repetition: int, run_id: str) -> JsonObject:
    question = ids.question_id(sample["id"], [sample["question"]])
    text = f"{TEXT}{sample['id']}.{repetition}."
    return event(
        "response", ids.response_id(question, CONDITIONS[condition], AGENT_ID, repetition), run_id,
        sample=sample, sample_sha256=ids.sample_sha256(sample), question_id=question, condition=condition,
        condition_id=CONDITIONS[condition], repetition=repetition, agent=AGENT, agent_id=AGENT_ID, status="answered",
        text=text, turns=[{"type": "text", "text": text}], mcp={}, usage=None, sources=[], cost_usd=0.001,
        duration_ms=1200, num_turns=1, models=[], attempts=1, failed_attempts=[], mock=False,
    )  # fmt: skip


def _judgment(response: JsonObject, score: int) -> JsonObject:
    sample, text = response["sample"], response["text"]
    given = ids.given_sha256(sample, ["answer"])
    result = {"score": score, "reasoning": "As the golden answer says.", "min": 1, "max": 5, "passed": None}
    return event(
        "judgment", ids.judgment_id(response["id"], text, given, JUDGE_ID, 1), response["run_id"],
        response_id=response["id"], sample_id=sample["id"], condition=response["condition"],
        condition_id=response["condition_id"], repetition=response["repetition"], agent_id=AGENT_ID, judge=JUDGE,
        judge_id=JUDGE_ID, replicate=1, sample_fields=["answer"], sample_sha256=response["sample_sha256"],
        answer_sha256=ids.answer_sha256(text), scores={METRIC: result}, unverified_claims=[], outcome=None, usage=None,
        cost_usd=0.0005, duration_ms=800, attempts=1, failed_attempts=[], mock=False,
    )  # fmt: skip


def main() -> None:
    """Write the log that the arguments ask for."""
    responses, first_sample = int(sys.argv[1]), int((sys.argv[3:] or ["0"])[0])
    with Path(sys.argv[2]).open("wb") as log:
        if not first_sample:
            log.write(encode(run(responses)))
        log.writelines(encode(each) for each in events(responses, first_sample))


if __name__ == "__main__":
    main()
