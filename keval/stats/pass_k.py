"""pass@k and pass^k: can the agent do it at all, and does it do it every time.

Sources: Chen et al. 2021 (arXiv 2107.03374) for pass@k, Yao et al. 2024 (arXiv 2406.12045) for pass^k. Both are
unbiased for k of n trials of one sample; the plug-in forms, of the pass rate alone, are biased and kept by that name.
"""

from __future__ import annotations

from math import ceil, comb


def pass_at_k(passes: int, trials: int, k: int) -> float | None:
    """Return the chance that at least one of k trials passes, 1 − C(n−c,k)/C(n,k); None if there are fewer than k."""
    _check(passes, trials, k)
    return None if k > trials else 1 - comb(trials - passes, k) / comb(trials, k)


def pass_every_k(passes: int, trials: int, k: int) -> float | None:
    """Return the chance that all of k trials pass, C(c,k)/C(n,k); None if there are fewer than k."""
    _check(passes, trials, k)
    return None if k > trials else comb(passes, k) / comb(trials, k)


def pass_at_k_plugin(passes: int, trials: int, k: int) -> float | None:
    """Return 1 − (1 − p)^k, which is biased low; None without a trial."""
    _check(passes, trials, k)
    return None if not trials else 1 - (1 - passes / trials) ** k


def pass_every_k_plugin(passes: int, trials: int, k: int) -> float | None:
    """Return p^k, which is biased high; None without a trial."""
    _check(passes, trials, k)
    return None if not trials else float((passes / trials) ** k)


def g_pass_at_k(passes: int, trials: int, k: int, tau: float) -> float | None:
    """Return the chance that at least the share `tau` of k trials passes; None if there are fewer than k.

    Liu et al. 2024 (arXiv 2412.13147): the upper tail of the hypergeometric distribution. With tau 1 it is pass^k.
    """
    _check(passes, trials, k)
    return None if k > trials else _tail(passes, trials, k, max(1, ceil(tau * k - 1e-9)))


def mg_pass_at_k(passes: int, trials: int, k: int) -> float | None:
    """Return the mean of G-Pass@k over all shares above one half, which is 2/k · Σ G-Pass@k; None as there."""
    _check(passes, trials, k)
    if k > trials:
        return None
    return 2 / k * sum(_tail(passes, trials, k, least) for least in range(ceil(k / 2) + 1, k + 1))


def _tail(passes: int, trials: int, k: int, least: int) -> float:
    ways = sum(comb(passes, each) * comb(trials - passes, k - each) for each in range(least, min(passes, k) + 1))
    return ways / comb(trials, k)


def _check(passes: int, trials: int, k: int) -> None:
    if k < 1 or not 0 <= passes <= trials:
        raise ValueError(f"no pass@{k} of {passes} passes in {trials} trials")
