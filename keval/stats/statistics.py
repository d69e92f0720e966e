"""Brings all statistics together: those of a condition and its samples, and those of a comparison.

Schemas, `aggregate` and `comparison` events, CSV columns, rows of reports and docs/statistics.md follow from these
tables. A new statistic is one row in `condition_statistics.py` or `paired_statistics.py` with `required=False`, its SQL
column or Python function with a test, and `make docs`.
"""

from __future__ import annotations

from keval.stats.condition_statistics import AGGREGATE
from keval.stats.paired_statistics import PAIRED
from keval.stats.statistic import VIEWS, Statistic

__all__ = ["AGGREGATE", "PAIRED", "VIEWS", "Statistic"]
