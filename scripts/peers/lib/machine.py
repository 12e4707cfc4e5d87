"""The machine, and the same surroundings for everyone who is measured on it."""
from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS = ROOT / "scripts" / "peers"
PACKAGES = ("torch", "numpy")

# Keeps torch and the libraries in it below AVX-512. Assay is built for that.
AVX2_OF_TORCH = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
WITHOUT_AVX512 = "without AVX-512"


class Problem(Exception):
    """A case that cannot be measured."""


def say(text: str) -> None:
    print(f"peers: {text}", file=sys.stderr, flush=True)


def refuse(text: str, code: int = 2) -> NoReturn:
    say(text)
    raise SystemExit(code)


def read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def use_cores(threads: int) -> list[int]:
    """Keeps this process and its children to the first `threads` cores that it may use; 0: to all."""
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        refuse(f"{threads} threads, but {len(cores)} cores")
    cores = cores[:threads] if threads else cores
    os.sched_setaffinity(0, cores)
    return cores


def environment(cores: list[int], isa: str = "best") -> dict[str, str]:
    """The caller's, with the same threads on the same cores for everyone, and nothing else that steers OpenMP."""
    ours = {name: value for name, value in os.environ.items()
            if not re.match(r"(OMP|GOMP|KMP|MKL|DNNL|ONEDNN|OPENBLAS|ATEN|TORCH|MALLOC)_", name)}
    ours.update(OMP_NUM_THREADS=str(len(cores)), OMP_DYNAMIC="false", OMP_PROC_BIND="true",
                OMP_PLACES=",".join(f"{{{core}}}" for core in cores), MKL_NUM_THREADS=str(len(cores)))
    if isa == "avx2":
        ours.update(AVX2_OF_TORCH)
    return ours


def run_to_end(command: list[str], variables: dict[str, str]) -> int:
    """Runs `assay ab` and returns its exit code, 4 where a signal ended it. It hears of an interruption itself, and still
    writes its files."""
    child = subprocess.Popen(command, env=variables)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        try:
            code = child.wait()
            return code if code >= 0 else 4
        except KeyboardInterrupt:
            pass


def describe(assay: str, cores: list[int]) -> str:
    """The machine, the program, and the load so far."""
    cpu = re.search(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.MULTILINE)
    return f"{cpu[1] if cpu else 'a CPU'}, {len(cores)} cores; {version_of(assay)}; load {os.getloadavg()[0]:.2f}"


def peers_python() -> str:
    """A Python that has torch and numpy: $ASSAY_PEERS_PYTHON, or one of our own in build/peers/venv."""
    if chosen := os.environ.get("ASSAY_PEERS_PYTHON"):
        return chosen
    folder = ROOT / "build" / "peers" / "venv"
    python = folder / "bin" / "python"
    has_all = [str(python), "-c", "; ".join(f"import {name}" for name in PACKAGES)]
    if not python.exists() or subprocess.run(has_all, capture_output=True, check=False).returncode != 0:
        say(f"making {folder} with {' and '.join(PACKAGES)}: some gigabytes, once")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True, stdout=sys.stderr)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True, stdout=sys.stderr)
    return str(python)


def assay_program(option: str, isa: str = "best") -> str:
    preset = "release" if isa == "best" else isa
    program = pathlib.Path(option or os.environ.get("ASSAY", "") or ROOT / f"build/{preset}/bin/assay")
    if not os.access(program, os.X_OK):
        refuse(f"no program {program}: build it (cmake --preset {preset} && cmake --build --preset {preset}), "
               "or give --assay PROGRAM")
    if (WITHOUT_AVX512 in version_of(str(program))) != (isa == "avx2"):
        refuse(f"{program} is built {'with' if isa == 'avx2' else 'without'} AVX-512: give the other preset's, or the "
               "other --isa")
    return str(program.resolve())


def isa_of_torch(python: str, variables: dict[str, str]) -> str:
    """Instructions that torch's own loops use with these variables, such as AVX2."""
    done = subprocess.run([python, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"], env=variables,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        refuse(f"{python} does not say what torch takes: {done.stderr.strip()[-300:]}", 4)
    return done.stdout.strip()


def version_of(program: str) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
