"""Finds out before anything is paid what a command has to do, what that will cost, and whether it can be done."""
