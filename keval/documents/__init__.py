"""Reads what people write, YAML and JSON, so strictly that no two readers can disagree."""
