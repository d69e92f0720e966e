"""Plans a comparison from a pilot: what it would take to see a difference, and what that would cost."""
