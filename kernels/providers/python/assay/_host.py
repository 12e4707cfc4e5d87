"""The process that serves kernels of Python: PYTHON .../assay/_host.py [--problem PROBLEM | --own-ops FILE] ENGINE SOURCE [ARG]...

ENGINE is Assay's shared library, SOURCE a file or one of the words torch, compiled and numpy. ARGs are passed to the engine.
With --problem SOURCE may have solutions of a problem, or of a folder of them. With --own-ops a word has the references of
a file too.
"""
import ctypes
import os
import sys

if not __package__:  # run by its path: finds the package, and no file of the working directory hides it
    FOLDER = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [os.path.dirname(FOLDER), *[folder for folder in sys.path if folder != FOLDER]]

from assay import _devices, _source, _table  # noqa: E402


def main(arguments):
    ops = arguments[:2] if arguments[:1] in (["--problem"], ["--own-ops"]) else None
    arguments = arguments if ops is None else arguments[2:]
    if len(arguments) < 2:
        print("usage: python assay/_host.py [--problem PROBLEM | --own-ops FILE] ENGINE SOURCE [ARG]...", file=sys.stderr)
        return 2
    path, source, *rest = arguments
    cores = os.sched_getaffinity(0)
    try:
        engine = ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        print(f"cannot load Assay's library: {error}", file=sys.stderr)
        return 1
    os.sched_setaffinity(0, cores)  # OpenMP ties this thread to one core when a library loads it
    passed = (ctypes.c_char_p * len(rest))(*map(os.fsencode, rest))
    engine.assay_refuse.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    engine.assay_serve.argtypes = [ctypes.POINTER(_table.CTable), ctypes.c_int32, ctypes.c_void_p]
    if failed := engine.assay_begin():
        return failed
    try:
        name, source_path, registered = _loaded(source, ops)
        os.sched_setaffinity(0, cores)
        table = _table.Table(name, registered, source_path, _devices_of(registered))
    except _source.Refusal as why:
        return engine.assay_refuse(str(why).encode(errors="replace"), len(rest), passed)
    return engine.assay_serve(ctypes.byref(table.c_table), len(rest), passed)


def _loaded(source, ops):
    if ops is None:
        return _source.load(source)
    option, path = ops
    if option == "--own-ops" and (source not in _source.SHIPPED or _source.is_library(path)):
        return _source.load(source)
    try:
        if option == "--own-ops":
            from assay import _own_kernels  # pylint: disable=import-outside-toplevel
            return _own_kernels.load(source, path)
        from assay import _solutions  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError as error:
        raise _source.Refusal(f"{option} needs {_source.without_module(error)}") from None
    return _solutions.load(source, path)


def _devices_of(registered):
    """Returns the devices of PyTorch if it is imported and a kernel may take its tensors, else None."""
    torch = sys.modules.get("torch")
    if torch is None or all(one.framework not in (None, "torch") for one in registered):
        return None
    return _devices.TorchDevices(torch)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
