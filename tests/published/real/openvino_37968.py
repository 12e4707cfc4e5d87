"""openvinotoolkit/openvino#37968 (also #33564, #34138): ops of f64 clamp infinity to the largest f32 on the CPU.

The reports are of OpenVINO 2025.4.1 to 2026.3.1. f64 is computed as f32: half of the digits are lost as well (#35822).
"""
import os
import sys

from openvino import opset13 as ops

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openvino_models import NAME, one  # noqa: E402

assay.provider(NAME)

assay.kernel("abs", dtypes=["f64"], framework="numpy")(one(ops.abs))
assay.kernel("neg", dtypes=["f64"], framework="numpy")(one(ops.negative))
