"""numba/numba#5788: np.argmax leaves out NaN, as np.nanargmax does.

The report is of Numba 0.49.0, a comment in numba/numba#4125 of 0.47.0.
"""
import numba
import numpy

import assay

assay.provider(f"Numba {numba.__version__}")


@numba.njit
def place(x):
    return numpy.argmax(x)


@assay.kernel("argmax", dtypes=["f64", "f32"], framework="numpy")
def argmax(x, *, out):
    out[0] = place(x)
