"""tensorflow/tensorflow#77853: argmax takes -0 for greater than a subnormal number on the CPU.

The report is of TensorFlow 2.16.1. A NaN is left out as well.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

import assay  # noqa: E402

assay.provider(f"TensorFlow {tensorflow.__version__}")


@assay.kernel("argmax", dtypes=["f64", "f32"], framework="numpy")
def argmax(x, *, out):
    out[0] = tensorflow.argmax(tensorflow.constant(x)).numpy()
