"""openvinotoolkit/openvino#35837: CumSum of i64 is wrong beyond 32 bits on the CPU.

The report is of OpenVINO 2026.1.0.
"""
import os
import sys

import numpy
from openvino import opset13 as ops

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openvino_models import NAME, one  # noqa: E402

assay.provider(NAME)

assay.kernel("scan", dtypes=["i64"], framework="numpy")(one(lambda x: ops.cum_sum(x, numpy.array(0))))
