"""Packs an installation as wheels: pack_wheel.py INSTALLATION FOLDER. Prints their paths.

The installation is that of `cmake --install`. A wheel is a ZIP file with three files of metadata, so no build backend is
needed: https://packaging.python.org/specifications/binary-distribution-format
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

from needed_versions import needed

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = "assay/_program"
COMMANDS = ("assay", "assay_gtest", "assay_gbench")
CUDA_MODULE = "lib/assay/assay_cuda.so"
SUMMARY = "Benchmark and correctness harness for tensor ops on CPUs and GPUs"
SUMMARY_OF_EMULATOR = "Runs CUDA programs without a GPU, and finds races, bad accesses and uninitialised reads"
YEAR_OF_ZIP = (1980, 1, 1, 0, 0, 0)  # the same input gives the same bytes


class Wheel:
    """A wheel that is being written."""

    def __init__(self, folder, name, version, tag):
        self.path = pathlib.Path(folder) / f"{name}-{version}-{tag}.whl"
        self._info = f"{name}-{version}.dist-info"
        self._tag, self._record = tag, []
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)

    def add(self, name, data, executable=False):
        entry = zipfile.ZipInfo(name, YEAR_OF_ZIP)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}")

    def add_file(self, name, file):
        self.add(name, file.read_bytes(), os.access(file, os.X_OK))

    def close(self, metadata, entry_points=""):
        self.add_file(f"{self._info}/LICENSE", HERE.parent.parent / "LICENSE")
        self.add(f"{self._info}/METADATA", lines("Metadata-Version: 2.1", *metadata))
        self.add(f"{self._info}/WHEEL", lines("Wheel-Version: 1.0", "Generator: assay", "Root-Is-Purelib: false",
                                              f"Tag: {self._tag}"))
        if entry_points:
            self.add(f"{self._info}/entry_points.txt", entry_points)
        record = f"{self._info}/RECORD"
        self.add(record, lines(*self._record, f"{record},,"))
        self._zip.close()


def lines(*texts):
    return "".join(text + "\n" for text in texts).encode()


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def version_of(program):
    """Returns the version with the revision, as the program and its CUDA module must be of one build: 0.1.0+g6eb682d."""
    version = run(program, "--version")
    number, revision = re.fullmatch(r"assay (\S+) \(([^,]+), .*\)\n", version).groups()
    return number if revision == "unknown" else f"{number}+g{re.sub('[^a-z0-9]+', '.', revision.lower())}"


def tag_of(installed):
    """Names the oldest C library with which all programs run."""
    major, minor = needed([file for _, file in files_below(installed)])["glibc"][:2]
    return f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"


def metadata(name, version, *further, summary=SUMMARY):
    return (f"Name: {name}", f"Version: {version}", f"Summary: {summary}", "License: Apache-2.0",
            "Requires-Python: >=3.8", *further)


def files_below(root):
    """Yields files with their names below the root. Wheels have no links: a library that has one goes by its link's name,
    which programs look for."""
    files = sorted(file for file in root.rglob("*") if file.is_file())
    linked = {file.resolve() for file in files if file.is_symlink()}
    for file in files:
        if file.is_symlink() or file.resolve() not in linked:
            yield file.relative_to(root).as_posix(), file


def of_main_wheel(name):
    return name.startswith(("bin/", "lib/", "include/")) and not name.endswith("_test") and name != CUDA_MODULE


def pack_main(installed, folder, version, tag):
    wheel = Wheel(folder, "assay", version, tag)
    for name, file in files_below(installed):
        if of_main_wheel(name):
            wheel.add_file(f"{PROGRAM}/{name}", file)
    # What users import to declare kernels. The process that runs them has the rest, in a folder without other packages:
    # it comes first in sys.path, for whatever Python is asked for.
    for module in ("__init__", "_formats", "_op", "_shapes"):  # to declare kernels and ops: the program has the rest
        wheel.add_file(f"assay/{module}.py", installed / f"lib/assay/python/assay/{module}.py")
    wheel.add_file("assay/_commands.py", HERE / "wheel_commands.py")
    commands = [f"{name} = assay._commands:{name}" for name in COMMANDS if (installed / "bin" / name).exists()]
    wheel.close(metadata("assay", version, "Provides-Extra: cuda", f"Requires-Dist: assay-cuda=={version}; extra == 'cuda'"),
                lines("[console_scripts]", *commands))
    return wheel.path


def pack_cuda(installed, folder, version, tag):
    wheel = Wheel(folder, "assay_cuda", version, tag)
    # Where the program looks, however it is started. `assay ab` compares programs with the modules beside them.
    wheel.add_file(f"{PROGRAM}/{CUDA_MODULE}", installed / CUDA_MODULE)
    # pip removes a folder whose last files it removes, but not the empty ones above: this file is in the outermost.
    wheel.add("assay/_cuda.txt", lines(f"The CUDA module of Assay {version} is {PROGRAM}/{CUDA_MODULE}"))
    wheel.close(metadata("assay-cuda", version, f"Requires-Dist: assay=={version}"))
    return wheel.path


def pack_emulator(installed, folder):
    version = run(installed / "bin/emulate-gpu", "--version").removeprefix("emulate-gpu ").strip()
    wheel = Wheel(folder, "emulate_gpu", version, tag_of(installed))
    for name, file in files_below(installed):
        wheel.add_file(f"emulate_gpu/_program/{name}", file)
    wheel.add("emulate_gpu/__init__.py", b"")
    wheel.add_file("emulate_gpu/_commands.py", HERE / "emulator_command.py")
    wheel.close(metadata("emulate-gpu", version, summary=SUMMARY_OF_EMULATOR),
                lines("[console_scripts]", "emulate-gpu = emulate_gpu._commands:emulate_gpu"))
    return wheel.path


def main(installation, folder):
    installed = pathlib.Path(installation)
    if (installed / "bin/emulate-gpu").exists():
        print(pack_emulator(installed, folder))
        return
    version, tag = version_of(installed / "bin/assay"), tag_of(installed)
    print(pack_main(installed, folder, version, tag))
    if (installed / CUDA_MODULE).exists():
        print(pack_cuda(installed, folder, version, tag))


if __name__ == "__main__":
    main(*sys.argv[1:])
