"""Sorting."""
import numpy as np

from registry import bug


def in_order(x):
    return np.sort(x, kind="stable")


@bug("NVIDIA/cub#218", "sort", "f32", "special values",
     "A radix sort of the bits put -0 before +0, instead of leaving equal keys in their order.",
     missed="keys without values: -0 and +0 are equal, and the rule takes either order")
def negative_zero_first(x, *, out, broken):
    y = in_order(x)
    zeros = np.flatnonzero(y == 0)
    if broken and zeros.size:
        negative = np.arange(zeros.size) < np.signbit(y[zeros]).sum()
        y[zeros] = np.where(negative, np.float32(-0.0), np.float32(0))
    out[...] = y


@bug("NVIDIA/thrust#363", "sort", "u8", "special values",
     "The radix sort took `char` for signed, and sorted bytes from 128 on before all others.")
def bytes_as_signed(x, *, out, broken):
    out[...] = np.sort(x.view(np.int8)).view(np.uint8) if broken else in_order(x)


@bug("pytorch/pytorch#190781", "sort", "f32", "special values",
     "From 129 elements on, NaN with a sign came first instead of last.")
def negative_nan_first(x, *, out, broken):
    y = in_order(x)
    negative = np.isnan(x) & np.signbit(x)
    if broken and x.size >= 129 and negative.any():
        y = np.concatenate([x[negative], in_order(x[~negative])])
    out[...] = y


@bug("NVIDIA/thrust#1637", "sort", "f32,f64", "special values",
     "NaN is neither less nor greater than anything: elements on both its sides were never "
     "compared.")
def comparisons_with_nan(x, *, out, broken):
    out[...] = sorted(x.tolist()) if broken and np.isnan(x).any() else in_order(x)
