"""Monte-Carlo arithmetic: which noise a step of a reference gets, four times that of f32.

    step        noise                                                      record
    move        none: copies, comparisons, maxima, sorts
    rounding    A/2 ulp of f32 either way: + - * / sqrt                    / and sqrt leave the ring
    function    A roundoffs of the argument, A*B of the result, rounding   leaves the ring
    sum         of K terms: A*sqrt(K/6) roundoffs a term, A*sqrt(K/3) the result, rounding
    product     A roundoffs a factor, rounding
    unknown     A*sqrt(size) roundoffs of what goes in and of what comes out; named in `opaque`

The squares of the partial sums of K terms in a random order add up to K/3 of the square of the sum and K/6 of the sum
of squares. Values that f32 holds stay as they are, and so do sums of whole numbers that no order can round: exact
data get no noise without being declared so. A trace of + - * and moves is a ring.
"""
import math

import numpy

ROUNDOFF = 2.0 ** -24
MAX = float(numpy.finfo(numpy.float32).max)
_DIGITS = 24
_SMALLEST_NORMAL = 2.0 ** -126
_EXPONENT_BITS = numpy.uint64(0x7FF0000000000000)
_BLOCK = 1 << 14
_POOL = 2.0 * numpy.random.default_rng(0).random(1 << 20) - 1.0


def ulp(values):
    """Returns the distance of neighbours in f32 at these numbers of f64."""
    exponents = (numpy.ascontiguousarray(values).view(numpy.uint64) & _EXPONENT_BITS).view(numpy.float64)
    numpy.maximum(exponents, _SMALLEST_NORMAL, out=exponents)
    exponents *= 2.0 ** (1 - _DIGITS)
    return exponents.reshape(numpy.shape(values))


def _by_blocks(values, function):
    """Returns what function(values, result) writes, by blocks that fit the cache."""
    flat = numpy.ascontiguousarray(values, numpy.float64).reshape(-1)
    result = numpy.empty(flat.shape)
    with numpy.errstate(all="ignore"):
        for begin in range(0, len(flat), _BLOCK):
            function(flat[begin:begin + _BLOCK], result[begin:begin + _BLOCK])
    return result.reshape(numpy.shape(values))


class Noise:
    """The noise of one run of a reference, and what the run shows of the reference.

    quiet  no noise: the run gives the reference in f64 and the records
    exact  the trace is a ring: inputs stay as they are, and so do sums that no order can round
    """

    def __init__(self, seed=0, A=4.0, B=4.0, quiet=False, exact=True):  # pylint: disable=invalid-name
        self.seed, self.A, self.B, self.quiet, self.exact = seed, A, B, quiet, exact
        self.is_ring = True
        self.opaque = set()
        self.terms = 0
        self.primitives = 0
        self._random = numpy.random.default_rng(seed)

    def uniform(self, shape):
        """Returns numbers in [-1, 1): a random part of a pool, which is faster than new ones."""
        count = math.prod(shape)
        if count > len(_POOL) // 2:
            return 2.0 * self._random.random(shape) - 1.0
        begin = int(self._random.integers(0, len(_POOL) - count))
        return _POOL[begin:begin + count].reshape(shape)

    def rounded(self, values):
        """Returns the result of a step, rounded to f32 at random."""
        self.primitives += 1
        if values.dtype.kind == "c":
            return values if self.quiet else self._rounded(values.real) + 1j * self._rounded(values.imag)
        if values.dtype.kind != "f":
            return values
        values = numpy.asarray(values, numpy.float64)
        return values if self.quiet else self._rounded(values)

    def _rounded(self, values):
        return _by_blocks(values, self._round)

    def _round(self, values, result):
        quantum = ulp(values)
        scaled = values / quantum
        numpy.multiply(self.uniform(values.shape), self.A / 2, out=result)
        result += scaled
        numpy.rint(result, out=result)
        result *= quantum
        numpy.copyto(result, values, where=(numpy.rint(scaled) == scaled) | ~numpy.isfinite(values))
        if not (result.max() <= MAX and result.min() >= -MAX):  # NaN, too
            numpy.copyto(result, numpy.copysign(numpy.inf, result), where=numpy.abs(result) > MAX)

    def relative(self, values, roundoffs):
        """Returns the numbers, each moved by up to A times so many roundoffs of its size."""
        if self.quiet or values.dtype.kind not in "fc":
            return values
        size = self.A * ROUNDOFF * roundoffs
        if values.dtype.kind == "c":
            with numpy.errstate(all="ignore"):
                either = self.uniform(values.shape) + 1j * self.uniform(values.shape)
                return values + numpy.abs(values) * (size * either)
        if numpy.ndim(size):
            with numpy.errstate(all="ignore"):
                return numpy.asarray(values * (1.0 + size * self.uniform(values.shape)))

        def move(block, result):
            numpy.multiply(self.uniform(block.shape), size, out=result)
            result += 1.0
            result *= block

        return _by_blocks(values, move)

    def moved(self, inputs):
        """Returns the inputs of the run: of a reference that is no ring, nearly the same ones."""
        if self.quiet or self.exact:
            return list(inputs)
        return [self.relative(one, 1.0) for one in inputs]

    def sums(self, terms):
        """Records sums of so many terms."""
        self.terms = max(self.terms, int(terms))

    def does_not_know(self, name):
        """Records a step whose noise is a guess."""
        self.opaque.add(name)
        self.is_ring = False
