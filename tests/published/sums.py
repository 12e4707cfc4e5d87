"""Sums and means."""
import numpy as np

from registry import bug
from tools import next_power_of_two, store, wide


def lanes_in(dtype, x, lanes):
    """Adds in `lanes` accumulators of `dtype`, then these."""
    padded = np.zeros(-(-x.size // lanes) * lanes, dtype)
    padded[:x.size] = x
    return np.add.reduce(padded.reshape(-1, lanes), axis=0, dtype=dtype)


def tree_in(dtype, x):
    """Adds halves to each other until one number is left."""
    padded = np.zeros(next_power_of_two(max(x.size, 1)), dtype)
    padded[:x.size] = x
    while padded.size > 1:
        half = padded.size // 2
        padded = padded[:half] + padded[half:]
    return padded[0]


@bug("pytorch/pytorch#93708", "sum", "f16", "narrow accumulator",
     "The vectorized sum of f16 that a compiler generated for CPUs added in f16, in each lane.")
def sum_in_lanes_of_f16(x, *, out, broken):
    store(out, np.add.reduce(lanes_in(np.float16, x, 16)) if broken else wide(x).sum())


@bug("triton-lang/triton#1960", "sum", "f16", "narrow accumulator",
     "The tree of additions over a block of f16 was one of f16 additions.")
def sum_as_tree_of_f16(x, *, out, broken):
    store(out, tree_in(np.float16, x) if broken else wide(x).sum())


@bug("pytorch/pytorch#2391", "sum", "f16", "narrow accumulator",
     "The sum along a dimension of f16 rounded each partial sum to f16, so that it could even "
     "overflow.")
def sum_one_by_one_in_f16(x, *, out, broken):
    rounded = np.cumsum(x, dtype=np.float16)
    store(out, wide(rounded)[-1:].sum() if broken else wide(x).sum())


@bug("cactus-compute/cactus#344", "mean", "f16", "narrow accumulator",
     "Sums and means of f16 accumulated in the eight lanes of an f16 register.")
def mean_in_f16(x, *, out, broken):
    total = np.float64(np.add.reduce(lanes_in(np.float16, x, 8))) if broken else wide(x).sum()
    store(out, total / x.size)


@bug("pytorch/pytorch#91597", "mean", "f16", "intermediate overflow",
     "The sum was stored as f16 before it was divided: infinite for a hundred thousand ones.")
def mean_of_rounded_sum(x, *, out, broken):
    total = wide(x).sum()
    store(out, np.float64(np.float16(total) if broken else total) / x.size)


@bug("tensorflow/tensorflow#12387", "mean", "f32", "rounding",
     "Each element was divided by their number, and rounded, before they were added.")
def mean_of_quotients(x, *, out, broken):
    if broken:
        out[...] = np.sum(x / np.float32(x.size), dtype=np.float32)
    else:
        store(out, wide(x).sum() / x.size)


@bug("tensorflow/tensorflow#3775", "mean", "f32", "narrow accumulator",
     "The mean of twenty million equal numbers was off in the fifth digit: few f32 accumulators, "
     "long chains.",
     seen="default")
def mean_in_long_chains(x, *, out, broken):
    total = np.float64(np.add.reduce(lanes_in(np.float32, x, 32))) if broken else wide(x).sum()
    store(out, total / x.size)


@bug("tensorflow/tensorflow#6039", "sum", "f32", "narrow accumulator",
     "One f32 accumulator for all elements: 62,500 equal numbers were off in the fourth digit.",
     seen="default")
def sum_one_by_one(x, *, out, broken):
    if broken and x.size:
        out[...] = np.cumsum(x, dtype=np.float32)[-1]
    else:
        store(out, wide(x).sum())


@bug("triton-lang/triton#3281", "sum", "f32", "identity",
     "Elements behind the end were taken as 1: `other=0` counted as if it was not given.")
def sum_padded_with_ones(x, *, out, broken):
    block = 256
    store(out, wide(x).sum() + (-x.size % block if broken else 0))


@bug("apple/coreai-torch#45", "sum", "i64", "index overflow",
     "The 64-bit accumulator of a sum was narrowed to 32 bits like any other tensor of that type.")
def sum_in_i32(x, *, out, broken):
    out[...] = np.sum(x.astype(np.int32), dtype=np.int32) if broken else np.sum(x)
