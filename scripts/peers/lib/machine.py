"""The machine, and the same surroundings for everyone who is measured on it."""
from __future__ import annotations

import os
import pathlib
import platform
import re
import subprocess
import sys
from typing import NoReturn

ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS = ROOT / "scripts" / "peers"
PACKAGES = ("torch", "numpy")

# Keeps torch and the libraries in it below AVX-512. Assay is built for that.
AVX2_OF_TORCH = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}
WITHOUT_AVX512 = "without AVX-512"


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


def environment(cores: list[int], wait_policy: str = "", isa: str = "best") -> dict[str, str]:
    """The caller's, with the same threads on the same cores for everyone, and nothing else that steers OpenMP."""
    ours = {name: value for name, value in os.environ.items()
            if not re.match(r"(OMP|GOMP|KMP|MKL|DNNL|ONEDNN|OPENBLAS|ATEN|TORCH|MALLOC)_", name)}
    ours.update(OMP_NUM_THREADS=str(len(cores)), OMP_DYNAMIC="false", OMP_PROC_BIND="true",
                OMP_PLACES=",".join(f"{{{core}}}" for core in cores), MKL_NUM_THREADS=str(len(cores)))
    if isa == "avx2":
        ours.update(AVX2_OF_TORCH)
    if wait_policy:
        ours["OMP_WAIT_POLICY"] = wait_policy
    return ours


def describe(cores: list[int]) -> dict[str, object]:
    cpuinfo = read("/proc/cpuinfo")

    def field(name: str) -> str:
        found = re.search(rf"^{name}\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
        return found[1] if found else ""

    caches = {}
    for folder in sorted(pathlib.Path(f"/sys/devices/system/cpu/cpu{cores[0]}/cache").glob("index*")):
        kind = read(f"{folder}/type")
        if kind != "Instruction":
            caches[f"L{read(f'{folder}/level')}"] = (
                f"{read(f'{folder}/size')} for cores {read(f'{folder}/shared_cpu_list')}")
    flags = set(field("flags").split())
    wanted = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_bf16")
    thp = re.search(r"\[(\w+)\]", read("/sys/kernel/mm/transparent_hugepage/enabled"))
    return {"cpu": field("model name"), "family": field("cpu family"), "model": field("model"), "cores": cores,
            "caches": caches, "instructions": [flag for flag in wanted if flag in flags],
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "transparent_huge_pages": thp[1] if thp else "", "kernel": platform.release(),
            "load": os.getloadavg()[0]}


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
    return subprocess.run([python, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"], env=variables,
                          capture_output=True, text=True, check=True).stdout.strip()


def version_of(program: str) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
