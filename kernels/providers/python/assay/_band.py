"""Measures how far right results of a reference may lie from it: its spread in noisy arithmetic."""
from dataclasses import dataclass
from typing import List, Set

import numpy

from assay import _formats
from assay._noise import MAX, ROUNDOFF, Noise
from assay._numpy_sums import scale_of

DRAWS = 8
_ROOM = 8.0  # sigmas that a right result may be away
_MAX_WHOLE = 2.0 ** 22  # above it all numbers of f32 are whole, or nearly so
_PARTIAL_SUMS = 16.0  # times the result, or a part of it: so far may what is added up lie from the result
_TIES = 4  # runs in which equal inputs are told apart at random, besides two by their places
_SAME = 2.0 ** -40  # difference of two runs in f64, of the largest number
_HALF_OF_LEAST = 2.0 ** -150  # the rounding of a number that f32 takes for 0 or for its least one
_BESIDE_ZERO = 2.0 ** -140  # less than any number of f32, and than any difference of its numbers


@dataclass
class Band:
    """What one output may be."""
    value: numpy.ndarray  # of f64 or integers
    sigma: numpy.ndarray  # 0: the value, correctly rounded
    open: numpy.ndarray   # true: the reference cannot tell, anything is right


@dataclass
class Measured:
    """What the runs show."""
    outputs: List[Band]
    is_ring: bool
    opaque: Set[str]
    terms: int


def tracer_of(framework):
    """Returns the function that runs a reference of the framework in noisy arithmetic."""
    if framework == "torch":
        from assay._noise_torch import draw  # pylint: disable=import-outside-toplevel
    elif framework == "c":
        from assay._noise_perturbed import draw  # pylint: disable=import-outside-toplevel
    else:
        from assay._noise_numpy import draw  # pylint: disable=import-outside-toplevel
    return draw


def measure(definition, inputs, draws=DRAWS, seed=0, dtype="f32", arithmetic="f32"):
    """Runs the reference in f64, and `draws` times in noisy arithmetic.

    inputs      arrays of f64 or integers, in the order of the reference
    dtype       of the outputs that are no integers
    arithmetic  what a kernel may compute in, by _formats.py
    """
    draw = tracer_of(definition.framework)
    quiet = Noise(quiet=True)
    values = [value_of(output) for output in draw(definition.function, inputs, quiet)]
    spreads = [_Choices(value) if is_discrete(value) else _Spread(value) for value in values]
    opaque = set(quiet.opaque)
    only_moves = quiet.is_ring and quiet.primitives == 0  # all draws would be the same
    exact = only_moves or quiet.is_ring and all(_is_exact(array) for array in inputs)
    for index in range(0 if only_moves else draws):
        noise = Noise(seed * 1_000_003 + index, exact=exact, arithmetic=arithmetic, dtype=dtype)
        for spread, output in zip(spreads, draw(definition.function, inputs, noise)):
            spread.add(output)
        opaque |= noise.opaque
    if any(is_discrete(value) for value in values):
        choices = [(spread, at) for at, spread in enumerate(spreads) if isinstance(spread, _Choices)]
        for beside in _beside_zero(inputs):
            outputs = draw(definition.function, beside, Noise(quiet=True))
            for spread, at in choices:
                spread.decide_by_zero(outputs[at])
        for told_apart in _without_ties(inputs, seed):
            outputs = draw(definition.function, told_apart, Noise(quiet=True))
            for spread, at in choices:
                spread.add_order(outputs[at])
    bands = [spread.band(quiet.is_ring, exact, dtype) for spread in spreads]
    return Measured(bands, quiet.is_ring, opaque, quiet.terms)


def agree(one, two):
    """Says whether two runs in f64 gave the same, but for the order of their sums."""
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if is_discrete(one) or not one.size:
        return bool((one == two).all())
    with numpy.errstate(all="ignore"):
        size = numpy.max(numpy.abs(numpy.where(numpy.isfinite(one), one, 0.0)))
        same = (numpy.abs(one - two) <= _SAME * size) | (one == two) | numpy.isnan(one) & numpy.isnan(two)
        return bool(same.all())


def is_discrete(output):
    """Says whether the numbers are integers."""
    return output.dtype.kind in "iub"


def value_of(output):
    return output.astype(numpy.int64 if is_discrete(output) else numpy.float64, copy=False)


def _is_exact(array):
    """Says whether sums of few of the numbers are exact in any order. Of ordinary numbers they are so by chance: draws
    would agree where the reference's own order does not round, and another one does."""
    return is_discrete(array) or (scale_of(array) is not None
                                  and numpy.max(numpy.abs(array), initial=0.0) <= _MAX_WHOLE)


def _without_ties(inputs, seed):
    """Yields the inputs with equal numbers told apart by less than f32 can show: the order among them is free."""
    random = numpy.random.default_rng(seed)
    for index in range(2 + _TIES):
        yield [array if is_discrete(array) else _moved_apart(array, index, random) for array in inputs]


def _beside_zero(inputs):
    """Yields the inputs with all zeros moved alike: what changes compares with zero, and not equal numbers."""
    if any((array == 0).any() for array in inputs if not is_discrete(array)):
        for step in (_BESIDE_ZERO, -_BESIDE_ZERO):
            yield [array if is_discrete(array) else numpy.where(array == 0, step, array) for array in inputs]


def _moved_apart(array, index, random):
    if index < 2:
        steps = numpy.linspace(0.0, (1.0, -1.0)[index], array.size).reshape(array.shape)
    else:
        steps = random.random(array.shape)
    with numpy.errstate(all="ignore"):
        return array + steps * (2.0 ** -26 * numpy.abs(array) + _BESIDE_ZERO)


class _Choices:
    """Draws of integers: open where they differ."""

    def __init__(self, value):
        self._value = value
        self._open = numpy.zeros(value.shape, bool)
        self._by_zero = numpy.zeros(value.shape, bool)

    def add(self, output):
        self._open |= output != self._value

    def decide_by_zero(self, output):
        self._by_zero |= output != self._value

    def add_order(self, output):
        self._open |= (output != self._value) & ~self._by_zero

    def band(self, is_ring, exact, dtype):
        del is_ring, exact, dtype
        return Band(self._value, numpy.zeros(self._value.shape), self._open)


class _Spread:
    """Draws of floating-point numbers. They are added up as they come: outputs may be large."""

    def __init__(self, value):
        self._value = value
        self._squares = numpy.zeros(value.shape)
        self._count = 0
        self._agree = numpy.ones(value.shape, bool)
        self._finite = numpy.ones(value.shape, bool)  # in all draws
        self._dead = numpy.ones(value.shape, bool)  # NaN in all draws, or the same infinity

    def add(self, output):
        with numpy.errstate(all="ignore"):
            finite = numpy.isfinite(output)
            difference = output - self._value
            self._squares += numpy.where(finite, difference * difference, 0.0)
            self._count += 1
            self._agree &= output == self._value
            self._finite &= finite
            same = numpy.isnan(output) == numpy.isnan(self._value)
            same &= numpy.isnan(output) | (numpy.signbit(output) == numpy.signbit(self._value))
            self._dead &= ~finite & same

    def band(self, is_ring, exact, dtype):
        value = self._value
        limit = _formats.OF_DTYPE[dtype].largest
        with numpy.errstate(all="ignore"):
            held = numpy.isfinite(value) & (numpy.abs(value) <= MAX)
            alive = held & self._finite
            # Squares of tiny differences are 0.
            rounding = numpy.where(value == 0, 0.0, numpy.maximum(ROUNDOFF * numpy.abs(value), _HALF_OF_LEAST))
            sigma = numpy.asarray(numpy.maximum(numpy.sqrt(self._squares / max(self._count, 1)),
                                                rounding))  # a number, where it has no extent
            if exact:
                sigma[self._agree] = 0.0
            elif not is_ring:
                numpy.maximum(sigma, ROUNDOFF * _row_rms(value, alive), out=sigma)
            sigma = numpy.where(alive, sigma, 0.0)
            # Near the largest number of the dtype a right result may be infinite or not. Beyond it, it is infinite. Near
            # that of f32 its sums may overflow on the way, and to NaN, in another order.
            magnitude, room = numpy.abs(value), _ROOM * sigma
            overflows = (magnitude > MAX / _PARTIAL_SUMS) & (magnitude < MAX * _PARTIAL_SUMS) & (~alive | (sigma > 0))
            border = limit + _half_ulp_at(limit, dtype)
            doubtful = alive & (sigma > 0) & (magnitude + room >= border)
            beyond = doubtful & (magnitude - room >= border)
            sigma[beyond] = 0.0
        return Band(value, sigma, ~alive & ~(self._dead & ~held) | doubtful & ~beyond | overflows)


def _row_rms(value, alive):
    """Returns the rms of the row of each number."""
    finite = numpy.where(alive, value, 0.0)
    if not value.ndim:
        return numpy.abs(finite)
    counts = numpy.maximum(alive.sum(-1, keepdims=True), 1)
    largest = numpy.max(numpy.abs(finite), axis=-1, keepdims=True, initial=0.0)
    scaled = finite / numpy.where(largest > 0, largest, 1.0)  # squares of large numbers overflow
    return largest * numpy.sqrt((scaled * scaled).sum(-1, keepdims=True) / counts)


def _half_ulp_at(limit, dtype):
    return 2.0 ** (numpy.frexp(limit)[1] - _formats.OF_DTYPE[dtype].digits) / 2
