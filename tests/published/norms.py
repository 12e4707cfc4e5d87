"""Norms and dot products."""
import numpy as np

from registry import bug
from sums import lanes_in
from tools import past, store, wide


def norm(x):
    """Of f64: scaled, so that squares stay finite."""
    if x.dtype != np.float64:
        return np.sqrt(np.sum(wide(x) ** 2))
    return np.float64(np.sqrt(np.sum(x.astype(np.longdouble) ** 2)))


def scaled(x):
    """f32 divided by a power of two, so that no square overflows, and that power."""
    largest = np.max(np.abs(x), initial=0)
    scale = np.exp2(np.frexp(np.float64(largest))[1]) if np.isfinite(largest) else 1.0
    return (x / np.float64(scale)).astype(np.float32), scale


def dot(a, b):
    return np.float64(np.sum(a.astype(np.longdouble) * b.astype(np.longdouble)))


@bug("numpy/numpy#8775", "norm2", "f16", "intermediate overflow",
     "The sum of squares was one of f16: the norm of a single 1000 was infinite.")
def norm_by_f16_squares(x, *, out, broken):
    store(out, np.sqrt(np.float16(np.sum(wide(x) ** 2)).astype(np.float64)) if broken else norm(x))


@bug("pytorch/pytorch#193006", "norm2", "f32", "intermediate overflow",
     "The sum of squares was one of f32: infinite for a vector of norm 1e20.")
def norm_by_f32_squares(x, *, out, broken):
    store(out, np.sqrt(np.float32(np.sum(wide(x) ** 2)).astype(np.float64)) if broken else norm(x))


@bug("pytorch/pytorch#68326", "norm2", "f32", "narrow accumulator",
     "Eight f32 accumulators for a hundred million squares: seven percent too little.",
     seen="default")
def norm_in_long_chains(x, *, out, broken):
    y, scale = scaled(x)
    total = np.add.reduce(lanes_in(np.float32, y * y, 8)).astype(np.float64)
    store(out, np.sqrt(total) * scale if broken else norm(x))


@bug("pytorch/pytorch#65815", "norm2", "f32", "narrow accumulator",
     "One f32 accumulator: the norm of a hundred million ones was 4096, where adding 1 has no "
     "effect any more.",
     seen="default")
def norm_one_by_one(x, *, out, broken):
    if broken and x.size:
        y, scale = scaled(x)
        store(out, np.sqrt(np.cumsum(y * y, dtype=np.float32)[-1].astype(np.float64)) * scale)
    else:
        store(out, norm(x))


@bug("OpenMathLib/OpenBLAS#2998", "norm2", "f64", "special values",
     "The norm of a vector with an infinity was NaN in one processor's kernel.")
def norm_of_infinity(x, *, out, broken):
    out[...] = np.nan if broken and np.isinf(x).any() else norm(x)


@bug("OpenMathLib/OpenBLAS#946", "norm2", "f32,f64", "special values",
     "The norm was scaled by the greatest magnitude even if that is infinite: infinity over "
     "infinity is NaN.")
def norm_scaled_by_infinity(x, *, out, broken):
    largest = np.max(np.abs(wide(x)), initial=0)
    if broken and largest > 0:
        store(out, np.sqrt(np.sum((x.astype(np.longdouble) / largest) ** 2)) * largest)
    else:
        store(out, norm(x))


@bug("google/gemma.cpp#23", "dot", "f32", "tail",
     "The last vector was not masked: with a number of elements that is no multiple of 16 it held"
     " what follows them.")
def dot_with_whole_vectors(a, b, *, out, broken):
    if broken:
        whole = -(-a.size // 16) * 16
        a, b = past(a, whole), past(b, whole)
    store(out, dot(a, b))


last_result = {}


@bug("OpenMathLib/OpenBLAS#750", "dot", "f32,f64", "stale memory",
     "A register was cleared by a multiplication by 0, which leaves NaN: one NaN made the next "
     "results NaN too.")
def dot_after_nan(a, b, *, out, broken):
    before = last_result.get(out.dtype, 0.0)
    store(out, dot(a, b) + (0 * before if broken else 0))
    last_result[out.dtype] = float(out[0])
