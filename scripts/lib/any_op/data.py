"""Inputs of a trial: the user's family, and those that the rule adds."""
import zlib

import numpy as np

from any_op.formats import OF_DTYPE, nearest
from assay import _op, _shapes

MEAN = {"f32": 2.0 ** 10, "bf16": 2.0 ** 4, "f16": 2.0 ** 6}  # of "offset": leaves bits to the rest
FAMILIES = ("user", "integers", "x64", "x2^-10", "offset", "needles")


def draw(definition, family, seed, dtype):
    """Returns the inputs as NumPy arrays: floats in f64 that the dtype holds, or integers."""
    sizes = wanted_sizes(definition)
    random = np.random.default_rng([seed, zlib.crc32(definition.name.encode())])
    inputs = [_tensor(one, sizes, random) for one in definition.inputs]
    floats = [k for k, one in enumerate(inputs) if one.dtype.kind == "f"]
    first = floats[0]  # the activation
    if family == "integers":
        for k in floats:
            inputs[k] = random.integers(-4, 4, inputs[k].shape, endpoint=True).astype(np.float64)
    elif family == "x64":
        inputs[first] = inputs[first] * 64
    elif family == "x2^-10":
        inputs[first] = inputs[first] * 2.0 ** -10
    elif family == "offset":
        inputs[first] = inputs[first] + MEAN[dtype]
    elif family == "needles":
        _lay_needles(inputs[first], random)
    return [nearest(one, OF_DTYPE[dtype]) if one.dtype.kind == "f" else one for one in inputs]


def _lay_needles(numbers, random):
    """Puts one large number into each line along each axis, at its ends and about its middle by turns."""
    for axis, extent in enumerate(numbers.shape):
        if extent < 12:
            continue
        lines = np.moveaxis(numbers, axis, 0).reshape(extent, -1)
        places = np.array([extent - 1, 0, extent - 2, 1, extent // 2])[np.arange(lines.shape[1]) % 5]
        signs = np.where(np.arange(lines.shape[1]) // 5 % 2, -1.0, 1.0)
        lines[places, np.arange(lines.shape[1])] = signs * random.uniform(8, 12, lines.shape[1])
        numbers[...] = np.moveaxis(lines.reshape(np.moveaxis(numbers, axis, 0).shape), 0, axis)


def wanted_sizes(definition):
    """The smallest size that each name was given."""
    return {name: wanted[0] for name, wanted in definition.sizes.items()}


def _tensor(tensor, sizes, random):
    shape = _shapes.shape_of(tensor.extents, sizes)
    if tensor.kind == "integers":
        low, high = (int(limit) if _op.is_number(limit) else _shapes.value_of(limit, sizes)
                     for limit in (tensor.low, tensor.high))
        return random.integers(low, high, shape, endpoint=True)
    if tensor.kind == "uniform":
        return random.uniform(float(tensor.low), float(tensor.high), shape)
    return random.standard_normal(shape)
