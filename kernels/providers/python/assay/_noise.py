"""Monte-Carlo arithmetic: which noise a step of a reference gets, four times that of f32, or of what is allowed.

    step        noise                                                      record
    move        none: copies, comparisons, maxima, sorts
    rounding    A/2 ulp of f32 either way: + - * / sqrt                    / and sqrt leave the ring
    function    A roundoffs of the argument, A*B of the result, rounding   leaves the ring
    sum         of K terms: A*sqrt(K/6) roundoffs a term, A*sqrt(K/3) the result, rounding
    product     A roundoffs a factor, rounding
    factor      of sums of products: A/2 ulp of a format of fewer bits either way, where one is allowed (_formats.py)
    unknown     A*sqrt(size) roundoffs of what goes in and of what comes out; named in `opaque`

The squares of the partial sums of K terms in a random order add up to K/3 of the square of the sum and K/6 of the sum
of squares. Values that f32 holds stay as they are, and so do sums of whole numbers that no order can round: exact
data get no noise without being declared so. A trace of + - * and moves is a ring.
"""
import math

import numpy

from assay import _formats

ROUNDOFF = 2.0 ** -24
MAX = _formats.F32.largest
_EXPONENT_BITS = numpy.uint64(0x7FF0000000000000)
_BLOCK = 1 << 14
_POOL = 2.0 * numpy.random.default_rng(0).random(1 << 20) - 1.0


def ulp(values, form=_formats.F32):
    """Returns the distance of neighbours in the format at these numbers of f64."""
    exponents = (numpy.ascontiguousarray(values).view(numpy.uint64) & _EXPONENT_BITS).view(numpy.float64)
    numpy.maximum(exponents, form.smallest, out=exponents)
    exponents *= 2.0 ** (1 - form.digits)
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

    quiet       no noise: the run gives the reference in f64 and the records
    exact       the trace is a ring: inputs stay as they are, and so do sums that no order can round
    arithmetic  the allowed one, on tensors of the dtype
    """

    def __init__(self, seed=0, A=4.0, B=4.0, quiet=False, exact=True,  # pylint: disable=invalid-name
                 arithmetic="f32", dtype="f32"):
        self.seed, self.A, self.B, self.quiet, self.exact = seed, A, B, quiet, exact
        self.stored = _formats.stored(arithmetic, dtype)
        self.factor = _formats.factor(arithmetic, dtype)
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
        """Returns the result of a step, rounded at random to the format of results."""
        self.primitives += 1
        if values.dtype.kind == "c":
            return values if self.quiet else self._rounded(values.real) + 1j * self._rounded(values.imag)
        if values.dtype.kind != "f":
            return values
        values = numpy.asarray(values, numpy.float64)
        return values if self.quiet else self._rounded(values)

    def _rounded(self, values):
        return _by_blocks(values, lambda block, result: self._round(block, result, self.stored, 0.0))

    def factors(self, values):
        """Returns factors of products as the format of factors may hold them."""
        if self.quiet or self.factor == _formats.F32 or values.dtype.kind != "f":
            return values
        shift = self.A / 2 * self.uniform((1,))[0] if self.factor.may_truncate else 0.0
        return _by_blocks(values, lambda block, result: self._round(block, result, self.factor, shift))

    def _round(self, values, result, form, shift):
        """Rounds to the format, up to A/2 ulp to either side, and by as much towards zero or away, all alike."""
        quantum = ulp(values, form)
        scaled = values / quantum
        numpy.multiply(self.uniform(values.shape), self.A / 2, out=result)
        if shift:
            result += numpy.copysign(shift, scaled)
        result += scaled
        numpy.rint(result, out=result)
        result *= quantum
        numpy.copyto(result, values, where=~(numpy.abs(numpy.rint(scaled) - scaled) > form.near(self.A)))
        if not (result.max() <= form.largest and result.min() >= -form.largest):  # NaN, too
            numpy.copyto(result, numpy.copysign(numpy.inf, result), where=numpy.abs(result) > form.largest)

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
