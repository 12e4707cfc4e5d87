"""Wrong rows, scans, sorts, moves and layers that nobody has reported, and that the judge once took for right."""
import numpy as np

from layernorms import EPSILON, moments
from products import finished, product
from registry import imagined
from softmaxes import softmax
from tools import store, wide


def normalised(x):
    x, mean, variance = moments(x)
    return (x - mean) / np.sqrt(variance + EPSILON)


@imagined("softmax of masked chunks", "softmax", "f32", "special values",
          "A long row goes chunk by chunk: of one that is -inf throughout the differences to its maximum are NaN.")
def masked_chunks(x, *, out, broken):
    y = softmax(x)
    whole = x.shape[1] // 1024 * 1024
    if broken and whole > 8192:
        chunks = np.isneginf(x[:, :whole]).reshape(len(x), -1, 1024)
        y = np.where(chunks.all(2).any(1)[:, None], np.nan, y)
    store(out, y)


@imagined("clamped layernorm", "layernorm", "f32", "saturation",
          "Normalised numbers are kept in fixed point, and clamped to 16 in between.")
def clamped_layernorm(x, weight, bias, *, out, broken):
    y = normalised(x)
    store(out, (np.clip(y, -16, 16) if broken else y) * wide(weight) + wide(bias))


@imagined("layernorm by weights of zero", "layernorm", "f32", "special values",
          "Columns of weight 0 are the bias, without a look at the row: NaN is lost.")
def zero_weights(x, weight, bias, *, out, broken):
    y = normalised(x) * wide(weight)
    store(out, np.where(broken & (weight == 0), 0, y) + wide(bias))


@imagined("scan of the greatest number", "scan", "f64,f32", "special values",
          "Infinity is loaded as the greatest number: sums behind it are finite.")
def greatest_for_infinity(x, *, out, broken):
    greatest = wide(np.finfo(x.dtype).max)
    out[...] = np.where(broken & (x == np.inf), greatest, wide(x)).cumsum()


@imagined("scan of whole tiles", "scan", "f64,i32", "tail",
          "Of whole tiles the last one lacks the sum of the one before.")
def whole_tiles(x, *, out, broken):
    y = x.cumsum(dtype=x.dtype)
    if broken and len(x) > 4096 and len(x) % 2048 == 0:
        y[-2048:] -= y[-2049] - y[-4097]
    out[...] = y


@imagined("sort without a digit", "sort", "i64", "ties",
          "One radix pass is missing: numbers that differ in the third byte alone keep their order.")
def missing_digit(x, *, out, broken):
    keys = x & ~np.int64(0xFF0000) if broken else x
    out[...] = x[np.argsort(keys, kind="stable")] if broken else np.sort(x)


@imagined("sort of samples", "sort", "f32,u8", "ties",
          "Taken for sorted if each 256th number is: a few that are not stay where they are.")
def sorted_samples(x, *, out, broken):
    samples = x[::256]
    is_taken = broken and len(x) >= 4096 and not np.isnan(samples.astype(float)).any()
    out[...] = x if is_taken and (samples[:-1] <= samples[1:]).all() else np.sort(x)


@imagined("gather of a slice", "gather", "f32", "layout",
          "Taken for a slice if the first, the middle and the last index are those of one.")
def nearly_a_slice(x, index, *, out, broken):
    n = len(index)
    first = int(index[0]) if n else 0
    is_slice = n >= 64 and index[n // 2] == first + n // 2 and index[-1] == first + n - 1
    out[...] = x[first:first + n] if broken and is_slice else x[index]


@imagined("transpose in place", "transpose", "f32", "layout",
          "Square matrices swap the tiles above the diagonal with those below, and leave those on it.")
def diagonal_tiles(x, *, out, broken):
    out[...] = x.T
    for at in range(0, len(x) if broken and x.shape[0] == x.shape[1] else 0, 32):
        out[at:at + 32, at:at + 32] = x[at:at + 32, at:at + 32]


@imagined("transpose of quiet NaNs", "transpose", "f64,f32", "special values",
          "Elements pass a unit of floats, which makes NaNs quiet.")
def quiet_nans(x, *, out, broken):
    words = x.T.copy().view(f"u{x.itemsize}")
    quiet = 1 << (51 if x.itemsize == 8 else 22)
    out.view(words.dtype)[...] = np.where(broken & np.isnan(x.T), words | words.dtype.type(quiet), words)


@imagined("clamped sums of f16", "linear", "f16", "saturation",
          "Sums are clamped to the ends of f16 before the bias leads back, or not.", cases="act=(none|relu)")
def clamped_sums(x, w, *bias, out, broken, params):
    y = product(x, w.T)
    store(out, finished(np.where(broken & np.isfinite(y), np.clip(y, -65504, 65504), y), bias, params["act"]))
