"""Decides by rules whether what a log says is good enough, for CI."""
