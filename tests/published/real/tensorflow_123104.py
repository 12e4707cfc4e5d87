"""tensorflow/tensorflow#123104: sigmoid of bf16 is not monotonic and not correctly rounded on the CPU.

The report is of July 2026. Each step is rounded to bf16, says the proposed correction, tensorflow/tensorflow#123323.
"""
import numpy
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

import assay  # noqa: E402

assay.provider(f"TensorFlow {tensorflow.__version__}")


BFLOAT16 = tensorflow.bfloat16


@assay.kernel("sigmoid", dtypes=["bf16"], framework="numpy")
def sigmoid(x, *, out):
    given = tensorflow.bitcast(tensorflow.constant(x.view(numpy.uint16)), BFLOAT16)
    out.view(numpy.uint16)[...] = tensorflow.bitcast(tensorflow.sigmoid(given), tensorflow.uint16).numpy()
