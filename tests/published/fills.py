"""One number for all elements."""
import numpy as np

from registry import bug


@bug("ml-explore/mlx#4160", "fill", "f64", "rounding",
     "The number was rounded to f32 before it filled f64.")
def filled_with_f32(a, *, out, broken):
    out[...] = a.astype(np.float32) if broken else a


@bug("pytorch/pytorch#170828", "fill", "i64", "rounding",
     "The number went through f64, which has no odd integers beyond 2^53.")
def filled_through_f64(a, *, out, broken):
    out[...] = a.astype(np.float64).astype(np.int64) if broken else a


@bug("pytorch/pytorch#176369", "fill", "i64", "special values",
     "The greatest integer became the least: through f64 it is 2^63.")
def filled_with_greatest(a, *, out, broken):
    wrong = broken and np.all(a == np.iinfo(np.int64).max)
    out[...] = np.iinfo(np.int64).min if wrong else a


@bug("OpenMathLib/OpenBLAS#4728", "scale", "f64", "special values",
     "A factor of 0 gave 0 without a look at the elements, also for NaN and infinity.")
def scaled_by_zero(x, a, *, out, broken):
    out[...] = 0 if broken and np.all(a == 0) else x * a
