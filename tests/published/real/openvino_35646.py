"""openvinotoolkit/openvino#35646: Mul of u8 saturates on the CPU, where it should wrap.

The report is of OpenVINO 2026.1.0: 200 times 200 is 255, where ONNX Runtime and NumPy say 64.
"""
import os
import sys

from openvino import opset13 as ops

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openvino_models import NAME, one  # noqa: E402

assay.provider(NAME)

assay.kernel("mul", dtypes=["u8"], framework="numpy")(one(ops.multiply))
