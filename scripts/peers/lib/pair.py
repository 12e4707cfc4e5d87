"""One round of one case: a block of samples from each of two workers, back to back."""
from __future__ import annotations

import random

from lib.worker import Block, Problem, Worker


def measure_pair(sides: tuple[Worker, Worker], case_id: str, seed: str, hold_idle: bool) -> tuple[Block, Block, str]:
    """The blocks in the order of `sides`, and the name of the side that was first. Raises Problem.

    Both sides are ready before either is timed, so that nothing but the end of the first block lies between them.
    The one that waits is stopped: threads that wait for work would otherwise spin on the cores for a while."""
    order = [0, 1]
    random.Random(seed).shuffle(order)
    blocks: dict[int, Block] = {}
    open_trials: list[Worker] = []
    try:
        for side in sides:
            side.prepare(case_id)
            open_trials.append(side)
        for turn in order:
            open_trials.remove(sides[turn])
            idle = sides[1 - turn]
            if hold_idle:
                idle.hold()
            try:
                blocks[turn] = sides[turn].measure()
            finally:
                if hold_idle:
                    idle.go_on()
    except Problem:
        for side in open_trials:
            side.measure()  # ends its trial, or it would take no other
        raise
    return blocks[0], blocks[1], sides[order[0]].name
