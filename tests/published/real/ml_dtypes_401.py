"""jax-ml/ml_dtypes#401: casts of f64, i64 and i32 to bf16 round twice, to f32 first.

The proposed correction is of September 2026.
"""
import ml_dtypes
import numpy

import assay

assay.provider(f"ml_dtypes {ml_dtypes.__version__}")


def to_bf16(problem):
    if problem.params["to"] != "bf16":
        raise assay.NotMine("only to=bf16")


@assay.kernel("cast", dtypes=["f64", "i64", "i32"], framework="numpy", prepare=to_bf16)
def cast(x, *, out):
    numpy.copyto(out, x.astype(ml_dtypes.bfloat16))
