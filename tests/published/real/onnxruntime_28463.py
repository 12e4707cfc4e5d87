"""microsoft/onnxruntime#28463 (also #21935): LayerNormalization is NaN for finite rows whose mean is large.

The second report is of ONNX Runtime 1.19.0. Both point at the variance, which cancels.
"""
import os
import sys

import onnxruntime

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnxruntime_models import node  # noqa: E402

assay.provider(f"ONNX Runtime {onnxruntime.__version__}")

assay.kernel("layernorm", dtypes=["f32"], framework="numpy",  # the attribute epsilon is f32, which f64 would show
             prepare=node("LayerNormalization", opset=17, axis=-1, epsilon=1e-5))(node)
