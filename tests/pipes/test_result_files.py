"""Files that other tools write when they run here are imported, and their means are keval's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Keval

TOOLS = Path(__file__).parents[2] / ".servers" / "origins"
PROGRAMS = TOOLS / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (TOOLS / ".ready").exists(), reason="the tools are not installed; `make origins` does that"),
]


def run(folder: Path, program: Path, *arguments: str, **environment: str) -> None:
    """Run a tool with nothing of this machine's settings, and without a network."""
    path = os.pathsep.join([str(TOOLS / "node_modules" / "node" / "bin"), str(PROGRAMS), "/usr/bin", "/bin"])
    done = subprocess.run(
        [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": path, "HOME": str(folder), **environment},
    )  # fmt: skip
    assert done.returncode in {0, 100}, done.stdout + done.stderr  # promptfoo ends with 100 where a test fails


def means(keval: Keval, file: Path) -> dict[tuple[str, str], float]:
    """Import a file into a log of its own and return the mean of each condition and metric."""
    log = file.with_suffix(".log.jsonl")
    imported = keval("import", file, "-o", log)
    assert imported.returncode == 0, imported.stderr
    lines = keval("aggregate", log).stdout.splitlines()
    aggregates: list[dict[str, Any]] = [event for event in map(json.loads, lines) if event["type"] == "aggregate"]
    return {(each["condition"], each["metric"]): each["mean"] for each in aggregates}


INSPECT_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate

@task
def lamps():
    said = ["30 days", "It is 7", "no idea", "30", "8", "Paris"]
    outputs = [ModelOutput.from_content("mockllm/model", each) for each in said]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=5, output_tokens=3, total_tokens=8)
    return Task(
        dataset=[Sample(id=f"q{n}", input=f"Question {n}?", target=t) for n, t in enumerate(("30", "7", "Paris"))],
        solver=generate(), scorer=[includes(), match()], epochs=2,
        model=get_model("mockllm/model", custom_outputs=outputs),
    )
"""


@pytest.mark.parametrize("form", ["eval", "json"])
def test_inspect(form: str, tmp_path: Path, keval: Keval) -> None:
    """Two scorers over two epochs, as an archive and as JSON; Inspect's own program says what it computed."""
    (tmp_path / "lamps.py").write_text(INSPECT_TASK)
    program = TOOLS / "bin" / "inspect"
    run(tmp_path, program, "eval", "lamps.py", "--log-format", form, "--log-dir", "logs", "--max-samples", "1")
    (log,) = (tmp_path / "logs").iterdir()
    dumped = subprocess.run([program, "log", "dump", log], capture_output=True, text=True, check=True, cwd=tmp_path)
    told = {
        score["name"]: score["metrics"]["accuracy"]["value"] for score in json.loads(dumped.stdout)["results"]["scores"]
    }
    assert set(told) == {"includes", "match"}
    assert means(keval, log) == {("mockllm/model", name): pytest.approx(mean) for name, mean in told.items()}


LM_EVAL_TASK = """\
task: lamps
dataset_path: json
dataset_kwargs: {data_files: {test: lamps.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"]}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
"""


def test_lm_evaluation_harness(tmp_path: Path, keval: Keval) -> None:
    """Its dummy model says `lol` to everything."""
    (tmp_path / "lamps.yaml").write_text(LM_EVAL_TASK)
    rows = ({"q": f"Question {number}?", "a": answer} for number, answer in enumerate(("lol", "30", "lol")))
    (tmp_path / "lamps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--model", "dummy", "--tasks", "lamps", "--include_path", ".", "--log_samples", "--output_path", "out")
    run(tmp_path, TOOLS / "bin" / "lm_eval", *options, HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    (results,) = (tmp_path / "out").rglob("results_*.json")
    (samples,) = (tmp_path / "out").rglob("samples_*.jsonl")
    told = json.loads(results.read_text())["results"]["lamps"]["exact_match,none"]
    assert list(means(keval, samples).values()) == [pytest.approx(told)] == [pytest.approx(2 / 3)]


PROMPTFOO_CONFIG = """\
prompts: ["{{question}}", "Answer: {{question}}"]
providers: [echo]
tests:
  - {vars: {question: "Is it 30?"}, assert: [{type: contains, value: "30"}]}
  - {vars: {question: "Is it Paris?"}, assert: [{type: equals, value: "Is it Paris?"}]}
  - {vars: {question: "Is it 7?"}, assert: [{type: contains, value: "8"}]}
"""


def test_promptfoo(tmp_path: Path, keval: Keval) -> None:
    """Two prompts, one of which fails a test more; both of its forms say the same."""
    (tmp_path / "promptfooconfig.yaml").write_text(PROMPTFOO_CONFIG)
    outputs = ("-o", "results.json", "-o", "results.jsonl")
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"}
    run(tmp_path, PROGRAMS / "promptfoo", "eval", *outputs, "--no-cache", "--no-table", **quiet)
    prompts = json.loads((tmp_path / "results.json").read_text())["results"]["prompts"]
    told = {prompt["raw"]: prompt["metrics"]["testPassCount"] / 3 for prompt in prompts}
    found = means(keval, tmp_path / "results.json")
    assert {name: mean for (name, metric), mean in found.items() if metric == "pass"} == pytest.approx(told)
    assert sorted(told.values()) == pytest.approx([1 / 3, 2 / 3])
    assert means(keval, tmp_path / "results.jsonl") == found


AGENT = """\
#!/bin/sh
number=$(printf %s "$1" | tr -dc 0-9)
echo '{"type": "tool", "name": "mcp__shop__search"}'
echo "{\\"type\\": \\"message\\", \\"text\\": \\"It is $number\\"}"
echo "{\\"type\\": \\"result\\", \\"text\\": \\"It is $number\\"}"
"""

GRADER = f"""\
#!{sys.executable}
import json, sys
case = json.load(sys.stdin)
found = case["hint"] in case["output"]
print(json.dumps({{"pass": found, "score": 1.0 if found else 0.25, "reasoning": "looked for it"}}))
"""


@pytest.mark.parametrize(("command", "options"), [("capture", ()), ("trials", ("-k", "2"))])
def test_agent_eval_harness(command: str, options: tuple[str, ...], tmp_path: Path, keval: Keval) -> None:
    """One of two questions is answered, once or in each of two trials."""
    for name, script in (("agent.sh", AGENT), ("grader.py", GRADER)):
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    schema = {
        "version": 1, "name": "shop-agent", "command": [str(tmp_path / "agent.sh")], "sessionMode": "iterative",
        "prompt": {"flag": ""}, "output": {"flag": "", "value": ""},
        "outputEvents": [
            {"match": {"path": "$.type", "value": "tool"}, "emitAs": "tool_call", "extract": {"title": "$.name"}},
            {"match": {"path": "$.type", "value": "message"}, "emitAs": "message", "extract": {"content": "$.text"}},
        ],
        "result": {"matchPath": "$.type", "matchValue": "result", "contentPath": "$.text"},
    }  # fmt: skip
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    prompts = ({"id": "a", "input": "Is it 30?", "hint": "30"}, {"id": "b", "input": "Is it 7?", "hint": "8"})
    (tmp_path / "prompts.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    given = (command, "prompts.jsonl", "-s", "schema.json", "-g", "./grader.py", "-o", "out.jsonl", *options)
    run(tmp_path, PROGRAMS / "agent-eval-harness", *given)
    found = means(keval, tmp_path / "out.jsonl")
    assert found == {("shop-agent", "pass"): 0.5, ("shop-agent", "score"): 0.625}
