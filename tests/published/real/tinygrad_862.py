"""tinygrad/tinygrad#862: Tensor.max leaves out NaN.

The report is of 2023, and open. relu, which is a maximum too, gives 0 for NaN. This takes the backend for C.
"""
import importlib.metadata
import os

os.environ.setdefault("CLANG", "1")
from tinygrad.tensor import Tensor  # noqa: E402

import assay  # noqa: E402

assay.provider(f"tinygrad {importlib.metadata.version('tinygrad')}")


def not_empty(problem):
    if 0 in problem.inputs[0].shape:
        raise assay.NotMine("tinygrad 0.7.0 takes no empty arrays")


@assay.kernel("reduce_max", dtypes=["f32"], framework="numpy", prepare=not_empty)
def reduce_max(x, *, out):
    out[0] = Tensor(x.copy()).max().numpy()


@assay.kernel("relu", dtypes=["f32"], framework="numpy", prepare=not_empty)
def relu(x, *, out):
    out[...] = Tensor(x.copy()).relu().numpy()
