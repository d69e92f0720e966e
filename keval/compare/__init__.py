"""Compares conditions of several logs, by the rules by which those of one are compared."""
