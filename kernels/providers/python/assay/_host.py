"""The process that serves kernels of Python: PYTHON .../assay/_host.py ENGINE SOURCE [ARG]...

ENGINE is Assay's shared library, SOURCE a file or one of the words torch and numpy. ARGs are passed to the engine.
"""
import ctypes
import os
import sys

if not __package__:  # run by its path: finds the package, and no file of the working directory hides it
    FOLDER = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [os.path.dirname(FOLDER), *[folder for folder in sys.path if folder != FOLDER]]

from assay import _source, _table  # noqa: E402


def main(arguments):
    if len(arguments) < 2:
        print("usage: python assay/_host.py ENGINE SOURCE [ARG]...", file=sys.stderr)
        return 2
    path, source, *rest = arguments
    try:
        engine = ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        print(f"cannot load Assay's library: {error}", file=sys.stderr)
        return 1
    passed = (ctypes.c_char_p * len(rest))(*map(os.fsencode, rest))
    engine.assay_refuse.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    engine.assay_serve.argtypes = [ctypes.POINTER(_table.CTable), ctypes.c_int32, ctypes.c_void_p]
    try:
        table = _table.Table(*_served(source))
    except _source.Refusal as why:
        return engine.assay_refuse(str(why).encode(errors="replace"), len(rest), passed)
    return engine.assay_serve(ctypes.byref(table.c_table), len(rest), passed)


def _served(source):
    name, path, registered = _source.load(source)
    return name, registered, path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
