"""openvinotoolkit/openvino#35649 (also #35758): Relu of NaN is 0 on the CPU.

The reports are of OpenVINO 2026.1.0.
"""
import os
import sys

from openvino import opset13 as ops

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openvino_models import NAME, one  # noqa: E402

assay.provider(NAME)

assay.kernel("relu", dtypes=["f32"], framework="numpy")(one(ops.relu))
