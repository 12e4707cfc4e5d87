"""apache/mxnet#16216: argmax leaves out NaN.

The report is of September 2019; a nightly build of 1.6.0 of that December was right.
"""
import mxnet

import assay

assay.provider(f"MXNet {mxnet.__version__}")


def not_empty(problem):
    if 0 in problem.inputs[0].shape:
        raise assay.NotMine("MXNet takes no empty arrays")


@assay.kernel("argmax", dtypes=["f32", "f64"], framework="numpy", prepare=not_empty)
def argmax(x, *, out):
    out[0] = int(mxnet.nd.argmax(mxnet.nd.array(x, dtype=x.dtype), axis=0).asscalar())
