-- One row per condition and agent: durations, costs and tokens of its answers.
from answer_statistics
