"""Says of a run that stops when decided why it ended, after how many samples, and what it did not ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from keval.reports.model import ReportWarning
from keval.stats.stopped_run import StoppedRun, stopped_run
from keval.stats.stopping_rule import NAME

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CODE = "stops_when_decided"


def stopping(connection: DuckDBPyConnection) -> Iterator[ReportWarning]:
    """Yield what is to be known before any number of a run that stops when decided; nothing of any other run."""
    found = stopped_run(connection)
    if found is not None:
        yield ReportWarning(CODE, " ".join(_sentences(found)))


def _sentences(found: StoppedRun) -> Iterator[str]:
    rule, samples = found.rule.rule, found.rule.samples
    undecided = [look.n for _, look in found.members() if not look.is_decided]
    terms = ", ".join(_terms(found))
    if not undecided and found.asked:
        n = max(look.n for look in found.looks.values())
        yield f"stopped after {n} of {samples} samples: decided ({terms})."
    elif undecided and min(undecided) < samples:
        after = f"{min(undecided)} of {samples} samples"
        yield f"not decided after {after} ({terms}); keval run CONFIG goes on."
    else:
        yield f"ran to the end under a rule to stop when decided ({terms})."
    if rule.target == "dataset":
        yield "The question is what all samples of this dataset would show, not what others would."
    others = "; no other number has an interval" if found.is_partial else ""
    yield f"Intervals and p of its comparisons hold however often was looked{others}."
    if found.asked:
        yield f"Not planned: {', '.join(_not_planned(found))}. A difference that stops a run tends to be overstated."


def _terms(found: StoppedRun) -> Iterator[str]:
    """Yield the terms of the rule, as a sentence names them."""
    rule, family = found.rule.rule, found.rule.family
    yield f"rule {NAME}, target {rule.target}, alpha {rule.alpha:g}"
    margins = sorted({member.margin for member in family if member.margin is not None})
    if margins:
        yield f"margin{'s' if len(margins) > 1 else ''} {' and '.join(f'{margin:g}' for margin in margins)}"
    yield f"family of {len(found.looks)}" if len(found.looks) > 1 else "one comparison"


def _not_planned(found: StoppedRun) -> Iterator[str]:
    names = {found.rule.baseline_id: found.rule.baseline}
    names |= {member.condition_id: member.condition for member in found.rule.family}
    for condition_id, name in names.items():
        if condition_id in found.asked:
            yield f"{found.rule.samples - found.asked[condition_id]} of {found.rule.samples} samples of {name}"
