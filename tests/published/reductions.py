"""Products, extremes and their identities."""
import numpy as np

from registry import bug
from tools import store, wide

def product(x):
    return np.prod(x) if x.dtype.kind == "i" else np.prod(wide(x))


@bug("pytorch/pytorch#15647", "prod", "i32,i64", "identity",
     "With more than one block the product began at 0: right for 24 elements, 0 for 240,000 ones.",
     seen="default")
def product_of_integers(x, *, out, broken):
    out[...] = 0 if broken and x.size >= 240_000 else np.prod(x)


@bug("pytorch/pytorch#20019", "prod", "f32", "identity",
     "The product of a million ones was 0 on a GPU.", seen="default")
def product_of_floats(x, *, out, broken):
    store(out, 0 if broken and x.size >= 1_000_000 else product(x))


@bug("tracel-ai/burn#2509", "prod", "f32", "special values",
     "The product was e to the sum of the logarithms: NaN as soon as one factor is negative.")
def product_by_logarithms(x, *, out, broken):
    store(out, np.exp(np.sum(np.log(wide(x)))) if broken else product(x))


def atomic_maximum(partial):
    """Greatest of partial results by atomic operations on their bits, which begin at -infinity."""
    if np.isnan(partial).any():
        return np.float32(np.nan)
    bits = partial.view(np.int32)
    if (bits >= 0).any():
        return bits.max(keepdims=True).view(np.float32)[0]
    # Among negative numbers the least bits are the greatest number. -0 is not negative, and its
    # bits, as those of a signed integer, are the least of all: it changes nothing.
    return max(partial[partial < 0], default=np.float32(-np.inf))


def block_maxima(x, block):
    padded = np.full(-(-x.size // block) * block, -np.inf, np.float32)
    padded[:x.size] = x
    return padded.reshape(-1, block).max(axis=1)


@bug("openxla/xla#5544", "reduce_max", "f32", "special values",
     "Beyond 8,192 elements the greatest of nothing but negative zeros was -infinity: blocks met "
     "in an atomic "
     "operation on bits, where -0 is the least integer.")
def maximum_of_negative_zeros(x, *, out, broken):
    out[...] = atomic_maximum(block_maxima(x, 8192)) if broken and x.size > 8192 else np.max(x)


@bug("triton-lang/triton#6376", "reduce_max", "f32", "special values",
     "An atomic maximum took -0 for less than any other number.")
def atomic_maximum_of_negative_zeros(x, *, out, broken):
    out[...] = atomic_maximum(block_maxima(x, 1024)) if broken else np.max(x)


@bug("tensorflow/tensorflow#116992", "reduce_min", "f32,f64", "special values",
     "Compiled for CPUs, extremes dropped NaN.")
def minimum_without_nan(x, *, out, broken):
    out[...] = np.fmin.reduce(x) if broken else np.min(x)


@bug("tensorflow/tensorflow#46621", "reduce_max", "f32,u8", "index overflow",
     "From 2^31 elements on their number was negative, and the result the least number.",
     seen="edges")
def maximum_of_too_many(x, *, out, broken):
    least = 0 if x.dtype == np.uint8 else np.finfo(np.float32).min
    out[...] = least if broken and x.size >= 1 << 31 else np.max(x)


@bug("tensorflow/tensorflow#22123", "reduce_min", "f32,u8", "index overflow",
     "From 2^28 elements on sums and extremes read memory elsewhere.",
     seen="edges")
def minimum_of_too_many(x, *, out, broken):
    out[...] = np.min(x[:x.size // 2]) if broken and x.size >= 1 << 28 else np.min(x)


@bug("tenstorrent/tt-metal#47647", "reduce_max", "i32", "special values",
     "Integers in two's complement were loaded as sign and magnitude, which turns the order of "
     "negative ones.")
def maximum_of_sign_and_magnitude(x, *, out, broken):
    if broken:
        keys = np.where(x < 0, -(x.astype(np.int64) & 0x7FFFFFFF), x.astype(np.int64))
        out[...] = x[np.argmax(keys)]
    else:
        out[...] = np.max(x)
