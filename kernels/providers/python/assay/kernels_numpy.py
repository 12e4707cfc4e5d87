"""NumPy's own op for each of Assay's that it has: `assay run --kernels numpy`. It has no op for fma, sigmoid, gelu,
softmax, layernorm or topk, and no library's products of f16 and i8."""
import functools

import numpy

import assay

FLOATS = ("f64", "f32", "f16")
SIGNED = (*FLOATS, "i64", "i32")
NUMBERS = (*SIGNED, "u8")
INTEGERS = ("i64", "i32", "u8")
MOVED = (*NUMBERS, "i8")
PRODUCTS = ("f64", "f32")

assay.provider(f"NumPy {numpy.__version__}")
numpy.seterr(all="ignore")  # test data overflow on purpose


def offer(op, dtypes, function):
    assay.kernel(op, dtypes, "numpy", views=True)(function)


def direct(op, dtypes, function, *arguments):
    """Registers a function that takes the inputs, these further arguments, and out."""
    offer(op, dtypes, lambda *inputs, out: function(*inputs, *arguments, out=out))


def reduction(op, dtypes, function):
    """Registers a function for an array, which leaves one element, and along the axis n of (outer, n, inner)."""
    offer(op, dtypes, function)
    offer(f"{op}_axis", dtypes, function)


def broadcast(op, dtypes, function):
    """Registers a function of arrays and out, and the same whose operands of (outer, inner) are repeated along the n of
    (outer, n, inner)."""
    direct(op, dtypes, function)
    offer(f"{op}_broadcast", dtypes,
          lambda *inputs, out: function(*[x if x.ndim == 3 else x[:, None] for x in inputs], out=out))


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


def isnan(x, *, out):
    numpy.isnan(x, out=out.view(bool))


def dot(a, b, *, out):
    numpy.dot(a, b, out=out.reshape(()))


def axis_of(x):
    """The axis of an array, or the n of (outer, n, inner)."""
    return x.ndim // 2


def place(function, x, *, out):
    function(x, axis_of(x), out.reshape(()) if x.ndim == 1 else out)


def sort(x, *, out):
    numpy.copyto(out, x)  # as numpy.sort does
    out.sort(axis_of(x))


def argsort(x, *, out):
    numpy.copyto(out, numpy.argsort(x, axis_of(x), "stable"))  # which has no out


def unique(x, *, out):
    for result, found in zip(out, numpy.unique(x, return_counts=True, equal_nan=False)):
        result[:found.size] = found
        result[found.size:] = 0


def accumulator(x):
    """The dtype to sum in: NumPy's own would be i64 for integers, and f16 for f16, which its guide advises against."""
    return numpy.float32 if x.dtype == numpy.float16 else x.dtype


def into(function, x, out, *dtype):
    """Copies a result whose partial ones an out of f16 would hold, and round."""
    out[...] = function(x, axis_of(x), *dtype, keepdims=x.ndim == 1)


def total(x, *, out):
    into(numpy.sum, x, out, accumulator(x))


def mean(x, *, out):
    into(numpy.mean, x, out)


def product(x, *, out):
    into(numpy.prod, x, out, accumulator(x))


def scan(x, *, out):
    if x.dtype == numpy.float16:
        out[...] = numpy.cumsum(x, axis_of(x), accumulator(x))
    else:
        numpy.cumsum(x, axis_of(x), x.dtype, out)


def norm2(x, *, out):
    out[...] = numpy.linalg.norm(x, axis=axis_of(x))


def layer(x, w, *bias, out, act):
    numpy.matmul(x, w.T, out=out)
    if bias:
        numpy.add(out, bias[0], out=out)
    if act == "relu":
        numpy.maximum(out, 0, out=out)


def check_activation(problem):
    if problem.params["act"] not in ("none", "relu"):
        raise assay.NotMine(f"NumPy has no {problem.params['act']}")


@assay.kernel("linear", PRODUCTS, "numpy", prepare=check_activation, views=True)
def linear(x, w, *bias, out, params):
    layer(x, w, *bias, out=out, act=params["act"])


@assay.kernel("linear_stack", PRODUCTS, "numpy", prepare=check_activation)
def linear_stack(x, *weights, out, params):
    step = 2 if params["bias"] else 1
    for i in range(params["layers"]):
        y = out if i == params["layers"] - 1 else numpy.empty_like(out)
        layer(x, *weights[step * i:step * (i + 1)], out=y, act=params["act"])
        x = y


@assay.kernel("linear_dx", PRODUCTS, "numpy")
def linear_dx(dy, w, *, out):
    numpy.matmul(dy, w, out=out)


@assay.kernel("linear_dw", PRODUCTS, "numpy")
def linear_dw(dy, x, *, out):
    numpy.matmul(dy.T, x, out=out)


def where(mask, a, b, *, out):
    numpy.copyto(out, numpy.where(mask, a, b))  # which has no out


def taken(x, *, out, params):
    start, step = params["start"], params["step"]
    numpy.copyto(out, x[:, start:start + params["count"] * step:step])


def pad(x, a, *, out, params):
    around = (params["before"], params["after"])
    numpy.copyto(out, numpy.pad(x, ((0, 0), around, (0, 0)), constant_values=a[0]))  # which has no out


for name, function in (("add", numpy.add), ("sub", numpy.subtract), ("mul", numpy.multiply), ("min", numpy.minimum),
                       ("max", numpy.maximum), ("less", less), ("equal", equal), ("where", where)):
    broadcast(name, NUMBERS, function)
broadcast("div", FLOATS, numpy.divide)
direct("scale", NUMBERS, numpy.multiply)
direct("square", NUMBERS, numpy.square)
for name, function in (("floor_divide", numpy.floor_divide), ("remainder", numpy.remainder),
                       ("shift_left", numpy.left_shift), ("shift_right", numpy.right_shift),
                       ("bit_and", numpy.bitwise_and), ("bit_or", numpy.bitwise_or), ("bit_xor", numpy.bitwise_xor),
                       ("bit_not", numpy.invert)):
    direct(name, INTEGERS, function)
for name, function in (("sqrt", numpy.sqrt), ("floor", numpy.floor), ("ceil", numpy.ceil),
                       ("round", numpy.rint), ("exp", numpy.exp), ("log", numpy.log),
                       ("tanh", numpy.tanh), ("pow", numpy.power)):
    direct(name, FLOATS, function)
direct("neg", SIGNED, numpy.negative)
direct("abs", SIGNED, numpy.absolute)
direct("relu", FLOATS, numpy.maximum, 0)
direct("clamp", NUMBERS, numpy.clip)
offer("isnan", FLOATS, isnan)
offer("fill", MOVED, copy)
offer("copy", MOVED, copy)
offer("cast", (*MOVED, "i16", "u16", "u32", "u64", "bool"), cast)

reduction("sum", SIGNED, total)
reduction("prod", SIGNED, product)
reduction("mean", FLOATS, mean)
reduction("reduce_min", NUMBERS, lambda x, *, out: numpy.amin(x, axis_of(x), out, x.ndim == 1))
reduction("reduce_max", NUMBERS, lambda x, *, out: numpy.amax(x, axis_of(x), out, x.ndim == 1))
reduction("argmax", NUMBERS, functools.partial(place, numpy.argmax))
reduction("argmin", NUMBERS, functools.partial(place, numpy.argmin))
offer("dot", PRODUCTS, dot)
reduction("norm2", FLOATS, norm2)
reduction("scan", SIGNED, scan)
reduction("sort", NUMBERS, sort)
reduction("argsort", NUMBERS, argsort)
offer("unique", NUMBERS, unique)

offer("transpose", NUMBERS, transpose)
offer("gather", NUMBERS, lambda x, index, *, out: numpy.take(x, index, 0, out))
offer("concat", NUMBERS, lambda a, b, *, out: numpy.concatenate((a, b), 1, out))
offer("slice", NUMBERS, taken)
offer("pad", NUMBERS, pad)
offer("flip", NUMBERS, lambda x, *, out: numpy.copyto(out, numpy.flip(x, 1)))
offer("repeat", NUMBERS, lambda x, *, out, params: numpy.copyto(out, numpy.tile(x, (1, params["times"], 1))))
direct("batched_matmul", PRODUCTS, numpy.matmul)
