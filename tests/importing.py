"""A row of saved answers as other tools write them, and the mapping that reads it."""

from __future__ import annotations

from keval.ids import JsonObject

MAPPING = """\
name: elsewhere
sample:
  id: "{uid}"
  question: "{prompt}"
  answer: {field: gold, after: "####", remove: ","}
  level: {field: meta.level}
response:
  text: "{out}"
  condition: "{setup}"
  repetition: {field: run}
  time: "{at}Z"
  output_tokens: {field: usage.out}
  cost_usd: {field: cost}
  sources: {field: pages}
  tool_calls: {each: calls, name: "{function.name}", input: {field: function.arguments}, result: "{result}"}
agent: {name: ours, model: gpt}
judges:
  - name: board
    metrics:
      correct: {score: {field: ok}, min: 0, max: 1, type: binary, pass_from: 1, reasoning: "{why}"}
"""

ROW: JsonObject = {
    "uid": 7,
    "prompt": "How much?",
    "gold": "so\n#### 1,080",
    "meta": {"level": 3},
    "out": "1080",
    "setup": "plain",
    "run": 2,
    "at": "2026-03-01T12:00:00",
    "usage": {"out": 12},
    "cost": 0.5,
    "pages": ["Sums"],
    "calls": [{"function": {"name": "add", "arguments": '{"a": 1}'}, "result": "1080"}],
    "ok": True,
    "why": "it is",
}
