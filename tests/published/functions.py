"""Exponentials, logarithms and the logistic function."""
import numpy as np

from registry import bug
from tools import store, wide

TINY = float(np.finfo(np.float32).tiny)


def logistic(x):
    x = wide(x)
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


@bug("llvm/llvm-project#212696", "exp", "f32", "special values",
     "The power of two was put together from bits, which no subnormal result has: it was 0.")
def exp_without_subnormals(x, *, out, broken):
    y = np.exp(wide(x))
    store(out, np.where(y < TINY, 0, y) if broken else y)


@bug("amd/aocl-libm-ose#56", "log", "f32", "special values",
     "Subnormal numbers were read as if they had an implicit leading 1, and 0 as well.")
def log_of_subnormal_bits(x, *, out, broken):
    y = np.log(wide(x))
    if broken:
        small = (x.view(np.int32) >= 0) & (x < TINY)
        fraction = (x.view(np.int32) & 0x7FFFFF) / 2.0 ** 23
        y = np.where(small, np.log(2.0 ** -127 * (1 + fraction)), y)
    store(out, y)


@bug("tensorflow/tensorflow#62399", "log", "f32", "special values",
     "Subnormal numbers were flushed: their logarithm was -infinity.")
def log_of_flushed(x, *, out, broken):
    y = np.log(wide(x))
    store(out, np.where((x > 0) & (x < TINY), -np.inf, y) if broken else y)


@bug("clab/dynet#1525", "sigmoid", "f32", "intermediate overflow",
     "Of two forms of the function the wrong one was kept for large numbers: e^x / (1 + e^x) is "
     "NaN from 89 on.")
def sigmoid_of_large(x, *, out, broken):
    e = np.exp(x)
    store(out, np.where(x > 88, e / (1 + e), logistic(x)) if broken else logistic(x))


@bug("Tencent/ncnn#1284", "sigmoid", "f32", "intermediate overflow",
     "A fast reciprocal of infinity was NaN: for all numbers below -90.")
def sigmoid_by_fast_reciprocal(x, *, out, broken):
    store(out, np.where(x < -90, np.nan, logistic(x)) if broken else logistic(x))


@bug("sonos/tract#2618", "sigmoid", "f32", "precision",
     "A rational approximation gave -2^-24 for a few numbers, among them -18.25 and -18.5625.")
def sigmoid_below_zero(x, *, out, broken):
    odd = (x == -18.25) | (x == -18.5625)
    store(out, np.where(odd, -(2.0 ** -24), logistic(x)) if broken else logistic(x))


@bug("tenstorrent/tt-metal#26211", "sigmoid", "bf16", "precision",
     "Numbers such as -11.125 gave 0, though the result is far from the end of the range.")
def sigmoid_of_moderate(x, *, out, broken):
    store(out, np.where(wide(x) <= -11, 0, logistic(x)) if broken else logistic(x))
