"""The commands of the wheel (docs/package.md). Each becomes the program: exit codes and signals are the program's."""
import os
import sys

_BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "bin")
_INFRASTRUCTURE = 4  # exit code of a failure of the machinery; 1 would say that a result was wrong


def assay():
    return _become("assay")


def assay_gtest():
    return _become("assay_gtest")


def assay_gbench():
    return _become("assay_gbench")


def _become(name):
    os.environ.setdefault("ASSAY_PYTHON", sys.executable)  # runs the kernels of --kernels FILE.py
    program = os.path.join(_BIN, name)
    try:
        os.execv(program, sys.argv)
    except OSError as error:
        print(f"{name}: cannot start {program}: {error.strerror}", file=sys.stderr)
        return _INFRASTRUCTURE
