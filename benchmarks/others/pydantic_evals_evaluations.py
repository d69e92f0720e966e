"""Evaluates the questions of questions.jsonl with pydantic-evals and a function that repeats the question.

Prints how many were done and how many passed, as JSON. Nothing is kept.
"""

import json
from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected


def case(record: dict[str, str]) -> Case:
    """Return a line of the questions as a case."""
    return Case(name=record["id"], inputs=record["question"], expected_output=record["answer"])


async def repeated(question: str) -> str:
    """Answer with the question."""
    return question


records = map(json.loads, Path("questions.jsonl").read_text().splitlines())
dataset = Dataset(name="questions", cases=[case(record) for record in records], evaluators=[EqualsExpected()])
report = dataset.evaluate_sync(repeated, max_concurrency=8, progress=False)
passed = sum(case.assertions["EqualsExpected"].value for case in report.cases)
print(json.dumps({"done": len(report.cases), "passed": passed}))
