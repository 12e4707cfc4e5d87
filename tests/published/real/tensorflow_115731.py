"""tensorflow/tensorflow#115731: cumsum of bf16 adds in bf16 on the CPU.

The report is of TensorFlow 2.11.
"""
import numpy
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

import assay  # noqa: E402

assay.provider(f"TensorFlow {tensorflow.__version__}")


@assay.kernel("scan", dtypes=["bf16"], framework="numpy")
def scan(x, *, out):
    given = tensorflow.bitcast(tensorflow.constant(x.view(numpy.uint16)), tensorflow.bfloat16)
    out.view(numpy.uint16)[...] = tensorflow.bitcast(tensorflow.cumsum(given), tensorflow.uint16).numpy()
