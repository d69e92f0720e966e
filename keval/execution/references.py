"""Judges a dataset's references as if the agent had said them: before a cent goes to the agent.

They stand in a log of their own, as the answers of an agent called `reference` under one condition. So they are judged,
paid and resumed like any answer, and a judgment of a reference that did not change is never paid twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from keval import schema
from keval.agents.echo import Echo
from keval.config.model import AgentConfig, Condition, Config, Gates
from keval.errors import InputError, UsageError, Warn
from keval.events import event, new_run_id
from keval.execution.appending import append_all
from keval.execution.judge_session import JudgeWork, judge_log
from keval.ids import JsonObject, answer_sha256, response_id, sample_sha256
from keval.logs.past import Past, of_log
from keval.preparation.config_past import ConfigPast
from keval.preparation.prepared import Prepared, prepare
from keval.preparation.request import Request
from keval.preparation.run_events import is_recorded, plan_records, run_event
from keval.preparation.tasks import question_id

CONDITION = Condition("reference", "", {}, Gates(), ())
AGENT = AgentConfig("reference", "reference", Echo(), {})


def references_log(config: Config, *, mock: bool) -> Path:
    """Return the log of a config's references, where no other is named."""
    return Path(f"{config.name}.refs.mock.jsonl" if mock else f"{config.name}.refs.jsonl")


def judge_references(config: Config, log: Path, request: Request, warn: Warn) -> None:
    """Let a config's judges judge each sample's `reference`, else its golden answer; only what is missing is done.

    Raises InputError for a reference that is no text, and UsageError if there is none to judge or nobody to do it.
    """
    schema.load_events()
    judges = tuple(judge for judge in config.judges if judge.judge.unit == "response")
    if not judges:
        raise UsageError(f"{config.path}: no judge of single responses; references cannot be compared with each other")
    execution = replace(config.execution, repetitions=1)
    ungated = {key: value for key, value in config.as_written.items() if key != "gate"}  # it is about other conditions
    own = replace(
        config,
        agent=AGENT,
        conditions=(CONDITION,),
        judges=judges,
        mcp_servers={},
        execution=execution,
        as_written=ungated,
    )
    prepared = _with_references(prepare(own, request.mock_url, request.limit, log, warn=warn), warn)
    # Lines that are left out are named by the judges' reading of the same log.
    with of_log(log, lambda _: None, skip_invalid=request.skip_invalid) as past:
        events = list(_events(prepared, past))
    if events:
        append_all(log, ("generate",), None, events, warn, *prepared.inputs)
    work = JudgeWork(given=judges, request=request, environ=config.environ, secrets=config.secrets, warn=warn)
    judge_log(log, work)


def reference(sample: JsonObject) -> str | None:
    """Return what a sample says would be a right answer; None if it does not say."""
    found: str | None = sample["reference"] if sample.get("reference") is not None else sample["answer"]
    return found


def _with_references(prepared: Prepared, warn: Warn) -> Prepared:
    """Return only the samples with a reference."""
    wrong = [sample["id"] for sample in prepared.samples if not isinstance(reference(sample), str | None)]
    if wrong:
        raise InputError(
            *(f"{prepared.config.path}: sample {name!r}: its reference must be a string" for name in wrong)
        )
    samples = tuple(sample for sample in prepared.samples if (reference(sample) or "").strip())
    if not samples:
        raise UsageError(f"{prepared.config.path}: no sample has a `reference` or an answer to be judged")
    without = len(prepared.samples) - len(samples)
    if without:
        warn(f"left out, for neither a reference nor an answer: {without} of {len(prepared.samples)} samples")
    return replace(prepared, samples=samples)


def _events(prepared: Prepared, past: Past) -> Iterator[JsonObject]:
    """Yield what the log lacks: a run with its plan, and each reference that is new or was changed.

    The run is also due alone: without it a report would count the references of the newest run before.
    """
    there, run_id = _there(past, mock=prepared.mock), new_run_id()
    responses = (_response(prepared, sample, run_id) for sample in prepared.samples)
    new = [made for made in responses if there.get(made["id"]) != (made["sample_sha256"], answer_sha256(made["text"]))]
    if not new and is_recorded(ConfigPast.about(past, prepared)):
        return
    yield run_event(prepared, "validate-refs", run_id)
    yield from plan_records(prepared, past, run_id)
    yield from new


def _there(past: Past, *, mock: bool) -> dict[str, tuple[str, str]]:
    """Return the hashes of the sample and the text of each reference that a log holds, by the response's id.

    To a real run those of a mock run are none.
    """
    rows = past.rows("select id, mock, sample_sha256, answer_sha256 from facts where type = 'response'")
    return {target: (sample, answer) for target, is_mock, sample, answer in rows if mock or not is_mock}


def _response(prepared: Prepared, sample: JsonObject, run_id: str) -> JsonObject:
    """Return the event of a reference that stands for an answer."""
    asked, text = question_id(sample), str(reference(sample))
    agent_id, condition_id = AGENT.agent_id, CONDITION.condition_id
    return event(
        "response",
        response_id(asked, condition_id, agent_id, 1),
        run_id,
        sample=sample,
        sample_sha256=sample_sha256(sample),
        question_id=asked,
        condition=CONDITION.name,
        condition_id=condition_id,
        repetition=1,
        agent={"name": AGENT.name, "type": AGENT.type, "model": None},
        agent_id=agent_id,
        status="answered",
        text=text,
        turns=[{"type": "text", "text": text}],
        mcp={},
        sources=[],
        usage=None,
        cost_usd=0.0,
        duration_ms=None,
        num_turns=1,
        attempts=1,
        failed_attempts=[],
        mock=prepared.mock,
    )
