"""NumPy's own op for each of Assay's that it has: `assay run --kernels numpy`. It has no op for fma, sigmoid, gelu,
softmax or layernorm, and no library's products of f16 and i8."""
import numpy

import assay

FLOATS = ("f64", "f32", "f16")
SIGNED = (*FLOATS, "i64", "i32")
NUMBERS = (*SIGNED, "u8")
MOVED = (*NUMBERS, "i8")
PRODUCTS = ("f64", "f32")

assay.provider(f"NumPy {numpy.__version__}")
numpy.seterr(all="ignore")  # test data overflow on purpose


def offer(op, dtypes, function):
    assay.kernel(op, dtypes, "numpy")(function)


def direct(op, dtypes, function, *arguments):
    """Registers a function that takes the inputs, these further arguments, and out."""
    offer(op, dtypes, lambda *inputs, out: function(*inputs, *arguments, out=out))


def copy(x, *, out):
    numpy.copyto(out, x)


def cast(x, *, out):
    numpy.copyto(out, x, casting="unsafe")


def transpose(x, *, out):
    numpy.copyto(out, x.T)


def less(a, b, *, out):
    numpy.less(a, b, out=out.view(bool))


def equal(a, b, *, out):
    numpy.equal(a, b, out=out.view(bool))


def dot(a, b, *, out):
    numpy.dot(a, b, out=out.reshape(()))


def argmax(x, *, out):
    numpy.argmax(x, 0, out.reshape(()))


def sort(x, *, out):
    numpy.copyto(out, x)  # as numpy.sort does
    out.sort()


def accumulator(x):
    """The dtype to sum in: NumPy's own would be i64 for integers, and f16 for f16, which its guide advises against."""
    return numpy.float32 if x.dtype == numpy.float16 else x.dtype


def total(x, *, out):
    out[...] = numpy.sum(x, 0, accumulator(x), keepdims=True)  # an out of f16 would hold the partial sums


def mean(x, *, out):
    out[...] = numpy.mean(x, 0, keepdims=True)  # an out of f16 would hold the sum, rounded before it is divided


def product(x, *, out):
    out[...] = numpy.prod(x, 0, accumulator(x), keepdims=True)  # an out of f16 would round each factor


def scan(x, *, out):
    if x.dtype == numpy.float16:
        out[...] = numpy.cumsum(x, 0, accumulator(x))
    else:
        numpy.cumsum(x, 0, x.dtype, out)


def norm2(x, *, out):
    out[0] = numpy.linalg.norm(x)


def layer(x, w, *bias, out, act):
    numpy.matmul(x, w.T, out=out)
    if bias:
        numpy.add(out, bias[0], out=out)
    if act == "relu":
        numpy.maximum(out, 0, out=out)


def check_activation(problem):
    if problem.params["act"] not in ("none", "relu"):
        raise assay.NotMine(f"NumPy has no {problem.params['act']}")


@assay.kernel("linear", PRODUCTS, "numpy", prepare=check_activation)
def linear(x, w, *bias, out, params):
    layer(x, w, *bias, out=out, act=params["act"])


@assay.kernel("linear_stack", PRODUCTS, "numpy", prepare=check_activation)
def linear_stack(x, *weights, out, params):
    step = 2 if params["bias"] else 1
    for i in range(params["layers"]):
        y = out if i == params["layers"] - 1 else numpy.empty_like(out)
        layer(x, *weights[step * i:step * (i + 1)], out=y, act=params["act"])
        x = y


for name, function in (("add", numpy.add), ("sub", numpy.subtract), ("mul", numpy.multiply), ("scale", numpy.multiply),
                       ("square", numpy.square), ("min", numpy.minimum), ("max", numpy.maximum)):
    direct(name, NUMBERS, function)
for name, function in (("div", numpy.divide), ("sqrt", numpy.sqrt), ("exp", numpy.exp), ("log", numpy.log),
                       ("tanh", numpy.tanh), ("pow", numpy.power)):
    direct(name, FLOATS, function)
direct("neg", SIGNED, numpy.negative)
direct("abs", SIGNED, numpy.absolute)
direct("relu", FLOATS, numpy.maximum, 0)
offer("less", NUMBERS, less)
offer("equal", NUMBERS, equal)
offer("where", NUMBERS, lambda mask, a, b: numpy.where(mask, a, b))  # no out
offer("fill", MOVED, copy)
offer("copy", MOVED, copy)
offer("cast", MOVED, cast)

offer("sum", SIGNED, total)
offer("prod", SIGNED, product)
offer("mean", FLOATS, mean)
offer("reduce_min", NUMBERS, lambda x, *, out: numpy.amin(x, 0, out, keepdims=True))
offer("reduce_max", NUMBERS, lambda x, *, out: numpy.amax(x, 0, out, keepdims=True))
offer("argmax", NUMBERS, argmax)
offer("dot", PRODUCTS, dot)
offer("norm2", FLOATS, norm2)
offer("scan", SIGNED, scan)
offer("sort", NUMBERS, sort)

offer("transpose", NUMBERS, transpose)
offer("gather", NUMBERS, lambda x, index, *, out: numpy.take(x, index, 0, out))
direct("batched_matmul", PRODUCTS, numpy.matmul)
