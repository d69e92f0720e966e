"""Notes samples whose record in the dataset is no longer what the log has, so that judges get the newest.

A corrected golden answer or a new column asks the agent nothing again. What judges were given of it
before is outdated: `changed` says in which fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from keval.events import event
from keval.execution.tasks import question_id
from keval.ids import JsonObject, canonical, digest, sample_sha256
from keval.logs.history import History
from keval.logs.samples import record_at


def changed_fields(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return the names of the fields that differ between two records of a sample, in the order of the newer one."""
    names = dict.fromkeys([*now, *before])
    # As JSON: to Python true is 1, and 1.0 is 1.
    return [name for name in names if name not in before or name not in now or _differs(before[name], now[name])]


def _differs(one: object, other: object) -> bool:
    return canonical(one) != canonical(other)


def changed_samples(past: History, samples: Iterable[JsonObject]) -> Iterator[tuple[JsonObject, str]]:
    """Yield each sample, with its hash, of which the log has another record than the dataset."""
    for sample in samples:
        newest = past.records.get(question_id(sample))
        if newest is not None and newest.sha256 != (sha256 := sample_sha256(sample)):
            yield sample, sha256


def sample_changes(log: Path, past: History, samples: Iterable[JsonObject], run_id: str) -> Iterator[JsonObject]:
    """Yield an event for each sample of which the log has another record than the dataset."""
    for sample, sha256 in changed_samples(past, samples):
        record = past.records[question_id(sample)]
        if record.offset is None:
            continue  # this process has written it
        before = record_at(log, record.offset)
        yield event(
            "sample_change",
            digest("sample_change", sha256, run_id),
            run_id,
            sample=sample,
            sample_sha256=sha256,
            question_id=question_id(sample),
            changed=changed_fields(before, sample),
        )
