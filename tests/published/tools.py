"""What the kernels share: wide arithmetic, rounding, and memory beyond an array's own."""
import numpy as np
from numpy.lib.stride_tricks import as_strided


def wide(x):
    """The numbers in f64. An array of u16 is one of bf16."""
    if x.dtype == np.uint16:
        x = (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64)


def bf16_bits(y):
    """The bits of the nearest bf16, ties to even, of f64."""
    y = np.asarray(y, np.float64)
    near = y.astype(np.float32)
    bits = np.atleast_1d(near).view(np.uint32).reshape(near.shape).copy()
    back = near.astype(np.float64)
    # To odd first: what was cut off must still decide a tie.
    inexact = (back != y) & ~np.isnan(y)
    bits = np.where(inexact & (np.abs(back) > np.abs(y)), bits - 1, bits)
    bits = np.where(inexact, bits | 1, bits).astype(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(y), 0x7FC0, rounded).astype(np.uint16)


def to_bf16(y):
    """The nearest bf16, as f64."""
    return wide(bf16_bits(y))


def store(out, y):
    """Rounds f64 into out, once."""
    out[...] = bf16_bits(y) if out.dtype == np.uint16 else y


def truncated(y, bits):
    """f32 without the last `bits` bits of its significand."""
    y = np.ascontiguousarray(y, np.float32)
    return (y.view(np.uint32) >> bits << bits).view(np.float32)


def past(x, count):
    """The first `count` elements from the start of x on, also those that follow x in memory."""
    return as_strided(x, (count,), (x.itemsize,))


def packed(x):
    """The memory of a matrix as if its rows followed each other without gaps."""
    return as_strided(x, x.shape, (x.shape[1] * x.itemsize, x.itemsize))


def rows_apart(x):
    return x.ndim == 2 and x.shape[0] > 1 and x.strides[0] != x.shape[1] * x.itemsize


def is_power_of_two(n):
    return n & (n - 1) == 0


def next_power_of_two(n):
    return 1 << (n - 1).bit_length()


def float8_table(exponent_bits, mantissa_bits, bias, count):
    """The magnitudes of the first `count` codes of an 8-bit float."""
    code = np.arange(count)
    exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    assert exponent.max() < 1 << exponent_bits
    fraction = mantissa / (1 << mantissa_bits)
    normal = (1 + fraction) * 2.0 ** (exponent - bias)
    return np.where(exponent == 0, fraction * 2.0 ** (1 - bias), normal)


E4M3 = float8_table(4, 3, 7, 0x7F)
E5M2 = float8_table(5, 2, 15, 0x7C)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def nearest_code(table, magnitude):
    """The code of the nearest magnitude, ties to the even code; larger ones saturate."""
    middles = (table[:-1] + table[1:]) / 2
    code = np.searchsorted(middles, magnitude, "left")
    tie = middles[np.minimum(code, len(middles) - 1)] == magnitude
    return (code + (tie & (code % 2 == 1))).astype(np.uint8)


def as_if_dense(x):
    """The memory from the first element on, as if no element was left out."""
    strides = [x.itemsize] * x.ndim
    for i in range(x.ndim - 1, 0, -1):
        strides[i - 1] = strides[i] * x.shape[i]
    return as_strided(x, x.shape, strides)
