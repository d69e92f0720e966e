"""Gives the newest record of a sample, one at a time: the samples of a log need not fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keval.documents import strict_json
from keval.errors import InputError
from keval.ids import JsonObject, sample_sha256
from keval.logs.history import History


def event_at(log: Path, offset: int) -> JsonObject:
    """Return the event in the line of a log that begins at a byte. Raises InputError if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(offset)
            found: JsonObject = strict_json.parse(file.readline())
    except (OSError, strict_json.NotJsonError, strict_json.NotStrictError) as error:
        raise InputError(f"{log}: the line at byte {offset} was changed while the log was read: {error}") from error
    return found


def record_at(log: Path, offset: int) -> JsonObject:
    """Return the sample in the line of a log that begins at a byte."""
    sample: JsonObject = event_at(log, offset)["sample"]
    return sample


@dataclass(frozen=True, slots=True)
class NewestRecords:
    """The newest record of each sample: that of the dataset, where it is at hand, else that of the log."""

    log: Path
    past: History
    dataset: Mapping[str, JsonObject] = field(default_factory=dict)
    """The samples of a run by the ids of their questions."""

    def put_into(self, response: JsonObject) -> JsonObject:
        """Return a response as it is judged: with the newest record of its sample, if that still asks the same."""
        sample = self.dataset.get(response["question_id"])
        if sample is not None:
            return response | {"sample": sample, "sample_sha256": sample_sha256(sample)}
        newest = self.past.records.get(response["question_id"])
        if newest is None or newest.offset is None or newest.sha256 == response["sample_sha256"]:
            return response
        return response | {"sample": record_at(self.log, newest.offset), "sample_sha256": newest.sha256}
