"""How Sphinx makes the site and the man page of the Markdown pages: `make site`, `make man`."""

from __future__ import annotations

from importlib.metadata import version as installed

project = "keval"
author = "the authors of keval"
copyright = author  # noqa: A001 - Sphinx's name for it
release = version = installed("keval")

extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/decisions/*.md", "examples/*.md", "examples/*/*.md"]
suppress_warnings = ["toc.not_included"]  # decisions: their README lists them

myst_heading_anchors = 4
"""Headings have the anchors that they have on GitHub, which links between pages name."""

html_theme = "furo"
html_title = "keval"
html_static_path: list[str] = []
html_copy_source = False
html_extra_path = ["../build/site-extra"]  # made by docs/gallery.py

man_pages = [("docs/commands", "keval", "tells whether a context makes an agent answer better", author, 1)]
