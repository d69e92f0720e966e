"""Event logs: appended to, read, folded, locked, and kept free of secrets."""
