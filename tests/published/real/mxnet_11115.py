"""apache/mxnet#11115: relu of NaN is 0; apache/mxnet#14262: so with maximum and minimum.

The report is of MXNet 1.2.0.
"""
import mxnet

import assay

assay.provider(f"MXNet {mxnet.__version__}")


def not_empty(problem):
    if 0 in problem.inputs[0].shape:
        raise assay.NotMine("MXNet takes no empty arrays")


def host(function):
    def call(*inputs, out):
        made = [mxnet.nd.array(x, dtype=x.dtype) for x in inputs]
        out[...] = function(*made).asnumpy()
    return call


for name, function in (("relu", mxnet.nd.relu), ("max", mxnet.nd.maximum), ("min", mxnet.nd.minimum)):
    assay.kernel(name, dtypes=["f64", "f32"], framework="numpy", prepare=not_empty)(host(function))
