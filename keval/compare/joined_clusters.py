"""Makes one cluster of those that have a sample in common: it belongs to this one in one log, to that one in another.

Samples of both may be alike then: taken for alike they make an interval wider, where it might be too narrow otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def joined(sets: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return of each cluster in the sets which one it becomes part of: the first by name of all that are linked to it.

    The order of the sets changes nothing.
    """
    parents: dict[str, str] = {}

    def root(cluster: str) -> str:
        while (parent := parents.setdefault(cluster, cluster)) != cluster:
            parents[cluster] = parents[parent]
            cluster = parent
        return cluster

    for clusters in sets:
        first, *others = sorted(map(root, clusters))
        parents |= dict.fromkeys(others, first)
    return {cluster: root(cluster) for cluster in list(parents)}
