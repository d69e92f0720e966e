"""keval tells whether a context makes an AI agent answer better: by how much, how surely, at what cost."""

from importlib.metadata import version

__version__ = version("keval")

__all__ = ["__version__"]
