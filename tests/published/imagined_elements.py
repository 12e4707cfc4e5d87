"""Wrong elementwise ops, divisions, shifts and rows of squares that nobody has reported: the judge's first data for these
ops took each for right."""
import numpy as np

from registry import imagined
from tools import store, wide

EPSILON = 1e-5


def is_whole_vectors(x):
    return x.ndim == 1 and x.size % 8 == 0


@imagined("ceil of vectors", "ceil", "f16", "tail",
          "Vectors of eight are floor(x) + 1, also where x is whole; single elements are right.")
def ceil_of_vectors(x, *, out, broken):
    y = np.ceil(x)
    is_small = np.abs(x) < 1024
    out[...] = np.where(broken and is_whole_vectors(x) & is_small, np.floor(x) + np.float16(1), y)


@imagined("parity of a tie", "round", "f32", "narrow accumulator",
          "Which of two whole numbers is even is asked in f16, which has no odd ones above 2048.")
def parity_of_a_tie(x, *, out, broken):
    up = np.floor(x) + np.float32(1)
    is_tie = (x - np.floor(x) == 0.5) & (np.abs(x) < 8192)
    is_odd = np.fmod(up.astype(np.float16), np.float16(2)) != 0
    y = np.copysign(np.where(is_odd, up - 1, up), x)
    out[...] = np.where(broken & is_tie, y, np.rint(x))


@imagined("floor of packed rows", "floor", "f64,f32,f16", "layout",
          "Vectors are taken from rows that are a whole number of them, without the gaps between rows.")
def floor_of_packed_rows(x, *, out, broken):
    y = np.floor(x)
    if broken and x.ndim == 2 and x.shape[1] % 4 == 0 and x.strides[0] // x.itemsize % 4 == 0 \
            and x.strides[0] > x.shape[1] * x.itemsize:
        y[1:] = y[0]
    out[...] = y


@imagined("NaN by its high word", "isnan", "f64", "special values",
          "A NaN whose payload lies in its low word is taken for an infinity.")
def nan_by_its_high_word(x, *, out, broken):
    high = np.ascontiguousarray(x).view(np.uint64) >> np.uint64(32) & np.uint64(0x7FFFFFFF)
    out[...] = high > 0x7FF00000 if broken else np.isnan(x)


@imagined("clamp in the order of bits", "clamp", "f32", "special values",
          "Floats are compared as integers: negative ones are in the wrong order. Infinite ends are left out.")
def clamp_in_the_order_of_bits(x, low, high, *, out, broken):
    y = x
    if np.isfinite(low[0]):
        y = np.where(np.ascontiguousarray(x).view(np.int32) < low.view(np.int32)[0], low[0], x)
    y = np.where(np.isnan(x), x, np.minimum(y, high[0]))
    out[...] = y if broken else np.clip(x, low, high)


@imagined("clamp of i64 by f64", "clamp", "i64", "narrow accumulator",
          "The ends pass through f64, which does not hold those beyond 2^53.")
def clamp_by_f64(x, low, high, *, out, broken):
    def end(bound):
        return np.int64(np.clip(float(bound[0]), -2.0**63, 2.0**63 - 1024)) if broken and abs(bound[0]) < 2**62 else bound[0]
    out[...] = np.clip(x, end(low), end(high))


@imagined("remainder by a mask", "remainder", "i64,i32", "special values",
          "b & (b - 1) is 0 for powers of two, and for the least number, which is none.")
def remainder_by_a_mask(a, b, *, out, broken):
    is_power = (b & (b - 1)) == 0
    out[...] = np.where(broken & is_power, a & (b - 1), np.remainder(a, b))


@imagined("quotient of magnitudes", "floor_divide", "i64,i32", "special values",
          "|a| is divided by |b|, and the least number has no magnitude.")
def quotient_of_magnitudes(a, b, *, out, broken):
    q = np.floor_divide(np.abs(a), np.abs(b))
    rest = np.abs(a) - q * np.abs(b)
    y = np.where((a < 0) == (b < 0), q, -q - (rest != 0))
    out[...] = y if broken else np.floor_divide(a, b)


@imagined("shift of short numbers", "shift_left", "i64", "narrow accumulator",
          "Numbers that fit 32 bits are shifted in 32 bits.")
def shift_of_short_numbers(a, b, *, out, broken):
    is_short = (a == a.astype(np.int32)) & (b > 0)
    narrow = np.left_shift(a.astype(np.int32), (b & 31).astype(np.int32)).astype(np.int64)
    out[...] = np.where(broken & is_short, narrow, np.left_shift(a, b))


@imagined("squares of whole blocks", "rmsnorm", "f16", "narrow accumulator",
          "Rows of whole blocks sum their squares in lanes of f16.")
def squares_of_whole_blocks(x, weight, *, out, broken):
    squares = np.square(wide(x)).sum(1, keepdims=True)
    if broken and x.shape[1] % 256 == 0:
        lanes = np.zeros((len(x), 256), np.float16)
        with np.errstate(all="ignore"):
            for at in range(0, x.shape[1], 256):
                lanes += np.square(x[:, at:at + 256])
        squares = wide(lanes).sum(1, keepdims=True)
    store(out, wide(x) / np.sqrt(squares / x.shape[1] + EPSILON) * wide(weight))


@imagined("rows clamped to f16", "rmsnorm", "f32", "saturation",
          "Results are clamped to the range of f16, whatever the dtype.")
def rows_clamped_to_f16(x, weight, *, out, broken):
    y = wide(x) / np.sqrt(np.square(wide(x)).mean(1, keepdims=True) + EPSILON) * wide(weight)
    is_beyond = broken & np.isfinite(y) & (np.abs(y) > 65504)
    store(out, np.where(is_beyond, np.copysign(65504, y), y))
