"""What commands ask for is what their queries read."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest

from keval.commands import caveats
from keval.compare import compared_logs
from keval.labels import labels
from keval.planning import pilots, planned_stops
from keval.projections.views import named_in, needed_for
from keval.reports import agreement, judge_diagnostics, mixed_answers, references, trials, verdicts
from keval.stats import stopped_run
from keval.transcripts.selection import Selection

PACKAGE = Path(caveats.__file__).parent.parent

ASKED: dict[str, tuple[str, Collection[str]]] = {
    "show": ("transcripts/*.sql", [*Selection(regressed=True, worst=1).read]),
    "labels": ("labels/*.sql", labels.READ),
    "verdicts": ("projections/verdicts.sql", verdicts.READ),
    "trials": ("reports/*trial*.sql", trials.READ),
    "references": ("reports/references.sql", references.READ),
    "compare": ("compare/*.sql", compared_logs.READ),
    "agreement, rated by judges and people": ("reports/rated_*.sql", agreement.READ),
    "agreement, people's scores": ("reports/people_scores.sql", agreement.READ),
    "agreement, of all answers": ("reports/agreement_ratings.sql", agreement.READ),
    "agreement, of replicates": ("reports/judge_variations.sql", agreement.READ),
    "agreement, diagnosed by length": ("reports/answer_lengths.sql", judge_diagnostics.READ),
    "agreement, diagnosed by order": ("reports/pair_orders.sql", judge_diagnostics.READ),
    "agreement, diagnosed by model": ("reports/own_model.sql", judge_diagnostics.READ),
    "agreement, diagnosed by time": ("reports/score_times.sql", judge_diagnostics.READ),
    "agreement, diagnosed by scale": ("reports/ceiling_scores.sql", judge_diagnostics.READ),
    "which agent answered": ("reports/mixed_answers.sql", mixed_answers.READ),
    "stopped runs": ("projections/stopping_rule.sql", stopped_run.READ),
    "finished samples": ("projections/finished_samples.sql", stopped_run.READ),
    "what a plan takes": ("planning/pilot.sql", pilots.READ),
    "what a plan costs": ("planning/prices_paid.sql", pilots.READ),
    "whether a plan stops": ("planning/pilot_differences.sql", planned_stops.READ),
    "what a config declares": ("projections/declared_comparison.sql", pilots.READ),
    "warnings of a mock": ("reports/mocked.sql", caveats.READ_FOR_MOCK),
    "warnings of several evaluations": ("reports/evaluation_names.sql", caveats.READ_FOR_SEVERAL),
}
"""The files with queries, and the tables and views that are asked for them."""


@pytest.mark.parametrize(("files", "asked"), ASKED.values(), ids=ASKED)
def test_what_queries_read_is_asked_for(files: str, asked: Collection[str]) -> None:
    """All tables and views that the SQL files of a command name are made when it asks."""
    read = _read_by(files)
    assert read
    assert read <= needed_for(asked)


def _read_by(files: str) -> set[str]:
    """Return the tables and views that the SQL files name which such a path means."""
    queries = [path.read_text(encoding="utf-8") for path in PACKAGE.glob(files)]
    return set().union(*(named_in(re.sub(r"\blog_\$\w+\.", "", query)) for query in queries))
