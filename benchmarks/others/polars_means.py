"""Prints the mean score of each condition and metric of log.jsonl, by polars, reading lazily.

Polars has no type for an object with any keys, so the metric has to be named.
"""

import json

import polars as pl

METRIC = "quality"
SCHEMA = {
    "type": pl.String,
    "condition": pl.String,
    "scores": pl.Struct({METRIC: pl.Struct({"score": pl.Float64})}),
}

score = pl.col("scores").struct.field(METRIC).struct.field("score")
means = (
    pl.scan_ndjson("log.jsonl", schema=SCHEMA)
    .filter(pl.col("type") == "judgment")
    .group_by("condition")
    .agg(score.mean().alias("mean"))
    .collect(engine="streaming")
)
for condition, mean in means.rows():
    print(json.dumps([condition, METRIC, mean]))
