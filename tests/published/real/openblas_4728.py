"""OpenMathLib/OpenBLAS#4728: dscal and sscal by zero give zero for NaN and infinity.

The report is of OpenBLAS 0.3.27, which SciPy 1.13.1 brings. The reference BLAS gives NaN.
"""
import numpy
import scipy
from scipy.linalg import blas

import assay

assay.provider(f"SciPy {scipy.__version__}")


def scale(x, a, *, out):
    numpy.copyto(out, x)
    routine = blas.dscal if x.dtype.itemsize == 8 else blas.sscal
    for row in out.reshape(1, -1) if out.ndim == 1 else out:
        if row.size:
            row[...] = routine(a.item(), row)


assay.kernel("scale", dtypes=["f64", "f32"])(scale)
