"""Runs a reference in plain NumPy in noisy arithmetic: on arrays of a class whose every step is traced."""
import contextlib
import functools

import numpy

from assay import _numpy_functions as functions
from assay import _numpy_ufuncs as ufuncs

# Functions that make arrays from nothing, or drop the class of an array. They are replaced for the time of a run.
_CREATORS = ("array asarray asanyarray ascontiguousarray asfortranarray zeros ones empty full arange eye identity tri "
             "linspace logspace geomspace").split()
_OF_ARRAYS = frozenset(_CREATORS[:5])  # their second parameter is the dtype


class _Run:
    """The run in force."""
    noise = None
    depth = 0  # above 0 within a step: NumPy's own arrays stay plain there


@contextlib.contextmanager
def _step():
    _Run.depth += 1
    try:
        with numpy.errstate(all="ignore"):
            yield _Run.noise
    finally:
        _Run.depth -= 1


def _plain(value):
    if isinstance(value, Traced):
        return value.view(numpy.ndarray)
    if type(value) in (tuple, list):  # pylint: disable=unidiomatic-typecheck
        return type(value)(_plain(one) for one in value)
    if type(value) is dict:  # pylint: disable=unidiomatic-typecheck
        return {key: _plain(one) for key, one in value.items()}
    return value


def _traced(value):
    if type(value) in (tuple, list):  # pylint: disable=unidiomatic-typecheck
        return type(value)(_traced(one) for one in value)
    if isinstance(value, (numpy.floating, numpy.complexfloating)):
        value = value[...]
    if not isinstance(value, numpy.ndarray):
        return value
    wide = {"f": numpy.float64, "c": numpy.complex128}.get(value.dtype.kind)
    if wide is not None and value.dtype != wide:
        value = value.astype(wide)  # what follows is the reference in f64
    return value.view(Traced)


def _is_narrow(dtype):
    """Says whether a cast to it would leave f64 for the working format. f16 is a step that the reference means."""
    try:
        return dtype is not None and numpy.dtype(dtype) == numpy.float32
    except TypeError:
        return False


def _without_narrow_dtype(options):
    if _is_narrow(options.get("dtype")):
        return {**options, "dtype": numpy.float64}
    return options


class Traced(numpy.ndarray):
    """An array of a reference. Numbers of f64 or integers."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        options = {key: _plain(one) for key, one in _without_narrow_dtype(options).items()}
        options.pop("casting", None)
        inputs = [_plain(one) for one in inputs]
        with _step() as noise:
            result = self._result(noise, ufunc, method, inputs, options)
            if out is None or method == "at":
                return _traced(result)
            results = result if isinstance(result, tuple) else (result,)
            for target, one in zip(out, results):
                if target is not None:
                    numpy.copyto(_plain(target), one, casting="unsafe", where=options.get("where", True))
        stored = tuple(_traced(one) if target is None else target for target, one in zip(out, results))
        return stored if len(stored) > 1 else stored[0]

    @staticmethod
    def _result(noise, ufunc, method, inputs, options):
        if method == "__call__":
            return ufuncs.call(noise, ufunc, inputs, options)
        if method == "at":
            return ufuncs.at(noise, ufunc, *inputs)
        if method == "outer":
            return ufuncs.outer(noise, ufunc, inputs, options)
        array, *rest = inputs
        if method == "reduceat":
            indices, *rest = rest
            options = {**options, **dict(zip(("axis", "dtype"), rest))}
            return ufuncs.reduceat(noise, ufunc, array, indices, _without_narrow_dtype(options))
        # C code of NumPy passes a place for the result, too.
        options = {**options, **dict(zip(("axis", "dtype"), rest))}
        options = _without_narrow_dtype(options)
        return (ufuncs.reduce if method == "reduce" else ufuncs.accumulate)(noise, ufunc, array, options)

    def __array_function__(self, func, types, args, kwargs):
        name = func.__name__
        if name in functions.COMPOSITES and _Run.depth == 0:
            return super().__array_function__(func, types, args, _without_narrow_dtype(kwargs))
        arguments, options = _plain(tuple(args)), _plain(_without_narrow_dtype(dict(kwargs)))
        out = options.get("out") if name in functions.KNOWN else None
        with _step() as noise:
            if name in functions.KNOWN:
                result = functions.KNOWN[name](noise, *arguments, **options)
            elif name in functions.MOVES or name in functions.COMPOSITES:
                result = func(*arguments, **options)
            elif (func.__module__ or "").startswith("numpy.fft"):
                result = functions.transform(noise, func, *arguments, **options)
            else:
                result = functions.unknown(noise, name, func, arguments, options)
            if out is not None:
                numpy.copyto(out, result, casting="unsafe")
                return kwargs["out"]
        return _traced(result)

    def __getitem__(self, index):
        return _traced(super().__getitem__(index))

    def __setitem__(self, index, value):
        self.view(numpy.ndarray)[_plain(index)] = _plain(value)

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __float__(self):
        _leaves_the_trace("float()")
        return float(self.view(numpy.ndarray))

    def __complex__(self):
        _leaves_the_trace("complex()")
        return complex(self.view(numpy.ndarray))

    def item(self, *index):
        if self.dtype.kind in "fc":
            _leaves_the_trace("item()")
        return self.view(numpy.ndarray).item(*index)

    def tolist(self):
        if self.dtype.kind in "fc":
            _leaves_the_trace("tolist()")
        return self.view(numpy.ndarray).tolist()

    def astype(self, dtype, *others, **options):
        dtype = numpy.float64 if _is_narrow(dtype) else dtype
        return _traced(self.view(numpy.ndarray).astype(dtype, *others, **options))

    # NumPy computes these in C, without a call of what it could trace.
    def dot(self, b, out=None):
        return numpy.dot(self, b, out=out)

    def cumsum(self, axis=None, dtype=None, out=None):
        return numpy.cumsum(self, axis=axis, dtype=dtype, out=out)

    def cumprod(self, axis=None, dtype=None, out=None):
        return numpy.cumprod(self, axis=axis, dtype=dtype, out=out)

    def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
        return numpy.sum(numpy.diagonal(self, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)

    def round(self, decimals=0, out=None):
        if decimals == 0:
            return numpy.rint(self, out=out)
        return numpy.divide(numpy.rint(self * 10.0 ** decimals), 10.0 ** decimals, out=out)

    def clip(self, min=None, max=None, out=None):  # pylint: disable=redefined-builtin
        return numpy.clip(self, min, max, out=out)


def _leaves_the_trace(name):
    """Records that what follows on plain numbers gets no noise."""
    if _Run.depth == 0 and _Run.noise is not None:
        _Run.noise.does_not_know(name)


def _creator(name, original):
    def create(*arguments, **options):
        if _Run.depth:
            return original(*arguments, **options)
        options = _without_narrow_dtype(options)
        if name in _OF_ARRAYS and len(arguments) > 1 and _is_narrow(arguments[1]):
            arguments = (arguments[0], numpy.float64, *arguments[2:])
        with _step():
            return _traced(original(*_plain(arguments), **_plain(options)))

    return functools.wraps(original)(create)


@contextlib.contextmanager
def _tracing(noise):
    originals = {name: getattr(numpy, name) for name in _CREATORS}
    _Run.noise, _Run.depth = noise, 0
    for name, original in originals.items():
        setattr(numpy, name, _creator(name, original))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(numpy, name, original)
        _Run.noise = None


def draw(function, inputs, noise):
    """Runs the reference once. Returns its outputs as a tuple of arrays, of f64 or integers.

    inputs  arrays of f64 or integers. The reference gets read-only views of them
    """
    arguments = []
    for array in noise.moved(inputs):
        view = numpy.asarray(array).view(Traced)
        view.flags.writeable = False
        arguments.append(view)
    with _tracing(noise):
        result = function(*arguments)
    outputs = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    for one in outputs:
        if isinstance(one, float) or isinstance(one, numpy.ndarray) and not isinstance(one, Traced):
            noise.does_not_know("arrays that the trace does not see")
    return tuple(numpy.asarray(_plain(one)) for one in outputs)
