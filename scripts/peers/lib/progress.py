"""How far, and for how long still: on stderr."""
from __future__ import annotations

import sys
import time


class Progress:
    """A unit that was done before says how long it takes; one that was not takes the mean of the others."""

    def __init__(self, units: list[str]):
        self.left = list(units)
        self.total = len(units)
        self.cost_s: dict[str, float] = {}
        self.begin = time.monotonic()
        self.last = self.begin

    def remaining_s(self) -> float:
        if not self.cost_s:
            return 0
        mean = sum(self.cost_s.values()) / len(self.cost_s)
        return sum(self.cost_s.get(unit, mean) for unit in self.left)

    def done(self, unit: str, text: str) -> None:
        now = time.monotonic()
        self.cost_s[unit] = now - self.last
        self.last = now
        self.left.remove(unit)
        minutes, seconds = divmod(int(self.remaining_s()), 60)
        count = self.total - len(self.left)
        line = f"[{count}/{self.total}, {minutes}:{seconds:02d} left] {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line[:150]}", end="\n" if not self.left else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
