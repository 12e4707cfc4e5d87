"""NumPy's functions other than ufuncs in noisy arithmetic, on plain arrays."""
import math
import string

import numpy

from assay._numpy_sums import contraction

# Steps that compute nothing.
MOVES = frozenset(
    "all allclose alltrue amax amin any append argmax argmin argpartition argsort argwhere array_equal array_equiv "
    "array_split atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to can_cast choose clip "
    "column_stack common_type compress concatenate copy copyto count_nonzero delete diag diag_indices_from diagflat "
    "diagonal digitize dsplit dstack empty_like expand_dims extract fill_diagonal fix flatnonzero flip fliplr flipud "
    "full_like hsplit hstack in1d imag insert intersect1d iscomplex iscomplexobj isclose isin isneginf isposinf "
    "isreal isrealobj ix_ lexsort max may_share_memory meshgrid min min_scalar_type moveaxis nan_to_num nanargmax "
    "nanargmin nanmax nanmin ndim nonzero ones_like pad partition permute_dims place put put_along_axis putmask ravel "
    "ravel_multi_index real real_if_close repeat require reshape resize result_type roll rollaxis rot90 row_stack "
    "searchsorted select setdiff1d setxor1d shape shares_memory sliding_window_view size sometrue sort sort_complex "
    "split squeeze stack swapaxes take take_along_axis tile transpose tril tril_indices_from trim_zeros triu "
    "triu_indices_from union1d unique unravel_index vsplit vstack where zeros_like fftshift ifftshift "
    "as_strided".split())

# NumPy writes them in its own ufuncs and functions, which are traced one by one.
COMPOSITES = frozenset(
    "angle apply_along_axis apply_over_axes around average diff ediff1d gradient kron mean median multi_dot "
    "matrix_power nancumprod nancumsum nanmean nanmedian nanpercentile nanprod nanquantile nanstd nansum nanvar "
    "percentile piecewise polyval prod product ptp quantile round round_ sinc std sum trace trapz trapezoid unwrap "
    "var".split())


def _axis_length(array, axis):
    return array.size if axis is None else array.shape[axis] if array.ndim else 1


def _dot(noise, left, right, out=None):
    del out  # stored by the caller
    left, right = numpy.asarray(left), numpy.asarray(right)
    return contraction(noise, numpy.dot, [left, right], left.shape[-1] if left.ndim and right.ndim else 1)


def _inner(noise, left, right):
    left, right = numpy.asarray(left), numpy.asarray(right)
    return contraction(noise, numpy.inner, [left, right], left.shape[-1] if left.ndim and right.ndim else 1)


def _vdot(noise, left, right):
    left, right = numpy.asarray(left), numpy.asarray(right)
    return contraction(noise, numpy.vdot, [left, right], left.size)


def _outer(noise, left, right, out=None):
    del out
    return noise.rounded(numpy.outer(left, right))


def _tensordot(noise, left, right, axes=2):
    left, right = numpy.asarray(left), numpy.asarray(right)
    if isinstance(axes, (int, numpy.integer)):
        summed = left.shape[left.ndim - axes:]
    else:
        summed = [left.shape[axis] for axis in numpy.atleast_1d(axes[0])]
    return contraction(noise, lambda a, b: numpy.tensordot(a, b, axes), [left, right], math.prod(summed))


def _einsum(noise, *operands, out=None, optimize=None, **options):
    del out, optimize
    if not isinstance(operands[0], str):
        subscripts, operands = _as_text(operands)
    else:
        subscripts, operands = operands[0].replace(" ", ""), operands[1:]
    operands = [numpy.asarray(one) for one in operands]

    def function(*arrays):
        return numpy.einsum(subscripts, *arrays, optimize=len(arrays) > 1, **options)

    return contraction(noise, function, operands, _summed(subscripts, operands))


def _as_text(operands):
    """Returns subscripts as text for numpy.einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    has_output = len(operands) % 2 == 1
    lists = [*operands[1::2], *operands[-1:]] if has_output else operands[1::2]
    texts = ["".join("..." if index is Ellipsis else string.ascii_letters[index] for index in one) for one in lists]
    subscripts = ",".join(texts[:-1]) + "->" + texts[-1] if has_output else ",".join(texts)
    return subscripts, operands[:-1:2] if has_output else operands[::2]


def _summed(subscripts, operands):
    """Returns how many products einsum adds for a number of its result."""
    left, arrow, right = subscripts.partition("->")
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = "".join(letter for letter in letters if letters.count(letter) == 1)
    extents = {}
    for term, operand in zip(left.split(","), operands):
        head, _, tail = term.partition("...")
        pairs = [*zip(head, operand.shape), *zip(reversed(tail), reversed(operand.shape))]
        for letter, extent in pairs:
            extents[letter] = max(extent, extents.get(letter, 1))  # 1 may stand for any extent
    return math.prod(extent for letter, extent in extents.items() if letter not in right)


def _cumsum(noise, array, axis=None, dtype=None, out=None):
    del out
    array = numpy.asarray(array, dtype)
    extent = _axis_length(array, axis)
    after = 0 if axis is None or not array.ndim else array.ndim - 1 - axis % array.ndim
    steps = numpy.arange(1.0, extent + 1.0).reshape((-1,) + (1,) * after)
    return contraction(noise, lambda one: numpy.cumsum(one, axis=axis), [array], extent, steps)


def _cumprod(noise, array, axis=None, dtype=None, out=None):
    del out
    return noise.rounded(numpy.asarray(numpy.cumprod(noise.relative(numpy.asarray(array, dtype), 1.0), axis=axis)))


def _sliding(function):
    def traced(noise, left, right, mode=None):
        left, right = numpy.atleast_1d(left), numpy.atleast_1d(right)
        options = {} if mode is None else {"mode": mode}
        terms = min(left.size, right.size)
        return contraction(noise, lambda a, b: function(a, b, **options), [left, right], terms)
    return traced


def _norm(noise, x, ord=None, axis=None, keepdims=False):  # pylint: disable=redefined-builtin
    array = numpy.asarray(x)
    noise.is_ring = False
    is_of_vectors = axis is not None and not isinstance(axis, tuple) or array.ndim == 1 or ord is None
    if ord in (numpy.inf, -numpy.inf) and is_of_vectors:
        return numpy.linalg.norm(array, ord, axis, keepdims)
    if ord not in (None, "fro", 1, 2) or ord in (1, 2) and not is_of_vectors:
        return unknown(noise, "norm", numpy.linalg.norm, (array, ord, axis, keepdims), {})
    if ord == 1:
        return contraction(noise, lambda one: numpy.sum(one, axis=axis, keepdims=keepdims), [numpy.abs(array)],
                           _terms_over(array, axis))
    squares = noise.rounded((array.conj() * array).real)
    return noise.rounded(numpy.sqrt(contraction(
        noise, lambda one: numpy.sum(one, axis=axis, keepdims=keepdims), [squares], _terms_over(array, axis))))


def _terms_over(array, axis):
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(array.shape[one] for one in axes)


def _cross(noise, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = numpy.asarray(a), numpy.asarray(b)
    return contraction(noise, lambda one, two: numpy.cross(one, two, axisa, axisb, axisc), [left, right], 2)


def _interp(noise, x, *others, **options):
    noise.is_ring = False
    moved = noise.relative(numpy.asarray(x, numpy.float64), 1.0)
    return noise.rounded(noise.relative(numpy.asarray(numpy.interp(moved, *others, **options)), noise.B))


def _bincount(noise, x, weights=None, minlength=0):
    if weights is None:
        return numpy.bincount(x, None, minlength)
    counts = numpy.bincount(x, None, minlength)
    return contraction(noise, lambda one: numpy.bincount(x, one, minlength), [numpy.asarray(weights)],
                       float(numpy.max(counts, initial=1)), counts)


KNOWN = {"dot": _dot, "inner": _inner, "vdot": _vdot, "outer": _outer, "tensordot": _tensordot, "einsum": _einsum,
         "cumsum": _cumsum, "cumprod": _cumprod, "convolve": _sliding(numpy.convolve),
         "correlate": _sliding(numpy.correlate), "norm": _norm, "cross": _cross, "interp": _interp,
         "bincount": _bincount}


def transform(noise, function, array, *others, **options):
    """A transform of numpy.fft: a sum of all inputs for each output"""
    array = numpy.asarray(array)
    noise.is_ring = False
    names = function.__name__
    given = options.get("axes", options.get("axis"))
    axes = given if isinstance(given, (tuple, list)) else (-1 if given is None else given,)
    if names.endswith("n") and given is None:
        axes = range(array.ndim)
    elif names.endswith("2") and given is None:
        axes = (-2, -1)
    terms = max(math.prod(array.shape[axis] for axis in axes), 1)
    noise.sums(terms)
    return noise.rounded(numpy.asarray(function(noise.relative(array, (terms / 2) ** 0.5), *others, **options)))


def unknown(noise, name, function, arguments, options):
    """A function that nothing is known of: what goes in moves, and what comes out"""
    noise.does_not_know(name)

    def moved(one):
        if isinstance(one, (tuple, list)):
            return type(one)(moved(part) for part in one) if type(one) in (tuple, list) else one
        return noise.relative(one, max(one.size, 1) ** 0.5) if isinstance(one, numpy.ndarray) else one

    result = function(*moved(tuple(arguments)), **{key: moved(one) for key, one in options.items()})

    def noisy(one):
        if isinstance(one, (tuple, list)):
            return tuple(noisy(part) for part in one)
        if not isinstance(one, (numpy.ndarray, numpy.generic)):
            return one
        return noise.rounded(noise.relative(numpy.asarray(one), max(numpy.size(one), 1) ** 0.5))

    return noisy(result)
