"""numba/numba#4125: x.max() and x.min() keep a NaN only where it comes first.

The report is of Numba 0.43.1, a comment in it of 0.47.0.
"""
import numba

import assay

assay.provider(f"Numba {numba.__version__}")


@numba.njit
def greatest(x):
    return x.max()


@numba.njit
def least(x):
    return x.min()


@assay.kernel("reduce_max", dtypes=["f64", "f32"], framework="numpy")
def reduce_max(x, *, out):
    out[0] = greatest(x)


@assay.kernel("reduce_min", dtypes=["f64", "f32"], framework="numpy")
def reduce_min(x, *, out):
    out[0] = least(x)
