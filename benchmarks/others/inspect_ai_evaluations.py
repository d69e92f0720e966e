"""Evaluates the questions of questions.jsonl with Inspect AI and its mock model, which repeats the question.

    python inspect_ai_evaluations.py [OPTIONS AS JSON]

prints how many were done and how many passed, as JSON. The options are arguments of `inspect_ai.eval`.
"""

import json
import sys

from inspect_ai import Task, eval  # noqa: A004 - its name
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


def sample(record: dict[str, str]) -> Sample:
    """Return a line of the questions as Inspect's sample."""
    return Sample(id=record["id"], input=record["question"], target=record["answer"])


def repeated(messages: list[ChatMessage], *_: object) -> ModelOutput:
    """Answer with the question; a usage is given so that no tokenizer is downloaded to count one."""
    output = ModelOutput.from_content("mockllm/model", messages[-1].text)
    output.usage = ModelUsage()
    return output


task = Task(dataset=json_dataset("questions.jsonl", sample), solver=generate(), scorer=exact())
model = get_model("mockllm/model", custom_outputs=repeated)
options = json.loads(sys.argv[1])
[log] = eval(task, model=model, log_dir="logs", display="none", max_connections=8, **options)
done = log.results.completed_samples
mean = log.results.scores[0].metrics["mean"].value
print(json.dumps({"done": done, "passed": round(done * mean)}))
