"""Prints the mean score of each condition and metric of log.jsonl, by one DuckDB query over the lines."""

import json

import duckdb

MEANS = """
    SELECT condition, metric, avg(result.score) AS mean
    FROM (
        SELECT condition, unnest(map_keys(scores)) AS metric, unnest(map_values(scores)) AS result
        FROM read_json('log.jsonl', format = 'newline_delimited', maximum_object_size = 1_000_000,
            columns = {type: 'VARCHAR', condition: 'VARCHAR', scores: 'MAP(VARCHAR, STRUCT(score DOUBLE))'})
        WHERE type = 'judgment'
    )
    GROUP BY ALL
"""

for condition, metric, mean in duckdb.execute(MEANS).fetchall():
    print(json.dumps([condition, metric, mean]))
