"""Models behind the Messages API: asking one, and what its tokens cost."""
