"""A log as live pages on this machine: read-only, and drawn by the server alone."""
