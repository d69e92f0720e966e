"""How long a value has to be for what keval does about secrets; each use errs on another side."""

from __future__ import annotations

SHORTEST_REDACTED = 4
"""Shorter values of variables that a config names are left in texts: replacing each `1` or `no` would destroy them and
hide nothing. It is this low because such a value is known to be in use, and one that stays in a log is out."""

SHORTEST_LITERAL = 8
"""Shorter values that a config holds in `headers` and `env` are left: nobody said that they are secret, and so short
they are settings, such as `debug`."""

SHORTEST_ENCODED = 8
"""Shorter pieces of base64 or hex, counted in their own letters, are not looked for: they stand in texts by chance."""

SHORTEST_SCANNED = 8
"""Shorter values of variables are no findings of `keval scan`: it takes all variables of the environment whose names
sound secret, used or not, and would find a short one in any log by chance."""

SHORTEST_UNWARNED = 8
"""A run warns of shorter secrets: they are redacted, and ordinary text may hold them as well."""
