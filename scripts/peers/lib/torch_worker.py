"""PyTorch behind Assay's worker protocol: draws the data of a case, checks the result, and times it as Assay does.

Runs in the environment that has torch; compare starts it.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import signal
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from lib.cases import Case, parse_case
from lib.peers import Tensor

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
TOLERANCES = {"f32": 2e-4, "bf16": 2e-2}
HEAD_ELEMENTS = 4096
HEAD_ROWS = 4
Run = Callable[[], Any]


class Data:
    """Tensors of a case: uniform numbers from a few base arrays that are drawn once, since drawing is slow."""
    BASE_ELEMENTS = 1 << 24

    def __init__(self) -> None:
        self.bases: list[torch.Tensor] = []

    def unit(self, elements: int, which: int) -> torch.Tensor:
        """Uniform in [0, 1)."""
        if elements > self.BASE_ELEMENTS:
            return torch.rand(elements)
        while len(self.bases) <= which:
            self.bases.append(torch.rand(self.BASE_ELEMENTS))
        return self.bases[which][:elements]

    def draw(self, spec: Tensor, case: Case, which: int) -> torch.Tensor:
        shape = shape_of(spec, case)
        unit = self.unit(math.prod(shape), which)
        low, high = spec.low, spec.high
        if spec.kind == "index":
            return (unit.double() * case.params["rows"]).long().view(shape)
        if spec.kind == "mask":
            return (unit < 0.5).view(shape)
        if spec.kind == "integer":
            return torch.floor(unit * (high - low + 1) + low).to(dtype_of(spec, case)).view(shape)
        if spec.kind == "near_one":
            width = min(0.5, math.prod(shape) ** -0.5)
            low, high = 1 - width, 1 + width
        return (unit * (high - low)).add_(low).to(dtype_of(spec, case)).view(shape)


def shape_of(spec: Tensor, case: Case) -> list[int]:
    return [int(case.params[name]) for name in spec.shape]


def dtype_of(spec: Tensor, case: Case) -> torch.dtype:
    fixed = {"index": torch.int64, "mask": torch.bool}
    if spec.kind in fixed:
        return fixed[spec.kind]
    return DTYPES[str(case.params[spec.dtype]) if spec.dtype else case.dtype]


def prepared(case: Case, data: Data) -> tuple[Run, dict[str, torch.Tensor]]:
    """The expression as a function, and the tensors it names."""
    peer = case.peer
    tensors = {name: data.draw(spec, case, i) for i, (name, spec) in enumerate(peer.inputs.items())}
    for name, spec in peer.outputs.items():
        # Not empty: pages are there, and what is not written is not right.
        tensors[name] = torch.full(shape_of(spec, case), 1, dtype=dtype_of(spec, case))
    names = {"torch": torch, "F": F, **case.params, **tensors}
    return eval(f"lambda: {peer.expression}", names), tensors


def in_f64(tensor: torch.Tensor) -> np.ndarray:
    return tensor.double().numpy()


def check(case: Case, result: torch.Tensor, tensors: dict[str, torch.Tensor]) -> str:
    """What is wrong with the result, in a line; empty if nothing is. Loose: it is the expression that is checked."""
    peer = case.peer
    if peer.reference == "uniform":
        got = in_f64(result)
        fine = got.min() >= 0 and got.max() <= 1 and abs(got.mean() - 0.5) < 1e-2
        return "" if fine else "not uniform in [0, 1)"
    # The leading dimension of the result is that of the first input; other inputs are needed whole.
    whole = peer.judged == "whole"
    elementwise = all(spec.shape in (("n",), ()) for spec in peer.inputs.values())
    rows = HEAD_ELEMENTS if elementwise else HEAD_ROWS
    lead = next(iter(peer.inputs.values())).shape[0] if peer.inputs else "n"

    def part(tensor: torch.Tensor, spec: Tensor) -> np.ndarray:
        return in_f64(tensor if whole or not spec.shape or spec.shape[0] != lead else tensor[:rows])

    arrays = {name: part(tensors[name], spec) for name, spec in peer.inputs.items()}
    erf = np.vectorize(math.erf)
    params = dict(case.params) | ({} if whole else {"n": min(rows, int(case.params.get("n", rows)))})
    with np.errstate(invalid="ignore"):
        expected = np.asarray(eval(peer.reference, {"np": np, "erf": erf, **params, **arrays}), dtype=np.float64)
    got = in_f64(result if whole else result[:rows])
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}"
    tolerance = peer.tolerance or TOLERANCES[str(case.params.get("to", case.dtype)) if case.dtype == "f32" else "bf16"]
    # A sum may cancel: its error is that of its terms.
    scale = np.abs(expected) + (1 if expected.ndim else math.sqrt(case.params.get("n", 1)))
    error = np.where(np.isnan(got) & np.isnan(expected), 0, np.abs(got - expected) / scale)
    if not (error <= tolerance).all():
        return f"differs from {peer.reference}: {float(np.nanmax(error)):.3g} of its size"
    return ""


class Sampler:
    """The rules of harness/measure/sampler.cpp, so that both sides are warmed up and sampled alike."""
    SAMPLE_S = 0.3e-3  # launches are repeated until a sample lasts so long
    BLOCK = 5
    AGREEMENT = 0.02

    def __init__(self, run: Run, cap_s: float):
        self.run = run
        self.cap_s = cap_s

    def sample(self, launches: int) -> float:
        begin = time.perf_counter()
        for _ in range(launches):
            self.run()
        return time.perf_counter() - begin

    def warm_up(self) -> int:
        """Launches of a sample."""
        limit_s = self.cap_s / 4
        end = time.perf_counter() + limit_s
        launches, previous = 1, 0.0
        while True:
            block_end = time.perf_counter() + limit_s
            block = []
            while len(block) < self.BLOCK and time.perf_counter() < block_end:
                block.append(self.sample(launches) / launches)
            launch_s = median(block)
            long_enough = launch_s * launches >= self.SAMPLE_S
            settled = previous > 0 and abs(launch_s / previous - 1) <= self.AGREEMENT
            if not long_enough:
                launches = max(launches, math.ceil(self.SAMPLE_S / launch_s))
            if time.perf_counter() >= end or (long_enough and settled):
                return launches
            previous = launch_s

    def samples(self) -> list[tuple[float, int]]:
        begin = time.perf_counter()
        launches = self.warm_up()
        taken = [(self.sample(launches), launches)]
        while time.perf_counter() - begin < self.cap_s:
            taken.append((self.sample(launches), launches))
        return taken


def waiting_s() -> float:
    """How long threads of this process waited for a core that another one had."""
    total = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[1])
        except (OSError, IndexError):  # a thread that ended; a kernel without the figure
            pass
    return total * 1e-9


def serve(cap_s: float, answers: Any) -> None:
    data = Data()

    def answer(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    config = torch.__config__.show().splitlines()
    answer({"type": "hello", "torch": torch.__version__, "numpy": np.__version__, "python": sys.version.split()[0],
            "threads": torch.get_num_threads(),
            "config": [line.strip(" -") for line in config[1:] if "settings" not in line]})
    for line in sys.stdin:
        case = parse_case(json.loads(line)["case"])
        record: dict[str, Any] = {"status": "error", "implementation": case.peer.expression}
        samples: list[tuple[float, int]] = []
        try:
            run, tensors = prepared(case, data)
            value = run()
            result = tensors.get("y", value)
            if wrong := check(case, result, tensors):
                record.update(status="fail", reason=wrong)
            else:
                del value, result
                answer({"type": "ready"})
                if not sys.stdin.readline():
                    return
                waited, begin = waiting_s(), time.perf_counter()
                samples = Sampler(run, cap_s).samples()
                record["contended"] = waiting_s() - waited > 0.01 * (time.perf_counter() - begin)
                record["status"] = "pass"
        except Exception as error:  # whatever torch says: it costs this case alone
            record["reason"] = f"{type(error).__name__}: {error}"
        run = tensors = None  # before the next case is drawn
        answer({"type": "result", "record": record, "samples": samples})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cap", type=float, default=0.2)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of its input ends it
    # What libraries print must not come between the messages.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    torch.manual_seed(options.seed)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    with torch.inference_mode():
        serve(options.cap, answers)


if __name__ == "__main__":
    main()
