"""keval tells whether a context makes an AI agent answer better: by how much, how surely, at what cost."""

__version__ = "0.1.0"
