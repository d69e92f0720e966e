"""Remembers values by their keys in a file that goes away by itself: a million of them need no memory to speak of."""

from __future__ import annotations

import sqlite3

from keval.errors import EnvironmentLacksError


class DiskMap:
    """What was seen under a key. Raises EnvironmentLacksError where the file has no room."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)  # a file that goes away by itself
        self._execute("PRAGMA journal_mode = OFF")
        self._execute("CREATE TABLE seen (key BLOB PRIMARY KEY, value) WITHOUT ROWID")

    def set(self, key: str, value: str | int) -> str | int | None:
        """Keep a value under a key and return the one that was there, or None."""
        before = self.get(key)
        self._execute("INSERT OR REPLACE INTO seen VALUES (?, ?)", key, value)
        return before

    def get(self, key: str) -> str | int | None:
        """Return the value of a key, or None."""
        found = self._execute("SELECT value FROM seen WHERE key = ?", key).fetchone()
        return None if found is None else found[0]

    def count(self, key: str) -> int:
        """Return how often this key was counted, this time included."""
        times = int(self.get(key) or 0) + 1
        self.set(key, times)
        return times

    def close(self) -> None:
        """Close the file, which is then gone."""
        self._database.close()

    def _execute(self, sql: str, *values: str | int) -> sqlite3.Cursor:
        try:
            return self._database.execute(sql, values)
        except sqlite3.OperationalError as error:
            raise EnvironmentLacksError(
                f"cannot remember in a temporary file what was read: {error}; SQLITE_TMPDIR or TMPDIR may name another "
                "folder, with more room"
            ) from error
