"""openvinotoolkit/openvino#35928: ReduceMin of numbers with a NaN is neither NaN nor the least number on the CPU.

The report is of OpenVINO 2026.1.0: 5 for [2, 8, NaN, 5, 6].
"""
import os
import sys

import numpy
from openvino import opset13 as ops

import assay

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from openvino_models import NAME, one  # noqa: E402

assay.provider(NAME)

for name, reduce in (("reduce_min", ops.reduce_min), ("reduce_max", ops.reduce_max)):
    assay.kernel(name, dtypes=["f32"], framework="numpy")(
        one(lambda x, reduce=reduce: reduce(x, numpy.array([0]), True)))
