"""Ops of a user that compute what built-in ones do, for `assay selftest --own-ops`: the tricks of
kernels/providers/cheats/ must be red for them too, where nothing is known of an op but its reference."""
import numpy

import assay


def own(inputs, sizes):
    """Defines an op by a reference for dtype f32: own_add by add."""
    def define(function):
        return assay.op(inputs, name=f"own_{function.__name__}", sizes=sizes, dtypes=["f32"])(function)
    return define


N = {"n": 1003}


@own(["n", "n"], N)
def add(a, b):
    return a + b


@own("n", N)
def relu(x):
    return numpy.maximum(x, 0)


@own("n", N)
def exp(x):
    return numpy.exp(x)


@own("n", N)
def sum(x):  # pylint: disable=redefined-builtin
    return x.sum(keepdims=True)


@own("n", N)
def mean(x):
    return x.mean(keepdims=True)


@own(["n", "n"], N)
def dot(a, b):
    return (a * b).sum(keepdims=True)


@own("n", N)
def norm2(x):
    return numpy.sqrt((x * x).sum(keepdims=True))


@own("n", N)
def prod(x):
    return x.prod(keepdims=True)


@own("n", N)
def scan(x):
    return x.cumsum()


@own("n", N)
def sort(x):
    return numpy.sort(x)


@own("rows,cols", {"rows": 16, "cols": 1003})
def softmax(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@own(["batch,in", "out,in"], {"batch": 16, "in": 64, "out": 33})
def linear(x, w):
    return x @ w.T
