from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keval.errors import InputError
from keval.execution.jobs import Backlog, jobs
from keval.ids import JsonObject
from keval.logs import history
from keval.logs.samples import NewestRecords
from tests.builders import judgment_event, response_event, retraction_event, sample_change_event, write_log
from tests.jobs import exact_judge

REPLICATES = 2
RESPONSES = [response_event(f"q{number}", text=text) for number in range(3) for text in ("one", "two")]


def ignored(_: str) -> None:
    pass


def made(response: JsonObject, replicate: int, judge_id: str, *, mock: bool = False) -> JsonObject:
    """Return a judgment of a response by the judge of these tests, or by another one."""
    judge = exact_judge(REPLICATES)
    judgment = judgment_event(response, replicate=replicate, judge_id=judge_id, mock=mock)
    if judge_id == judge.judge_id:
        (target,) = (job.judgment_id for job in jobs(response, [judge], set()) if job.replicate == replicate)
        judgment["id"] = target
    return judgment


def events(data: st.DataObject) -> list[JsonObject]:
    """Return a log in which anything may have happened to a few responses; what is judged is what they say then."""
    own = exact_judge(REPLICATES).judge_id
    found: list[JsonObject] = []
    newest: dict[str, JsonObject] = {}
    records: dict[str, JsonObject] = {}
    for _ in range(data.draw(st.integers(0, 12))):
        response = data.draw(st.sampled_from(RESPONSES))
        match data.draw(st.sampled_from(["response", "judgment", "retraction", "change"])):
            case "judgment" if response["id"] in newest:
                judge_id = data.draw(st.sampled_from([own, "another-judge"]))
                mock = data.draw(st.booleans())
                replicate = data.draw(st.integers(1, REPLICATES))
                as_judged = newest[response["id"]] | {"sample": records[response["sample"]["id"]]}
                found.append(made(as_judged, replicate, judge_id, mock=mock))
            case "retraction":
                found.append(retraction_event(data.draw(st.sampled_from(found or [response]))))
            case "change":
                field = data.draw(st.sampled_from(["answer", "note"]))
                records[response["sample"]["id"]] = {**response["sample"], field: "new"}
                found.append(sample_change_event(records[response["sample"]["id"]], field))
            case _:
                found.append(response)
                newest[response["id"]], records[response["sample"]["id"]] = response, response["sample"]
    return found


@given(data=st.data(), mock=st.booleans())
@settings(max_examples=60)
def test_a_backlog_is_what_reading_all_of_the_log_finds(data: st.DataObject, mock: bool) -> None:
    """Its count and its jobs are those of a plain look at the last line of each response."""
    judge = exact_judge(REPLICATES)
    written = events(data)
    with TemporaryDirectory() as folder:
        log = write_log(Path(folder) / "run.jsonl", written)
        past = history.of_log(log, ignored)
        records = NewestRecords(log, past)
        backlog = Backlog(records, past.responses, [judge], mock=mock)
        last = {each["id"]: each for each in written if each["id"] in past.responses}
        expected = [
            job.judgment_id
            for each in last.values()
            for job in jobs(records.put_into(each), [judge], past.judgments_done(mock=mock))
        ]
        assert sorted(job.judgment_id for job in backlog) == sorted(expected)
        assert backlog.planned.total() == len(expected)


def test_a_log_that_is_edited_while_it_is_read_is_told(tmp_path: Path) -> None:
    """Where a response began stands something else now: no other text is judged in its name."""
    log = write_log(tmp_path / "run.jsonl", RESPONSES[:1])
    past = history.of_log(log, ignored)
    backlog = Backlog(NewestRecords(log, past), past.responses, [exact_judge()], mock=False)
    log.write_bytes(b"x" + log.read_bytes())
    with pytest.raises(InputError, match="was changed while the log was read"):
        list(backlog)


def test_nothing_is_read_of_responses_that_are_judged(tmp_path: Path) -> None:
    """A second call knows from the ids alone that nothing is missing."""
    judge = exact_judge()
    response = RESPONSES[0]
    log = write_log(tmp_path / "run.jsonl", [response, made(response, 1, judge.judge_id)])
    past = history.of_log(log, ignored)
    backlog = Backlog(NewestRecords(log, past), past.responses, [judge], mock=False)
    log.unlink()
    found: list[Any] = list(backlog)
    assert (found, backlog.planned.total()) == ([], 0)
