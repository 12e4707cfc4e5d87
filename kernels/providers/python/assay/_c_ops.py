"""Ops whose references are functions of a C library: the interface of assay_op.h by ctypes."""
import ctypes
import dataclasses
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_uint32, c_void_p

import numpy

from assay import _op, _shapes
from assay._failure import one_line
from assay._source import Refusal

VERSION = 1
FRAMEWORK = "c"
_GUARD = 16  # elements behind an output that a reference may not write
_MARK = numpy.uint64(0x7FF4A55A7EA55A5A)  # a NaN that no arithmetic makes: of elements that nobody wrote
_DTYPES = {"i64": numpy.int64, "i32": numpy.int32, "i8": numpy.int8, "u8": numpy.uint8}
_NAMES = {numpy.dtype(dtype): name for name, dtype in _DTYPES.items()}


class CParameter(Structure):
    _fields_ = [("name", c_char_p), ("sizes", POINTER(c_int64)), ("size_count", c_int32), ("is_fixed", c_int32)]


class CInput(Structure):
    _fields_ = [("shape", c_char_p), ("dtype", c_char_p), ("low", c_char_p), ("high", c_char_p)]


class COutput(Structure):
    _fields_ = [("shape", c_char_p), ("dtype", c_char_p)]


class CArray(Structure):
    _fields_ = [("data", c_void_p), ("dimensions", c_int32), ("shape", POINTER(c_int64)), ("dtype", c_char_p)]


REFERENCE = CFUNCTYPE(c_char_p, POINTER(CArray), POINTER(CArray))


class CDefinition(Structure):
    _fields_ = [("name", c_char_p), ("description", c_char_p), ("dtypes", c_char_p), ("parameters", POINTER(CParameter)),
                ("parameter_count", c_int32), ("input_count", c_int32), ("output_count", c_int32),
                ("inputs", POINTER(CInput)), ("outputs", POINTER(COutput)), ("roundings", c_double), ("terms", c_char_p),
                ("reference", REFERENCE)]


class CTable(Structure):
    _fields_ = [("version", c_uint32), ("ops", POINTER(CDefinition)), ("op_count", c_int32)]


def load(path):
    """Returns the Definitions of a library. Raises Refusal with the reason."""
    try:
        library = ctypes.CDLL(os.path.abspath(path))
    except OSError as error:
        raise Refusal(one_line(f"it cannot be loaded: {error}")) from None
    try:
        table_of = library.assay_ops
    except AttributeError:
        raise Refusal("it defines no op: it does not export assay_ops(); compile it with assay_op.h, in C++ within "
                      "extern \"C\"") from None
    table_of.restype = POINTER(CTable)
    table = table_of()
    if not table:
        raise Refusal("its assay_ops() returns NULL: return a table (assay_op.h)")
    table = table.contents
    if table.version != VERSION:
        raise Refusal(f"it is made for version {table.version} of assay_op.h, and this program has version {VERSION}: "
                      "compile it again with the header in its include folder")
    try:
        definitions = [_definition(table.ops[index]) for index in range(table.op_count)]
    except ValueError as error:
        raise Refusal(str(error)) from None
    if not definitions:
        raise Refusal("its table has no op (assay_op.h)")
    names = [one.name for one in definitions]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Refusal(f"op '{twice[0]}' is defined twice: give one of them another name")
    return definitions


def _definition(c):
    name = _text(c.name)
    inputs = tuple(_input(c.inputs[index]) for index in range(c.input_count))
    parameters = [c.parameters[index] for index in range(c.parameter_count)]
    outputs = [c.outputs[index] for index in range(c.output_count)]
    function = _Reference(c)
    definition = _op.define(
        function, name=name, inputs=inputs, dtypes=_text(c.dtypes) or "f32", framework=None, arithmetic="f32",
        sizes={_text(one.name): [one.sizes[index] for index in range(one.size_count)] for one in parameters},
        out=tuple(_text(one.shape) for one in outputs), terms=_text(c.terms) or "1",
        fixed=tuple(_text(one.name) for one in parameters if one.is_fixed), other_names={})
    definition = dataclasses.replace(definition, framework=FRAMEWORK)
    for one in outputs:
        if one.dtype is not None and _text(one.dtype) not in _DTYPES:
            raise ValueError(f"op '{name}': no output has the dtype '{_text(one.dtype)}'; choose among "
                             f"{', '.join(_DTYPES)}, or NULL for the case's")
    if not (0 <= c.roundings <= _op.MAX_SIZE):
        raise ValueError(f"op '{name}': roundings is {c.roundings}: give a number of at least 0")
    if not c.reference:
        raise ValueError(f"op '{name}': reference is NULL: give a function")
    function.attach(definition)
    return definition


def _text(of):
    return of.decode(errors="replace") if of is not None else ""


def _input(c):
    shape, dtype, low, high = (_text(one) for one in (c.shape, c.dtype, c.low, c.high))
    if (c.low is None) != (c.high is None):
        raise ValueError(f"the input '{shape}' has a low or a high end alone: give both, or neither")
    if c.low is None:
        return _op.Input(shape, dtype or None)
    if dtype in _op.INTEGERS:
        return _op.Input(shape, dtype, integers=tuple(int(one) if _op.is_number(one) else one for one in (low, high)))
    try:
        return _op.Input(shape, dtype or None, range=(float(low), float(high)))
    except ValueError:
        raise ValueError(f"the input '{shape}' goes from '{low}' to '{high}': give numbers") from None


class _Reference:
    """The C function as one of arrays."""

    def __init__(self, c):
        self.__doc__ = _text(c.description)
        self.roundings = c.roundings
        self._call = c.reference
        self._output_dtypes = [_DTYPES.get(_text(c.outputs[index].dtype), numpy.float64)
                               for index in range(c.output_count)]
        self._poison = 0

    def attach(self, definition):
        """Takes the shapes. Raises ValueError if inputs do not tell the sizes."""
        self._definition = definition
        self._places = {extent: (at, axis) for at, tensor in enumerate(definition.inputs)
                        for axis, extent in enumerate(tensor.extents)}
        for name in definition.sizes:
            if name not in self._places:
                raise ValueError(f"op '{definition.name}': no input has the extent '{name}' alone, so a reference in C "
                                 "does not learn it: give it an input of that shape")

    def terms_of(self, inputs):
        """Returns the length of the longest sum."""
        return max(1, _shapes.value_of(self._definition.terms, self._sizes(inputs)))

    def _sizes(self, inputs):
        places = ((name, self._places[name]) for name in self._definition.sizes)
        return {name: inputs[at].shape[axis] for name, (at, axis) in places}

    def __call__(self, *inputs):
        """Returns the outputs. Raises ValueError where the function fails, or writes too little or too much."""
        sizes = self._sizes(inputs)
        shapes = [_shapes.shape_of(extents, sizes) for extents in self._definition.out]
        inputs = [numpy.array(one, order="C") for one in inputs]  # which it may change
        self._poison ^= 0xFF  # an integer that nobody writes differs from run to run
        buffers = [_Buffer(shape, dtype, self._poison) for shape, dtype in zip(shapes, self._output_dtypes)]
        failure = self._call(_arrays(inputs), _arrays([buffer.array for buffer in buffers]))
        if failure is not None:
            raise ValueError(one_line(_text(failure)))
        for index, buffer in enumerate(buffers):
            buffer.check(f"output {index}")
        return [buffer.array for buffer in buffers]


class _Buffer:
    """Memory of one output, and a guard behind it."""

    def __init__(self, shape, dtype, poison):
        count = int(numpy.prod(shape, dtype=numpy.int64))
        self._all = numpy.empty(count + _GUARD, dtype)
        if self._all.dtype.kind == "f":
            self._all.view(numpy.uint64)[:] = _MARK
        else:
            self._all.view(numpy.uint8)[:] = poison
        self._guard = self._all[count:].tobytes()
        self.array = self._all[:count].reshape(shape)

    def check(self, name):
        """Raises ValueError for elements that nobody wrote, and for what was written past the end."""
        if self._all[self.array.size:].tobytes() != self._guard:
            raise ValueError(f"it writes past the end of {name}")
        if self._all.dtype.kind == "f":
            unwritten = int((self.array.view(numpy.uint64) == _MARK).sum()) if self.array.size else 0
            if unwritten:
                raise ValueError(f"it leaves {unwritten} of {self.array.size} elements of {name} unwritten")


def _arrays(arrays):
    described = (CArray * len(arrays))()
    for c, array in zip(described, arrays):
        c.data = array.ctypes.data
        c.dimensions = array.ndim
        c.shape = (c_int64 * max(1, array.ndim))(*array.shape)
        c.dtype = _NAMES.get(array.dtype, "f64").encode()
    return described
