"""What the numbers of a log say: aggregates of its projections, with their uncertainty.

SQL computes sums, means and variances (`keval/projections`); what needs a distribution is computed here.
The sample is the unit: statistics are over samples' means, never over judgments.
"""
