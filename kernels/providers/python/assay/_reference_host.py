"""The process that runs references of ops that users define:

    PYTHON .../assay/_reference_host.py SOURCE FD [--if-any | --problem]

SOURCE is a file of Python or a C library (assay_op.h), FD the number of a socket to the judge. A kernel's process cannot
reach this one. With --if-any Python that defines no op is not run: its kernels may import much. With --problem SOURCE is a
problem in KernelBench's form, or a folder of them.
"""
import ctypes
import os
import signal
import socket
import sys

if not __package__:  # run by its path: finds the package, and no file of the working directory hides it
    FOLDER = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [os.path.dirname(FOLDER), *[folder for folder in sys.path if folder != FOLDER]]

import assay  # noqa: E402
from assay import _source  # noqa: E402
from assay._failure import one_line, text_of  # noqa: E402
from assay._frames import Ended, Reader, Writer  # noqa: E402

KINDS = ("normal", "uniform", "integers", "given", "given_or_any")
MEASURE, DRAW = range(2)  # what the judge asks for


def _stand_apart():
    """Lets no process of the same user look into this one or change it, and ends it with its parent (man 2 prctl)."""
    parent_death_signal, dumpable = 1, 4
    prctl = ctypes.CDLL(None).prctl
    prctl(parent_death_signal, signal.SIGKILL)
    prctl(dumpable, 0)


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[2:] not in ([], ["--if-any"], ["--problem"]):
        print("usage: python assay/_reference_host.py SOURCE FD [--if-any | --problem]", file=sys.stderr)
        return 2
    source, descriptor, *how = arguments
    _stand_apart()
    judge = socket.socket(fileno=os.dup(int(descriptor)))
    judge.set_inheritable(False)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), int(descriptor))  # a reference may read standard input
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends a reference in the middle, without a traceback
    if how == ["--if-any"] and not (_source.is_library(source) or _source.may_define_ops(source)):
        _send(judge, Writer().u8(True).text(_source.digest_of(source)).list([], None))
        return 0
    try:
        if how == ["--problem"]:
            path, digest, examined = source, *_problems(source)
        else:
            path = os.path.abspath(source)
            examined = _examined(source)
            digest = _source.digest_of(path)
    except _source.Refusal as why:
        _send(judge, Writer().u8(False).text(one_line(str(why))))
        return 0
    hello = Writer().u8(True).text(digest)
    hello.list(examined, lambda pair: _write_op(hello, *pair))
    if not _send(judge, hello):
        return 0
    ops = {definition.name: (definition, facts) for definition, facts in examined}
    while True:
        try:
            request = Reader.receive(judge)
        except (Ended, ConnectionError):
            return 0
        if not _send(judge, _answer(request, ops, path)):
            return 0


def _send(judge, writer):
    """Returns false where nobody listens any more."""
    try:
        writer.send(judge)
    except ConnectionError:
        return False
    return True


def _problems(source):
    """Returns the digest of a problem or of a folder of them, and their definitions."""
    try:
        from assay import _problem_op  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError as error:
        raise _lacks(error) from None
    digest = _problem_op.digest_of(source)
    return digest, _problem_op.ops_of(source)


def _lacks(error):
    return _source.Refusal(f"references need {_source.without_module(error)}")


def _examined(source):
    """Returns the definitions of a file, with the facts of each."""
    try:
        definitions = _defined_by(source)
        if not definitions:
            return []
        from assay import _probe  # pylint: disable=import-outside-toplevel
    except ModuleNotFoundError as error:
        raise _lacks(error) from None
    return [(definition, _probe.examine(definition, os.path.abspath(source))) for definition in definitions]


def _defined_by(source):
    if _source.is_library(source):
        from assay import _c_ops  # pylint: disable=import-outside-toplevel
        return _c_ops.load(source)
    _source.load(source)
    return assay._ops


def _write_op(writer, definition, facts):
    from assay._op import parameter_sizes  # pylint: disable=import-outside-toplevel
    writer.text(definition.name).text(_formula(definition, facts)).texts(definition.dtypes)
    writer.list(list(parameter_sizes(definition).items()), lambda item: _write_parameter(writer, *item))
    writer.list(definition.inputs, lambda one: writer.text(one.dtype).texts(one.extents).u8(KINDS.index(one.kind))
                .text(one.low).text(one.high))
    writer.list(facts.outputs, lambda one: writer.text(one.dtype).texts(one.extents))
    writer.text(facts.terms).u8(facts.is_ring).text(definition.arithmetic)
    writer.text(facts.rows).text(facts.refusal).text(_roundings_of(definition))


def _roundings_of(definition):
    """Returns how many roundings the author of a reference declares, where its steps are not traced; else nothing."""
    roundings = getattr(definition.function, "roundings", None)
    return "" if roundings is None else f"{roundings:g}"


def _write_parameter(writer, name, sizes):
    writer.text(name).list(sizes, lambda one: writer.i64(one[0]).u8(one[1]))


def _formula(definition, facts):
    """Returns "rms_norm(x[rows,cols], g[cols]) -> [rows,cols]: first line of the docstring"."""
    inputs = ", ".join(f"{name}[{','.join(tensor.extents)}]"
                       for name, tensor in zip(definition.arguments, definition.inputs))
    outputs = ", ".join(f"[{','.join(output.extents)}]" for output in facts.outputs)
    document = (definition.function.__doc__ or "").strip().partition("\n")[0]
    return one_line(f"{definition.name}({inputs}) -> {outputs}" + (f": {document}" if document else ""))


def _answer(request, ops, path):
    try:
        question = request.u8()
        definition, facts = ops[request.text()]
        if hasattr(definition.function, "load"):
            definition.function.load()
        if question == DRAW:
            return _drawn(definition, request.u64())
        dtype = request.text()
        sizes = dict(request.list(lambda: (request.text(), request.i64())))
        arithmetic, draws, seed = request.text(), request.u64(), request.u64()
        raw = request.list(lambda: request.raw(request.u64()))
        return _measured(definition, facts, dtype, sizes, raw, draws=draws, seed=seed, arithmetic=arithmetic)
    except Exception as error:  # pylint: disable=broad-except
        return Writer().u8(False).text(one_line(f"the reference fails: {text_of(error, path)}"))


def _drawn(definition, seed):
    writer = Writer().u8(True)
    for array in definition.function.draw(seed):
        writer.raw(array.reshape(-1))
    return writer


def _measured(definition, facts, dtype, sizes, raw, **effort):
    from assay import _arrays, _band, _shapes  # pylint: disable=import-outside-toplevel
    inputs = [_arrays.from_bytes(data, tensor.dtype or dtype, _shapes.shape_of(tensor.extents, sizes))
              for tensor, data in zip(definition.inputs, raw)]
    measured = _band.measure(definition, inputs, dtype=dtype, **effort)
    _check_same(definition, inputs, measured)
    if measured.opaque:
        raise ValueError(f"steps whose errors are not known: {', '.join(sorted(measured.opaque))}")
    shapes = [_shapes.shape_of(output.extents, sizes) for output in facts.outputs]
    found = [band.value.shape for band in measured.outputs]
    if found != shapes:
        raise ValueError(f"it returns the shapes {found} where {shapes} are expected: correct out= or fixed=")
    writer = Writer().u8(True)
    for band in measured.outputs:
        writer.u64(band.value.size)
        for array in _arrays.contiguous(band):
            writer.raw(array)
    return writer


def _check_same(definition, inputs, measured):
    """What is random at large sizes alone would widen its own band."""
    from assay import _band, _noise  # pylint: disable=import-outside-toplevel
    again = _band.tracer_of(definition.framework)(definition.function, inputs, _noise.Noise(quiet=True))
    for band, output in zip(measured.outputs, again):
        if not _band.agree(band.value, _band.value_of(output)):
            raise ValueError("it is not deterministic: it gives other numbers for the same inputs")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
