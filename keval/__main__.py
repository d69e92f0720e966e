"""Lets `python -m keval` work."""

from keval.cli import main

if __name__ == "__main__":
    main()
