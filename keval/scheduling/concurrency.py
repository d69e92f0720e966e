"""How many attempts at once a service takes: learnt from those that it refuses, and from when these began.

This file holds numbers and no clock, task or queue; `limiter.py` puts them into effect.

There is one decrease per window: it takes an attempt that began after the last decrease. Others of the same burst take
only their own places with them, so that what is left is what the service took.

From there what is allowed rises with each success to what the service is known to take. Whether it takes more is asked
with one attempt more, and then with four, sixteen, each after a round of successes: capacity that has returned is found
soon. Where one more is refused again and again it is asked ever more seldom, for a refusal costs an item one of
its attempts.

As long as fewer than the most are allowed, starts are spread over the time that an attempt takes: a service that counts
calls per second refuses those that come together, however few are running.
"""

from __future__ import annotations

from typing import NamedTuple

DECREASE = 0.95
"""What is left of what is allowed after one attempt too many."""

TOO_CLOSE = 0.98
"""What is left of it where attempts only came too close to each other: they are spread more, too."""

LOST = 0.8
"""What is left of it where a service takes far fewer than it did: less than `FEWER` of what is allowed are running."""

FEWER = 0.75

REGAINED = 3
"""So many places come back with each success, up to what is known to be taken."""

MOST_ROUNDS = 8
"""At most so many rounds of successes lie between two questions whether the service takes one more."""

DURATIONS = 200
"""The mean duration of an attempt is about that of the last so many."""

LEAD = 1.25
"""Starts may come so much faster than attempts end, or places that fell free would never be filled."""

LEAST_LEAD = 0.9
"""Towards this the lead falls where attempts come too close: below 1 the time limits starts, and not the places."""


class Begun(NamedTuple):
    """When an attempt began."""

    at_s: float
    window: int
    """How many decreases there were before."""


class Concurrency:
    """The number of attempts that may run at once: at least one, at most what the user allows."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.allowed: float = most
        self.window = 0
        self.refused_alone = 0
        """Refusals without a success between them, while nothing else was running."""
        self.known: float = most
        """What the service is known to take."""
        self._steps = 0
        """How often more was allowed than was known, since the last refusal."""
        self._rounds = 1
        """Rounds of successes before the first of these steps."""
        self._successes = 0
        """Those in a row that count for the next step."""
        self._durations = 0
        self._mean_duration_s = 0.0
        self._lead = LEAD

    @property
    def interval_s(self) -> float:
        """The least time between two starts in seconds."""
        return 0.0 if self.allowed >= self.most else self._mean_duration_s / (self.allowed * self._lead)

    def succeed(self, begun: Begun, now_s: float) -> None:
        """Take note of an attempt that the service took."""
        self._durations = min(self._durations + 1, DURATIONS)
        self._mean_duration_s += (now_s - begun.at_s - self._mean_duration_s) / self._durations
        self.refused_alone = 0
        if begun.window < self.window or self.allowed >= self.most:
            return
        if self.allowed < self.known:
            self.allowed = min(self.allowed + REGAINED, self.known)
        else:
            self._ask_for_more()

    def refuse(self, begun: Begun, running: int) -> None:
        """Take note of an attempt that was one too many, while so many others are still running."""
        if not running:
            # It was not the number; what is known of that stays.
            self.refused_alone += 1
            self.window += 1
            self.allowed = 1.0
        elif begun.window < self.window:
            self.allowed = min(self.allowed, running)
        else:
            self.window += 1
            self._lower(running)
        self._steps = self._successes = 0

    def _ask_for_more(self) -> None:
        """Allow more than is known to be taken, after enough successes."""
        self._successes += 1
        if self._successes >= self.allowed * (1 if self._steps else self._rounds):
            self.known = self.allowed
            self.allowed = min(self.allowed + 4**self._steps, self.most)
            self._steps += 1
            self._successes = 0

    def _lower(self, running: int) -> None:
        """Allow less, by what the refusal was about."""
        asked = self._steps == 1
        self._rounds = min(self._rounds * 2, MOST_ROUNDS) if asked else 1
        if running + 1 < self.known:
            # Fewer than are known to be taken: they came too close to each other, or there is less capacity.
            left = LOST if running + 1 < self.allowed * FEWER else TOO_CLOSE
            self._lead = LEAST_LEAD + (self._lead - LEAST_LEAD) * 0.8
            self.known = self.allowed = max(1.0, self.allowed * left)
            return
        self._lead = (self._lead + LEAD) / 2
        self.known = min(self.known if asked else self.allowed, running)
        self.allowed = self.known if asked else max(1.0, self.known * DECREASE)
