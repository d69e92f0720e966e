"""Finds out what a command has to do, and what it will cost, before anything is paid: plain data, nothing is done."""
