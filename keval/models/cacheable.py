"""From how many tokens on the Messages API keeps a prompt, by model, as its documentation says."""

SHORTEST = {
    "claude-opus-5": 512, "claude-fable-5": 512, "claude-mythos-5": 512,
    "claude-opus-4-8": 1024, "claude-sonnet-5": 1024, "claude-sonnet-4-6": 1024, "claude-sonnet-4-5": 1024,
    "claude-sonnet-4": 1024, "claude-opus-4-1": 1024, "claude-opus-4": 1024,
    "claude-opus-4-7": 2048,
    "claude-opus-4-6": 4096, "claude-opus-4-5": 4096, "claude-haiku-4-5": 4096,
}  # fmt: skip
"""Tokens from which on a model's prompt is kept: a shorter one is processed as if nothing was marked."""
