"""microsoft/onnxruntime#22557: Sigmoid of numbers below some -17 is 0 or negative.

The report is of October 2024.
"""
import os
import sys

import onnxruntime

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnxruntime_models import node  # noqa: E402

assay.provider(f"ONNX Runtime {onnxruntime.__version__}")

assay.kernel("sigmoid", dtypes=["f32"], framework="numpy", prepare=node("Sigmoid"))(node)
