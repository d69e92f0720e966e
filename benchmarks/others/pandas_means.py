"""Prints the mean score of each condition and metric of log.jsonl, by pandas, so many lines at a time."""

import json

import pandas as pd

LINES = 20_000

parts = []
for lines in pd.read_json("log.jsonl", lines=True, chunksize=LINES, convert_dates=False):
    judged = lines[lines["type"] == "judgment"]
    for condition, scores in zip(judged["condition"], judged["scores"], strict=True):
        parts += [(condition, metric, result["score"]) for metric, result in scores.items()]
scores = pd.DataFrame(parts, columns=["condition", "metric", "score"])
for (condition, metric), mean in scores.groupby(["condition", "metric"])["score"].mean().items():
    print(json.dumps([condition, metric, mean]))
