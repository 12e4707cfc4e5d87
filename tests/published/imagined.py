"""Reductions that nobody has reported, and that the judge once took for right: each shows one kind of data it had not."""
import numpy as np

from registry import imagined
from tools import store, wide


def norm(x):
    """Along the axis n of (outer, n, inner): no square of f64 leaves the range."""
    return np.sqrt(np.square(x.astype(np.longdouble)).sum(1))


def power_of_two(size):
    """At most the size; 1 for 0 and for what is not finite."""
    is_number = np.isfinite(size) & (size > 0)
    return np.where(is_number, np.exp2(np.floor(np.log2(np.where(is_number, size, 1)))), 1)


def scaled_norm(x, scale):
    """In the arithmetic of f32, of f64 for f64."""
    scale = scale.astype(x.dtype)
    return scale[:, 0] * np.sqrt(np.square(x / scale).sum(1))


def sizes(x):
    return np.abs(x).max(1, keepdims=True)


def ordered(x):
    """Integers in the order of the floats."""
    bits = x.view({2: np.int16, 4: np.int32, 8: np.int64}[x.dtype.itemsize])
    return bits ^ ((bits >> (8 * x.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max)


@imagined("norm of zeros", "norm2_axis", "f32,f64", "special values",
          "Scaled by the largest element, without a guard: a line of zeros is 0 / 0.")
def norm_of_zeros(x, *, out, broken):
    size = sizes(x)
    wrong = broken & np.isfinite(size[:, 0])
    out[...] = np.where(wrong, size[:, 0] * np.sqrt(np.square(x / size).sum(1)), norm(x))


@imagined("norm by the first element", "norm2_axis", "f32,f64", "intermediate overflow",
          "Scaled by the first element of a line, not by the largest.")
def norm_by_the_first(x, *, out, broken):
    first = power_of_two(np.abs(x[:, :1]))
    out[...] = scaled_norm(x, first) if broken else norm(x)


@imagined("norm by the line before", "norm2_axis", "f32", "stale memory",
          "The scale of a line is at least that of the line before.")
def norm_by_the_line_before(x, *, out, broken):
    largest = np.where(np.isfinite(sizes(x)), sizes(x), 0)
    stale = np.maximum.accumulate(largest.ravel()).reshape(largest.shape)
    out[...] = scaled_norm(x, power_of_two(stale)) if broken else norm(x)


@imagined("norm rescued at the ends", "norm2_axis", "f32,f64", "intermediate overflow",
          "Scaled only where the plain norm is 0 or infinite: between, squares are subnormal.")
def norm_rescued_at_the_ends(x, *, out, broken):
    plain = np.sqrt(np.square(x).sum(1))
    is_lost = (plain == 0) | np.isinf(plain)
    out[...] = np.where(is_lost, norm(x), plain) if broken else norm(x)


@imagined("norm with epsilon", "norm2_axis", "f32", "constants",
          "1e-14 is added within the root, as for a gradient.")
def norm_with_epsilon(x, *, out, broken):
    added = np.sqrt(np.square(norm(x)) + (1e-14 if broken else 0))
    out[...] = np.where(norm(x) < 2.0**-60, norm(x), added)


@imagined("norm without subnormals", "norm2_axis", "f16", "special values",
          "Subnormal elements count as zero.")
def norm_without_subnormals(x, *, out, broken):
    y = wide(x)
    out[...] = norm(np.where(broken & (np.abs(y) < 2.0**-14), 0, y))


@imagined("norm where infinity wins", "norm2_axis", "f32,f64,f16", "special values",
          "A line with an infinity has that norm, whether there is a NaN or not.")
def norm_where_infinity_wins(x, *, out, broken):
    out[...] = np.where(broken & np.isinf(x).any(1), np.inf, norm(x))


@imagined("mean of a clamped sum", "mean_axis", "f16", "saturation",
          "The sum is clamped to the range of f16 before it is divided.")
def mean_of_a_clamped_sum(x, *, out, broken):
    y = wide(x).sum(1)
    out[...] = np.where(broken & np.isfinite(y), np.clip(y, -65504, 65504), y) / x.shape[1]


@imagined("clamped sum", "sum_axis", "f16", "saturation",
          "A sum beyond the range is the largest number, not infinite.")
def clamped_sum(x, *, out, broken):
    y = wide(x).sum(1)
    store(out, np.where(broken & np.isfinite(y), np.clip(y, -65504, 65504), y))


@imagined("sum of clamped terms", "sum_axis", "f32", "saturation",
          "Terms are clamped to a million.")
def sum_of_clamped_terms(x, *, out, broken):
    y = wide(x)
    out[...] = np.where(broken & np.isfinite(y), np.clip(y, -1e6, 1e6), y).sum(1)


@imagined("product ended by zero", "prod_axis", "f32,f64,f16", "special values",
          "A zero decides: a NaN or an infinity behind it is not read.")
def product_ended_by_zero(x, *, out, broken):
    y = x.prod(1, dtype=np.float64 if x.dtype == np.float64 else np.float32)
    out[...] = np.where(broken & (x == 0).any(1), np.copysign(0, y), y)


@imagined("product without the sign of zero", "prod_axis", "f32,f64", "special values",
          "Negative factors are counted, and -0 is none of them.")
def product_without_sign_of_zero(x, *, out, broken):
    is_negative = x < 0 if broken else np.signbit(x)
    out[...] = np.abs(x).prod(1) * (1 - 2 * (np.count_nonzero(is_negative, axis=1) % 2))


@imagined("product of even factors", "prod_axis", "i32,i64", "narrow accumulator",
          "A product with an even factor is 0.")
def product_of_even_factors(x, *, out, broken):
    y = x.prod(1, dtype=x.dtype)
    out[...] = np.where(broken & (x % 2 == 0).any(1), 0, y)


@imagined("maximum by keys of integers", "reduce_max_axis", "f32,f64,f16", "special values",
          "Floats are compared as integers: a NaN with a sign is the least of all.")
def maximum_by_keys(x, *, out, broken):
    at = ordered(x).argmax(1) if broken else x.argmax(1)
    out[...] = np.take_along_axis(x, at[:, None, :], 1)[:, 0]


@imagined("maximum ended by infinity", "reduce_max_axis", "f32,f64,f16", "special values",
          "Nothing is greater than infinity: a NaN behind it is not read.")
def maximum_ended_by_infinity(x, *, out, broken):
    has_end = (x == np.inf).any(1)
    last = np.where(has_end, (x == np.inf).argmax(1), x.shape[1])
    is_behind = np.arange(x.shape[1])[None, :, None] > last[:, None, :]
    out[...] = np.where(is_behind & broken, -np.inf, x).max(1)


@imagined("maximum of two halves", "reduce_max_axis", "f32,i32,i64", "tail",
          "Two threads share a long line, and the second one begins one too late.")
def maximum_of_two_halves(x, *, out, broken):
    half = x.shape[1] // 2
    if x.shape[1] > 1024 and broken:
        out[...] = np.maximum(x[:, :half].max(1), x[:, half + 1:].max(1))
    else:
        out[...] = x.max(1)


@imagined("maximum by words", "reduce_max_axis", "i64", "index overflow",
          "Integers are compared by words of 32 bits, and the lower one as if it had a sign.")
def maximum_by_words(x, *, out, broken):
    flip = 0x80000000 if broken else 0
    out[...] = (x ^ flip).max(1) ^ flip


@imagined("minimum by negation", "reduce_min_axis", "i32,i64", "index overflow",
          "-max(-x): the least integer has no negative.")
def minimum_by_negation(x, *, out, broken):
    out[...] = -((-x).max(1)) if broken else x.min(1)


@imagined("argmax from -10,000", "argmax_axis", "f32,f64,f16", "identity",
          "The search begins at -10,000 and index 0, and +inf ends it as it should.")
def argmax_from_a_number(x, *, out, broken):
    is_low = (x < -1e4).all(1) & (x > -np.inf).any(1)
    out[...] = np.where(broken & is_low, 0, x.argmax(1))


@imagined("argmax through a narrower type", "argmax_axis", "i64,i32,f64", "narrow accumulator",
          "Integers are compared as floats of as many bits, f64 as f32.")
def argmax_through_less(x, *, out, broken):
    less = {"i8": np.float64, "i4": np.float32, "f8": np.float32}[x.dtype.str[1:]]
    y = x.astype(less) if broken else x
    is_kept = np.isfinite(y).all(1) & (y != 0).all(1)
    out[...] = np.where(is_kept, y.argmax(1), x.argmax(1))


@imagined("argmax in one word", "argmax_axis", "f64", "index overflow",
          "48 bits of the number and 16 of the index share a word.")
def argmax_in_one_word(x, *, out, broken):
    key = ordered(np.where(x == 0, 0.0, x)) & ~np.int64(0xFFFF)
    word = key | (0xFFFF - np.arange(x.shape[1])[None, :, None])
    wrong = broken & ~np.isnan(x).any(1)
    out[...] = np.where(wrong, 0xFFFF - (word.max(1) & 0xFFFF), x.argmax(1))


@imagined("argmax of two infinities", "argmax_axis", "f32,f64", "ties",
          "The place of a zero in x - max(x): infinity less infinity is none, and the last one is taken.")
def argmax_of_two_infinities(x, *, out, broken):
    has_end = (x == np.inf).any(1) & ~np.isnan(x).any(1)
    last = x.shape[1] - 1 - (x[:, ::-1] == np.inf).argmax(1)
    out[...] = np.where(broken & has_end, last, x.argmax(1))


@imagined("argmax of NaNs by lanes", "argmax_axis", "f32,f64,f16", "ties",
          "Each of four lanes keeps its first NaN, and of two the lower lane's wins.")
def argmax_of_nans_by_lanes(x, *, out, broken):
    at = x.argmax(1)
    lanes = 4 if broken else 1
    for lane in reversed(range(min(lanes, x.shape[1]))):
        is_nan = np.isnan(x[:, lane::lanes])
        at = np.where(is_nan.any(1), is_nan.argmax(1) * lanes + lane, at)
    out[...] = at
