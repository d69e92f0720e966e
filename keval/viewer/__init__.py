"""A log as live pages on this machine: drawn by the server alone, and read-only but for what a person labels."""
