"""The command of the wheel emulate-gpu. It becomes the program: exit codes and signals are the program's."""
import os
import sys

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "bin", "emulate-gpu")
_INFRASTRUCTURE = 4


def emulate_gpu():
    try:
        os.execv(_PROGRAM, sys.argv)
    except OSError as error:
        print(f"emulate-gpu: cannot start {_PROGRAM}: {error.strerror}", file=sys.stderr)
        return _INFRASTRUCTURE
