"""A worker of Assay (docs/protocol.md), with its own kernels or with those of PyTorch."""
from __future__ import annotations

import json
import os
import pathlib
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any


def command_of(side: str, assay: str, python: str, cap_s: float, seed: int) -> list[str]:
    """Starts a worker of a side, "assay" or "torch". Both take inputs that no launch has seen."""
    kernels = ["--kernels", "torch", "--python", python] if side == "torch" else ["--fresh-inputs"]
    return [assay, "worker", "--cap", f"{cap_s}", "--seed", str(seed), *kernels]


class Problem(Exception):
    """A case that cannot be compared. `broken`: its worker must be replaced."""

    def __init__(self, text: str, broken: bool = False):
        super().__init__(text)
        self.broken = broken


@dataclass(frozen=True)
class Block:
    """The samples of one turn."""
    launch_s: list[float]
    record: dict[str, Any]

    @property
    def median_s(self) -> float:
        return median(self.launch_s)

    @property
    def noise(self) -> float:
        """Interquartile range / median."""
        if len(self.launch_s) < 2:
            return 0
        first, _, third = quantiles(self.launch_s, n=4, method="inclusive")
        return (third - first) / self.median_s


class Worker:
    def __init__(self, name: str, command: list[str], environment: dict[str, str], directory: pathlib.Path,
                 timeout_s: float):
        self.name = name
        self.timeout_s = timeout_s
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                        cwd=directory, start_new_session=True)  # its kernels may be another process
        self.unread = b""
        self.hello = self.receive("hello")

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Problem(f"{self.name}: {error}", broken=True) from error

    def receive(self, *wanted: str) -> dict[str, Any]:
        assert self.process.stdout
        until = time.monotonic() + self.timeout_s
        while b"\n" not in self.unread:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            if not readable:
                raise Problem(f"{self.name}: no answer within {self.timeout_s:g} s", broken=True)
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise Problem(f"{self.name} ended, exit code {self.process.wait()}", broken=True)
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        message = json.loads(line)
        if message["type"] not in wanted:
            raise Problem(f"{self.name}: {message['type']} instead of {' or '.join(wanted)}", broken=True)
        return message

    def prepare(self, case_id: str) -> None:
        """Data, verification: everything that is not timed."""
        self.send({"type": "trial", "case": case_id, "devices": ["cpu"], "timing": "batch", "attempt": 1, "repeat": 1})
        message = self.receive("ready", "result")
        if message["type"] == "result":
            raise Problem(f"{self.name}: {message['record']['status']}: {message['record'].get('reason', '')}")

    def measure(self) -> Block:
        self.send({"type": "turn"})
        message = self.receive("result")
        record = message["record"]
        if record["status"] != "pass":
            raise Problem(f"{self.name}: {record['status']}: {record.get('reason', '')}")
        return Block([seconds / launches for seconds, launches in message["samples"]], record)

    def hold(self) -> None:
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.killpg(self.process.pid, signal.SIGCONT)

    def close(self) -> None:
        """Kills: a worker that waits for its turn, or hangs, has nothing to lose."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it ended by itself
            pass
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:  # what was not sent
                    pass
