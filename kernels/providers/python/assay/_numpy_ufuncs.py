"""NumPy's ufuncs in noisy arithmetic, on plain arrays."""
import math

import numpy

from assay._numpy_sums import contraction


def _ufuncs(names):
    return {getattr(numpy, name) for name in names.split() if hasattr(numpy, name)}


_MOVES = _ufuncs(
    "negative positive absolute fabs sign maximum minimum fmax fmin floor ceil trunc rint copysign conjugate signbit "
    "heaviside ldexp frexp modf spacing nextafter isnan isinf isfinite isnat greater greater_equal less less_equal "
    "equal not_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert "
    "left_shift right_shift gcd lcm")
_CLIP = "clip"  # NumPy shows this ufunc under no name
_STEPS_OF_QUOTIENTS = _ufuncs("floor_divide remainder fmod divmod")
_ROUNDED = _ufuncs("add subtract multiply square")
_QUOTIENTS = _ufuncs("true_divide sqrt reciprocal deg2rad rad2deg degrees radians")
_FUNCTIONS = _ufuncs(
    "exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 sin cos tan arcsin arccos arctan arctan2 hypot sinh cosh "
    "tanh arcsinh arccosh arctanh power float_power cbrt")
_OTHER_FUNCTIONS = set(  # of scipy.special, by name
    "erf erfc erfcx erfinv erfcinv expit logit log_expit log_ndtr ndtr ndtri gamma gammaln loggamma psi digamma beta "
    "betaln xlogy xlog1py log1p expm1 exprel cosm1 i0 i0e i1 i1e j0 j1 k0 k1 entr rel_entr kl_div huber "
    "pseudo_huber cbrt exp2 exp10 sinc boxcox".split())


def call(noise, ufunc, inputs, options):
    """Returns what the ufunc gives, an array or a tuple of arrays."""
    if ufunc.signature is not None:  # matmul and its like
        operands = [numpy.asarray(one) for one in inputs]
        terms = _length(operands[0], options["axes"][0][-1] if "axes" in options else -1)
        return contraction(noise, lambda *two: ufunc(*two, **options), operands, terms)
    if ufunc in _ROUNDED or ufunc in _QUOTIENTS:
        noise.is_ring = noise.is_ring and ufunc not in _QUOTIENTS
        result = numpy.asarray(ufunc(*inputs, **options))
        if result.dtype.kind == "c":
            result = noise.relative(result, 1.0)  # the parts of a complex product cancel
        return noise.rounded(_of_numbers(result))
    if ufunc in _MOVES or ufunc.__name__ == _CLIP or ufunc in _STEPS_OF_QUOTIENTS:
        result = ufunc(*inputs, **options)
        if ufunc in _STEPS_OF_QUOTIENTS and not _is_whole(result):
            noise.is_ring = False
        return _magnitude(noise, numpy.asarray(result)) if ufunc is numpy.absolute and _is_complex(inputs) else result
    return _function(noise, ufunc, inputs, options)


def _function(noise, ufunc, inputs, options):
    """A function of each element, known or not."""
    if ufunc in _FUNCTIONS and _is_whole(ufunc(*[numpy.asarray(one).ravel()[:0] for one in inputs])):
        return ufunc(*inputs, **options)  # a power of whole numbers
    noise.is_ring = False
    name = ufunc.__name__
    if ufunc not in _FUNCTIONS and name not in _OTHER_FUNCTIONS and not name.endswith("(vectorized)"):
        noise.does_not_know(name)
    moved = [noise.relative(_of_numbers(one), 1.0) if isinstance(one, numpy.ndarray) else one for one in inputs]
    result = ufunc(*moved, **options)
    if isinstance(result, tuple):
        return tuple(noise.rounded(noise.relative(_of_numbers(numpy.asarray(one)), noise.B)) for one in result)
    return noise.rounded(noise.relative(_of_numbers(numpy.asarray(result)), noise.B))


def _magnitude(noise, result):
    noise.is_ring = False
    return noise.rounded(result)


def _of_numbers(array):
    """Returns numbers for objects, which numpy.vectorize and numpy.frompyfunc make."""
    if array.dtype.kind != "O":
        return array
    try:
        return array.astype(numpy.float64)
    except (TypeError, ValueError):
        return array


def _is_complex(inputs):
    return any(isinstance(one, numpy.ndarray) and one.dtype.kind == "c" for one in inputs)


def _is_whole(result):
    return all(numpy.asarray(one).dtype.kind in "iub" for one in (result if isinstance(result, tuple) else (result,)))


def _length(array, axis):
    return array.shape[axis] if array.ndim else 1


def _in_dtype(array, options):
    """Returns the array in the dtype that it is added up in."""
    dtype = options.get("dtype")
    return numpy.asarray(array) if dtype is None else numpy.asarray(array).astype(dtype, copy=False)


def reduce(noise, ufunc, array, options):
    """ufunc.reduce"""
    array, axis = _in_dtype(array, options), options.get("axis", 0)
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    terms = math.prod(array.shape[one] for one in axes) if array.ndim else 1
    return _folded(noise, ufunc, lambda one: ufunc.reduce(one, **options), array, terms)


def accumulate(noise, ufunc, array, options):
    """ufunc.accumulate"""
    array = _in_dtype(array, options)
    axis = options.get("axis", 0)
    extent = _length(array, axis)
    steps = numpy.arange(1.0, extent + 1.0).reshape((-1,) + (1,) * (array.ndim - 1 - axis % array.ndim))
    return _folded(noise, ufunc, lambda one: ufunc.accumulate(one, **options), array, extent, steps)


def reduceat(noise, ufunc, array, indices, options):
    """ufunc.reduceat: the longest part counts as the terms of all"""
    array, indices = numpy.asarray(array), numpy.asarray(indices)
    extent = _length(array, options.get("axis", 0))
    bounds = numpy.append(indices, extent)
    terms = int(max(numpy.max(numpy.diff(bounds), initial=1), 1))
    return _folded(noise, ufunc, lambda one: ufunc.reduceat(one, indices, **options), array, terms)


def _folded(noise, ufunc, function, array, terms, steps=None):
    if array.dtype.kind not in "fc" or ufunc in _MOVES:
        return function(array)
    if ufunc is numpy.add:
        return contraction(noise, function, [array], terms, steps)
    if ufunc is numpy.multiply:
        return noise.rounded(numpy.asarray(function(noise.relative(array, 1.0))))
    if ufunc is not numpy.subtract:
        noise.is_ring = False
    if ufunc not in _FUNCTIONS and ufunc is not numpy.subtract:
        noise.does_not_know(ufunc.__name__)
    noisy = numpy.asarray(function(noise.relative(array, terms ** 0.5)))
    return noise.rounded(noise.relative(noisy, (terms if steps is None else steps) ** 0.5))


def outer(noise, ufunc, inputs, options):
    """ufunc.outer"""
    left, right = (numpy.asarray(one) for one in inputs)
    return call(noise, ufunc, [left.reshape(left.shape + (1,) * right.ndim), right], options)


def at(noise, ufunc, target, indices, *values):
    """ufunc.at, in place"""
    noise.primitives += 1
    if target.dtype.kind not in "fc" or ufunc in _MOVES:
        ufunc.at(target, indices, *values)
    elif ufunc in (numpy.add, numpy.subtract):
        _scatter(noise, target, indices, numpy.asarray(values[0]) if ufunc is numpy.add else -numpy.asarray(values[0]))
    elif ufunc is numpy.multiply:
        ufunc.at(target, indices, noise.relative(numpy.asarray(values[0]), 1.0))
        target[...] = noise.rounded(target)
    else:
        noise.is_ring = False
        if ufunc not in _FUNCTIONS and ufunc not in _QUOTIENTS:
            noise.does_not_know(ufunc.__name__)
        ufunc.at(target, indices, *values)
        target[indices] = noise.rounded(noise.relative(numpy.asarray(target[indices]), noise.B))


def _scatter(noise, target, indices, values):
    """Adds values in place. Each element is a sum of its old number and of those that meet it."""
    terms = numpy.ones(target.shape)
    numpy.add.at(terms, indices, 1.0)

    def scattered(old, new):
        result = numpy.array(old)
        numpy.add.at(result, indices, new)
        return result

    full = numpy.broadcast_to(values, target[indices].shape)
    sums = contraction(noise, scattered, [target, full], float(numpy.max(terms, initial=1.0)), terms)
    numpy.copyto(target, sums, where=terms > 1)
