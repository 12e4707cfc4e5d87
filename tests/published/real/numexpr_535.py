"""pydata/numexpr#535: maximum and minimum of NaN and a number are the number.

The report is of September 2025. They call fmax and fmin of C.
"""
import numexpr

import assay

assay.provider(f"NumExpr {numexpr.__version__}")


@assay.kernel("max", dtypes=["f64", "f32"], framework="numpy")
def greater(a, b, *, out):
    numexpr.evaluate("maximum(a, b)", out=out)


@assay.kernel("min", dtypes=["f64", "f32"], framework="numpy")
def smaller(a, b, *, out):
    numexpr.evaluate("minimum(a, b)", out=out)
