"""microsoft/onnxruntime#10514: ReduceMax keeps or loses NaN by how often it occurs.

The report is of ONNX Runtime 1.10.0, which gives 42 for [NaN, NaN, NaN, 42], and NaN with one NaN more or less.
"""
import os
import sys

import onnxruntime

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnxruntime_models import node  # noqa: E402

assay.provider(f"ONNX Runtime {onnxruntime.__version__}")

for name, op in (("reduce_max", "ReduceMax"), ("reduce_min", "ReduceMin")):
    assay.kernel(name, dtypes=["f64", "f32"], framework="numpy", prepare=node(op, axes=(0,)))(op)
