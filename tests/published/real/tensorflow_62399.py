"""tensorflow/tensorflow#62399: log of subnormal numbers is -inf on the CPU.

The report is of TensorFlow 2.12.0.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

import assay  # noqa: E402

assay.provider(f"TensorFlow {tensorflow.__version__}")


@assay.kernel("log", dtypes=["f64", "f32"], framework="numpy")
def log(x, *, out):
    out[...] = tensorflow.math.log(tensorflow.constant(x)).numpy()
