"""tensorflow/tensorflow#56890: reduce_mean of f16 is NaN on the CPU where the sum and the count overflow f16.

The report is of TensorFlow 2.8.2.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow  # noqa: E402

import assay  # noqa: E402

assay.provider(f"TensorFlow {tensorflow.__version__}")


@assay.kernel("mean", dtypes=["f16"], framework="numpy")
def mean(x, *, out):
    out[0] = tensorflow.reduce_mean(tensorflow.constant(x)).numpy()
