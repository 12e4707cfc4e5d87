"""No report was found: np.sort of f16 leaves some numbers in the wrong places, with AVX512_ICL.

NumPy 2.1.3, 2.2.6, 2.3.0 and 2.5.5; not 2.0.0, and not with NPY_DISABLE_CPU_FEATURES=AVX512_ICL. It takes negative
numbers that occur often: 34 different numbers among 65,537. numpy/numpy#29808 is of such kernels on 32-bit Windows.
"""
import numpy

import assay

assay.provider(f"NumPy {numpy.__version__}")


@assay.kernel("sort", dtypes=["f16"])
def sort(x, *, out):
    numpy.copyto(out, x)
    out.sort()
