"""What is said of a log: its numbers, what they show, and what a reader must be warned of."""
