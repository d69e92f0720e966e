"""Notes samples whose record in the dataset is no longer what the log has, so that judges get the newest.

A corrected golden answer or a new column asks the agent nothing again. What judges were given of it
before is outdated: `changed` says in which fields.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from keval.config.model import JudgeConfig
from keval.counted import counted, first_of
from keval.events import event
from keval.ids import JsonObject, changed_fields, digest, sample_sha256
from keval.logs.line_at import record_at
from keval.logs.past import Past
from keval.preparation.config_past import ConfigPast
from keval.preparation.tasks import question_id
from keval.projections.sql_file import load

Given = Mapping[str, Collection[str] | None]
"""By the name of a judge, which fields of a sample it is given, None for all."""


def told_of_samples(changes: Sequence[JsonObject], past: Past, judges: Sequence[JudgeConfig]) -> str | None:
    """Return which records of the dataset changed in what judges are given, None if none did.

    Edited questions are not among them: they are asked again, which is said elsewhere. `judges` are those of the
    config; others that were added to the log judge when they are told to.
    """
    edited = [change for change in changes if "question" not in change["changed"]]
    if not edited:
        return None
    fields = dict.fromkeys(field for change in edited for field in change["changed"])
    own = concerned({judge.name: judge.sample_fields for judge in judges}, fields)
    added = concerned(_given_to_added(past, {judge.judge_id for judge in judges}), fields)
    if not own and not added:
        return None
    named = first_of([str(change["sample"]["id"]) for change in edited])
    changed = f"{counted(len(edited), 'record')} of the dataset changed ({named}: {', '.join(fields)})"
    told = [f"{changed}, for which no answer is asked again"]
    if own:
        told.append(f"{_judge(own)} anew what has no judgment of it as it is now")
    if added:
        them = "it" if len(added) == 1 else "them"
        told.append(f"{_judge(added)} it only by keval judge LOG -j JUDGE.yaml, as the config does not name {them}")
    return "; ".join(told)


def _judge(names: Sequence[str]) -> str:
    return f"{', '.join(names)} judge{'s' * (len(names) == 1)}"


def concerned(given: Given, fields: Collection[str]) -> list[str]:
    """Return the judges that are given any of these fields."""
    return [name for name, taken in given.items() if taken is None or not set(fields).isdisjoint(taken)]


def _given_to_added(past: Past, own: Collection[str]) -> Given:
    if past.connection is None:  # a new log
        return {}
    found = past.rows(load("preparation", "added_judges"))
    return {name: None if is_given_all else fields for name, known, is_given_all, fields in found if known not in own}


def sample_changes(about: ConfigPast, run_id: str) -> Iterator[JsonObject]:
    """Yield an event for each sample of which the log has another record than the dataset."""
    for place, line in about.changed_samples:
        sample = about.prepared.samples[place]
        yield sample_change(sample, run_id, changed_fields(record_at(about.past.log, line), sample))


def sample_change(sample: JsonObject, run_id: str, changed: Sequence[str]) -> JsonObject:
    """Return the event that a sample has another record from here on, which differs in these fields."""
    sha256 = sample_sha256(sample)
    return event(
        "sample_change",
        digest("sample_change", sha256, run_id),
        run_id,
        sample=sample,
        sample_sha256=sha256,
        question_id=question_id(sample),
        changed=changed,
    )
