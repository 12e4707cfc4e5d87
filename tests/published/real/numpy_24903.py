"""numpy/numpy#24903: products of f64 are wrong, by a kernel of OpenBLAS for Sapphire Rapids.

NumPy 1.23.0 to 1.23.5; not before, and not from 1.24.0 on. OpenBLAS chooses its kernels by the processor, so these are
asked for here: other processors with AVX-512 can run them.
"""
import os

os.environ["OPENBLAS_CORETYPE"] = "SapphireRapids"
import numpy  # noqa: E402

import assay  # noqa: E402

assay.provider(f"NumPy {numpy.__version__}")


@assay.kernel("batched_matmul", dtypes=["f64", "f32"])
def batched_matmul(a, b, *, out):
    numpy.matmul(a, b, out=out)


def check_activation(problem):
    if problem.params["act"] not in ("none", "relu"):
        raise assay.NotMine("only act=none and relu")


@assay.kernel("linear", dtypes=["f64", "f32"], prepare=check_activation)
def linear(x, w, *bias, out, params):
    numpy.matmul(x, w.T, out=out)
    if bias:
        numpy.add(out, bias[0], out=out)
    if params["act"] == "relu":
        numpy.maximum(out, 0, out=out)
