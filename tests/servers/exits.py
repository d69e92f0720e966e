"""A program that ends where an MCP server would begin to serve."""

import sys

sys.exit("the index is not there")
