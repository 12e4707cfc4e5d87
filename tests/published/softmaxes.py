"""Softmax."""
import numpy as np

from registry import bug
from tools import packed, store, truncated, wide


def softmax(x):
    x = wide(x)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@bug("intel/torch-xpu-ops#4772", "softmax", "f32", "shape",
     "Rows of 257 to 384, 513 to 896 and from 1,025 elements on were garbage: just past powers of"
     " two.")
def in_bands(x, *, out, broken):
    columns = x.shape[1]
    wrong = 257 <= columns <= 384 or 513 <= columns <= 896 or 1025 <= columns <= 2048
    y = softmax(x)
    store(out, np.roll(y, 1, axis=1) if broken and wrong else y)


@bug("ml-explore/mlx#657", "softmax", "f32", "layout",
     "Rows that lie apart were read as if they followed each other.")
def of_a_slice(x, *, out, broken):
    store(out, softmax(packed(x) if broken else x))


@bug("pytorch/pytorch#197785", "softmax", "f32", "special values",
     "A fast exponential gave 0 where its result is subnormal.",
     missed="the rule allows 2^-125, since exponentials that flush are declared")
def without_subnormals(x, *, out, broken):
    if not broken:
        store(out, softmax(x))
        return
    exponent = wide(x) - wide(x).max(axis=1, keepdims=True)
    e = np.where(exponent < np.log(np.finfo(np.float32).tiny), 0, np.exp(exponent))
    store(out, e / e.sum(axis=1, keepdims=True))


def with_nan_in(rows, y):
    return np.where(rows[:, None], np.nan, y)


def all_infinite(x, size):
    """Whether one of the groups of `size` neighbours in a row holds nothing but -infinity."""
    whole = x.shape[1] // size * size
    groups = np.isneginf(x[:, :whole]).reshape(x.shape[0], -1, size)
    return groups.all(axis=2).any(axis=1) if whole else np.zeros(x.shape[0], bool)


@bug("flashinfer-ai/flashinfer#1178", "softmax", "f32", "special values",
     "Where one thread saw nothing but -infinity, it subtracted -infinity from it: the whole row "
     "was NaN.")
def thread_without_numbers(x, *, out, broken):
    store(out, with_nan_in(all_infinite(x, 4), softmax(x)) if broken else softmax(x))


@bug("Dao-AILab/quack#64", "softmax", "f32", "special values",
     "Where all that a warp loaded was -infinity, the row was NaN.")
def warp_without_numbers(x, *, out, broken):
    store(out, with_nan_in(all_infinite(x, 128), softmax(x)) if broken else softmax(x))


@bug("flagos-ai/FlagGems#330", "softmax", "f32,f16", "special values",
     "In rows longer than a tile, -infinity as the first element of a lane made its running "
     "maximum NaN.")
def lane_beginning_infinite(x, *, out, broken):
    tile = 1024
    wrong = np.isneginf(x[:, :tile]).any(axis=1) & (x.shape[1] > tile)
    store(out, with_nan_in(wrong, softmax(x)) if broken else softmax(x))


@bug("tenstorrent/tt-metal#56056", "softmax", "f32,bf16", "special values",
     "Rows without a defined result got plausible ones: equal shares for -infinity everywhere, "
     "else zeros.")
def plausible(x, *, out, broken):
    y = softmax(x)
    if broken:
        undefined = np.isnan(y).all(axis=1, keepdims=True)
        infinite = np.isneginf(wide(x)).all(axis=1, keepdims=True)
        y = np.where(undefined, np.where(infinite, 1 / x.shape[1], 0), y)
    store(out, y)


@bug("dotnet/machinelearning#3648", "softmax", "f32", "intermediate overflow",
     "The greatest element was not subtracted: NaN from about 89 on.")
def without_maximum(x, *, out, broken):
    if broken:
        e = np.exp(x)
        out[...] = e / e.sum(axis=1, keepdims=True)
    else:
        store(out, softmax(x))


@bug("tenstorrent/tt-metal#38452", "softmax", "f32", "precision",
     "The greatest element was found in a narrower type, so that large rows lost the difference "
     "to it.")
def with_rounded_maximum(x, *, out, broken):
    if broken:
        e = np.exp(x - truncated(x.max(axis=1, keepdims=True), 16))
        out[...] = e / e.sum(axis=1, keepdims=True)
    else:
        store(out, softmax(x))
