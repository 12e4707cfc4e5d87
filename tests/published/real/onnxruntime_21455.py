"""microsoft/onnxruntime#21455: Max and Min of NaN and a single element are that element.

The report is of July 2024.
"""
import os
import sys

import onnxruntime

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnxruntime_models import node  # noqa: E402

assay.provider(f"ONNX Runtime {onnxruntime.__version__}")

for name, op in (("max", "Max"), ("min", "Min")):
    assay.kernel(name, dtypes=["f64", "f32"], framework="numpy", prepare=node(op))(op)
