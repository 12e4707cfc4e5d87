"""Wilcoxon's signed ranks: the centre of paired differences, and its exact interval."""
from __future__ import annotations

from collections.abc import Sequence
from statistics import median


def walsh_averages(values: Sequence[float]) -> list[float]:
    return sorted((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values)))


def hodges_lehmann(values: Sequence[float]) -> float:
    return median(walsh_averages(values))


def lower_tail(n: int) -> list[float]:
    """P(W <= w) of the signed-rank statistic of n differences without ties, for w = 0, 1, ..."""
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for w in range(len(ways) - 1, rank - 1, -1):
            ways[w] += ways[w - rank]
    total = 0
    tail = []
    for count in ways:
        total += count
        tail.append(total / 2**n)
    return tail


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """None where even the whole range is surer than that: below 6 values for 95%."""
    each_side = (1 - confidence) / 2
    if 0.5**len(values) > each_side:
        return None
    cut = sum(1 for p in lower_tail(len(values)) if p <= each_side) - 1
    averages = walsh_averages(values)
    return averages[cut], averages[-1 - cut]
