"""Sums of products in noisy arithmetic, on plain arrays."""
import numpy

from assay._noise import ROUNDOFF

_FIRST = 64
_SCALES = (1.0, 2.0 ** 4, 2.0 ** 8)  # of whole numbers, and of those with four or eight bits behind the point


def contraction(noise, function, operands, terms, steps=None):
    """Returns function(*operands), which adds `terms` products of one number of each operand for each result.

    steps  terms of each result, where they differ
    """
    noise.sums(terms)
    if noise.quiet:
        return noise.rounded(numpy.asarray(function(*operands)))
    if len(operands) > 1:
        operands = [noise.factors(operand) for operand in operands]
    if noise.exact and _is_exact(function, operands):
        return noise.rounded(numpy.asarray(function(*operands)))
    real = sum(operand.dtype.kind in "fc" for operand in operands)
    each = (terms / 6 / max(real, 1)) ** 0.5
    result = numpy.asarray(function(*[noise.relative(operand, each) for operand in operands]))
    chain = numpy.sqrt((terms if steps is None else steps) / 3)
    return noise.rounded(noise.relative(result, chain))


def _is_exact(function, operands):
    """Says whether no order of the sum can round: terms are multiples of one unit, and add up to less than 2^24 of
    it in magnitude."""
    unit = 1.0
    for operand in operands:
        if operand.dtype.kind not in "fiub":
            return False
        scale = scale_of(operand)
        if scale is None:
            return False
        unit /= scale
    magnitudes = function(*[numpy.abs(numpy.asarray(operand, numpy.float64)) for operand in operands])
    return bool(numpy.max(magnitudes, initial=0.0) * ROUNDOFF <= unit)


def scale_of(values):
    """Returns the factor that makes whole numbers of them, or None."""
    if values.dtype.kind != "f":
        return 1.0
    head = values.ravel()[:_FIRST] if values.flags.contiguous else values.flat[:_FIRST]
    for scale in _SCALES:
        if _whole(head * scale) and (values.size <= _FIRST or _whole(values * scale)):
            return scale
    return None


def _whole(values):
    return bool((numpy.rint(values) == values).all())
