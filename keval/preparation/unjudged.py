"""What the judges still have to do in a log, and what is done: the views decide it, as for every report."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from keval.config.model import JudgeConfig
from keval.ids import HEX_DIGITS, JsonObject
from keval.logs.past import Past
from keval.preparation.pairs import Conditions, pairing
from keval.projections.sql_file import literal, load


class Missing(NamedTuple):
    """A judgment that is missing; lines of the log are named by the byte at which they begin."""

    response_line: int
    record_line: int
    """Of the newest record of the response's sample."""
    judge: int
    """The judge's place among the judges, from 0."""
    replicate: int
    other_line: int
    """Of the other response of a pair; -1 if there is none."""
    question_id: str = ""
    """Of the response."""


class Unjudged:
    """The judgments of some judges in a log: to a real run those of the mock are none.

    `changing` are the `sample_change` events that the command is about to write, `configs` the conditions among which
    judges of pairs compare.
    """

    def __init__(
        self,
        past: Past,
        judges: Sequence[JudgeConfig],
        *,
        mock: bool,
        changing: Sequence[JsonObject] = (),
        configs: Sequence[Conditions] = (),
    ) -> None:
        self._past = past
        self._there = load("preparation", "judgments_there", mock=str(mock))
        self._mock = mock
        self._units = {judge.judge.unit for judge in judges}
        past.table(
            "judging",
            judge_id=("varchar", [judge.judge_id for judge in judges]),
            replicates=("bigint", [judge.replicates for judge in judges]),
            below=("varchar", [judge.sampling.below for judge in judges]),
            seed=("bigint", [judge.sampling.seed for judge in judges]),
            of_pairs=("boolean", [judge.judge.unit == "pair" for judge in judges]),
        )
        pairs = [(place, *pair) for place, judge in enumerate(judges) for pair in sorted(pairing(judge, configs))]
        past.table(
            "pairing",
            judge=("bigint", [judge for judge, _, _ in pairs]),
            condition_id=("varchar", [condition for _, condition, _ in pairs]),
            baseline_id=("varchar", [baseline for _, _, baseline in pairs]),
        )
        past.table(
            "sample_changing",
            question_id=("varchar", [change["question_id"] for change in changing]),
            sample_sha256=("varchar", [change["sample_sha256"] for change in changing]),
            changed=("varchar[]", [change["changed"] for change in changing]),
        )
        if changing:  # to look for changes where there is none takes as long as to look for some
            changes = load("preparation", "changing_judgments")
            self._there = load("preparation", "judgments_after_changes", judgments=self._there, changing=changes)

    def missing(self, responses: str, counts: str = "current") -> Iterator[Missing]:
        """Yield the judgments that are missing of responses, which a query names by their positions.

        `counts` is true in SQL of the responses with which judges of pairs compare.
        """
        parts = [] if self._past.connection is None else list(self._parts(responses, counts))
        sql = "\nunion all\n".join(f"from ({part})" for part in parts)
        found: Iterator[Missing] = iter(())
        if parts and self._past.keep("missing_judgments", sql):
            found = map(Missing._make, self._past.rows(load("preparation", "missing_lines")))
        return found

    def _parts(self, responses: str, counts: str) -> Iterator[str]:
        """Yield the queries for the judgments that are missing; none where it is known that there are none."""
        if "response" in self._units:
            lines = sum(number for (number,) in self._past.rows("select max(position) from events"))
            given = {"responses": responses, "judgments": self._there, "lines": str(lines)}
            if self._past.keep("unjudged_responses", load("preparation", "unjudged_responses", **given)):
                yield load("preparation", "missing_judgments")
        if "pair" in self._units:
            given = {"responses": responses, "judgments": self._there, "counts": counts, "mock": str(self._mock)}
            yield load("preparation", "missing_pairs", **given)

    def known(self, agent_id: str, *, fresh: bool) -> KnownIds:
        """Return the judgments that need not be made again should the answers come back that are asked for again.

        Of the config that the past was last asked about (`ConfigPast`), and its agent. `fresh`: all are asked again.
        """
        agent = literal(agent_id)
        sql = load("preparation", "known_judgments", judgments=self._there, agent_id=agent, fresh=str(fresh))
        return KnownIds(target for (target,) in self._past.rows(sql))


class KnownIds:
    """Ids, each as the bytes of its hex digits and nothing more: a million fit into 24 MB."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        """Keep ids, which come in order; what is no id that we make is left out."""
        self._digits = b"".join(target.encode() for target in ids if len(target.encode()) == HEX_DIGITS)
        self._places = range(len(self._digits) // HEX_DIGITS)

    def __contains__(self, target: object) -> bool:
        found = bisect_left(self._places, str(target).encode(), key=self._at)
        return found < len(self._places) and self._at(found) == str(target).encode()

    def _at(self, place: int) -> bytes:
        return self._digits[place * HEX_DIGITS : (place + 1) * HEX_DIGITS]
