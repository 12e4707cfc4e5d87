"""PyTorch's own op for each of Assay's: `assay run --kernels torch`. Each is the most direct call that has out."""
import functools

import torch
from torch.nn.functional import layer_norm

import assay

FLOATS = ("f64", "f32", "bf16", "f16")
SIGNED = (*FLOATS, "i64", "i32")
NUMBERS = (*SIGNED, "u8")
INTEGERS = ("i64", "i32", "u8")
MOVED = (*NUMBERS, "i8")
FORMATS = (*MOVED, "e4m3", "e5m2", "i16", "u16", "u32", "u64", "bool")
PRODUCTS = (*FLOATS, "tf32")

gelu = torch._C._nn.gelu  # torch.nn.functional.gelu has no out
linear_out = torch._C._nn.linear

assay.provider(f"PyTorch {torch.__version__}")


def dtype_of(tensor):
    return getattr(torch, assay._FRAMEWORKS_NAMES[tensor.dtype])


def attempt(make, filled, whole, problem):
    """Makes a kernel. Raises NotMine with PyTorch's words if a call with `filled` tensors of small extents shows that it
    lacks the dtype here. The extent `whole` stays, as the op's parameters are places along it."""
    extents = sorted({e for tensor in (*problem.inputs, *problem.outputs) for e in tensor.shape if e > 64})

    def small(extent):
        # Keeps remainders, which matrix units may insist on, and which extent is the larger one.
        return extent if extent <= 64 else 64 + 16 * extents.index(extent) + extent % 16

    def small_shape(tensor):
        return tuple(e if i == whole else small(e) for i, e in enumerate(tensor.shape))

    def like(tensor):
        return filled(small_shape(tensor), device=problem.device).to(dtype_of(tensor))

    shrunk = assay.Problem(problem.op, problem.dtype, problem.params, problem.device,
                           *[tuple(t._replace(shape=small_shape(t)) for t in tensors)
                             for tensors in (problem.inputs, problem.outputs)])
    outs = [like(tensor) for tensor in problem.outputs]
    try:
        result = make(shrunk)(*[like(tensor) for tensor in problem.inputs], out=outs if len(outs) > 1 else outs[0])
        if result is not None:
            outs[0].copy_(result)
    except (RuntimeError, NotImplementedError) as error:
        raise assay.NotMine(f"PyTorch {torch.__version__}: {str(error).strip().splitlines()[0]}") from None
    return make(problem)


def settings(problem):
    """Says what may change a kernel's speed, and on a GPU the precision of products."""
    if problem.device.startswith("cpu"):
        threads = torch.get_num_threads()
        return f"{threads} thread" + "s" * (threads != 1)
    flag = {"f32": "allow_tf32", "bf16": "allow_bf16_reduced_precision_reduction",
            "f16": "allow_fp16_reduced_precision_reduction"}.get(problem.dtype)
    is_product = problem.op == "batched_matmul" or problem.op.startswith("linear")
    if flag is None or not is_product or not problem.device.startswith("cuda"):
        return None
    try:
        return f"{flag}={getattr(torch.backends.cuda.matmul, flag)}"
    except (AttributeError, AssertionError):  # 1.13 has no flag for bf16
        return None


def offer(op, dtypes, function=None, make=None, filled=torch.zeros, whole=None):
    """Registers a function of tensors, or `make`, which makes one for a problem."""
    make = make or (lambda problem: function)
    assay.kernel(op, dtypes, "torch", prepare=functools.partial(attempt, make, filled, whole), describe=settings,
                 views=True)(function or make)


def direct(op, dtypes, function, *arguments, **how):
    """Registers a function that takes the inputs, these further arguments, and out."""
    offer(op, dtypes, lambda *inputs, out: function(*inputs, *arguments, out=out), **how)


def reduction(op, dtypes, function):
    """Registers a function of (x, dim, keepdim, out): for an array, which leaves one element, and along the axis n of
    (outer, n, inner)."""
    offer(op, dtypes, lambda x, *, out: function(x, 0, True, out))
    offer(f"{op}_axis", dtypes, lambda x, *, out: function(x, 1, False, out))


def broadcast(op, dtypes, function):
    """Registers a function of tensors and out whose operands of (outer, inner) are repeated along the n of (outer, n,
    inner)."""
    offer(f"{op}_broadcast", dtypes,
          lambda *inputs, out: function(*[x if x.dim() == 3 else x.unsqueeze(1) for x in inputs], out=out))


def activate(act, y):
    """Applies an activation in place."""
    if act == "relu":
        y.clamp_min_(0)
    elif act != "none":
        gelu(y, approximate="tanh" if act == "gelu_tanh" else "none", out=y)


def with_tf32(function):
    """Allows TF32 while the function runs."""
    def call(*inputs, out):
        matmul = torch.backends.cuda.matmul
        before, matmul.allow_tf32 = matmul.allow_tf32, True
        try:
            return function(*inputs, out=out)
        finally:
            matmul.allow_tf32 = before
    return call


def product(function_for):
    """Makes products of tf32 where there is a GPU, and those of other dtypes as PyTorch is set."""
    def make(problem):
        if problem.dtype != "tf32":
            return function_for(problem)
        if problem.device.startswith("cpu"):
            raise assay.NotMine("PyTorch has no tf32 on a CPU")
        return with_tf32(function_for(problem))
    return make


def integer_layer(problem, bias, act):
    """Sums i8 in i32. Where PyTorch has no such product, it widens the factors."""
    x, w = problem.inputs[:2]
    if hasattr(torch, "_int_mm"):
        def multiply(x, w, out):
            torch._int_mm(x, w.t(), out=out)
    else:
        wide_x, wide_w = [torch.empty(t.shape, dtype=torch.int32, device=problem.device) for t in (x, w)]

        def multiply(x, w, out):
            torch.mm(wide_x.copy_(x), wide_w.copy_(w).t(), out=out)

    def call(x, w, *biases, out):
        multiply(x, w, out)
        if bias:
            out.add_(biases[0])
        activate(act, out)
    return call


def fp8_layer(problem, act):
    if not hasattr(torch, "_scaled_mm"):
        raise assay.NotMine(f"PyTorch {torch.__version__} has no product of e4m3")
    one = torch.ones((), device=problem.device)

    def call(x, w, bias=None, *, out):
        torch._scaled_mm(x, w.t(), one, one, bias=bias, out_dtype=torch.bfloat16, out=out)
        activate(act, out)
    return call


def layer(problem):
    act = problem.params["act"]
    if problem.dtype == "i8":
        return integer_layer(problem, problem.params["bias"], act)
    if problem.dtype == "e4m3":
        return fp8_layer(problem, act)

    def call(x, w, bias=None, *, out):
        linear_out(x, w, bias, out=out)
        activate(act, out)
    return call


def stack(problem):
    """Chains layers through two buffers."""
    act, step = problem.params["act"], 2 if problem.params["bias"] else 1
    layers = problem.params["layers"]
    buffers = [torch.empty(problem.outputs[0].shape, dtype=dtype_of(problem.outputs[0]), device=problem.device)
               for _ in range(2)]

    def call(x, *weights, out):
        for i in range(layers):
            y = out if i == layers - 1 else buffers[i % 2]
            w, *bias = weights[step * i:step * (i + 1)]
            linear_out(x, w, *bias, out=y)
            activate(act, y)
            x = y
    return call


def sorting(dim, dtype, call):
    """Makes kernels of what torch.sort gives besides the output: call(x, dim, out, rest)."""
    def make(problem):
        rest = torch.empty(problem.inputs[0].shape, dtype=dtype(problem), device=problem.device)
        return lambda x, *, out: call(x, dim, out, rest)
    return make


def sort(x, dim, out, indices):
    torch.sort(x, dim, out=(out, indices))


def argsort(x, dim, out, values):
    torch.sort(x, dim=dim, stable=True, out=(values, out))


def topk(x, *, out):
    torch.topk(x, out[0].shape[1], out=tuple(out))


def unique(x, *, out):
    for result, found in zip(out, torch.unique(x, return_counts=True)):
        result[:found.numel()] = found
        result[found.numel():] = 0


def rms_norm(problem):
    function = getattr(torch.nn.functional, "rms_norm", None)
    if function is None:
        raise assay.NotMine(f"PyTorch {torch.__version__} has no rms_norm")
    return lambda x, weight, *, out: function(x, x.shape[1:], weight, 1e-5)  # no out


def dot(a, b, *, out):
    torch.dot(a, b, out=out.view(()))


def choose(mask, a, b, *, out):
    return torch.where(mask.bool(), a, b, out=out)


# Elementwise ops.
offer("fill", MOVED, lambda a, *, out: out.copy_(a))  # fill_ of 1.13 reads `a` on the host
offer("copy", MOVED, lambda x, *, out: out.copy_(x))
direct("neg", SIGNED, torch.neg)
direct("abs", SIGNED, torch.abs)
for name, dtypes, function in (("add", NUMBERS, torch.add), ("sub", NUMBERS, torch.sub), ("mul", NUMBERS, torch.mul),
                               ("div", FLOATS, torch.div), ("min", NUMBERS, torch.minimum),
                               ("max", NUMBERS, torch.maximum), ("less", NUMBERS, torch.lt), ("equal", NUMBERS, torch.eq),
                               ("where", NUMBERS, choose)):
    direct(name, dtypes, function)
    broadcast(name, dtypes, function)
offer("fma", FLOATS, lambda a, b, c, *, out: torch.addcmul(c, a, b, out=out))
direct("scale", NUMBERS, torch.mul)
direct("square", NUMBERS, torch.square)
direct("sqrt", FLOATS, torch.sqrt)
direct("floor", FLOATS, torch.floor)
direct("ceil", FLOATS, torch.ceil)
direct("round", FLOATS, torch.round)
offer("isnan", FLOATS, lambda x, *, out: out.copy_(torch.isnan(x)))  # no out
direct("clamp", NUMBERS, torch.clamp)
direct("relu", FLOATS, torch.clamp_min, 0)  # what torch.relu calls, which has no out
offer("cast", FORMATS, lambda x, *, out: out.copy_(x))

# Integers.
direct("floor_divide", INTEGERS, torch.floor_divide, filled=torch.ones)
direct("remainder", INTEGERS, torch.remainder, filled=torch.ones)
direct("shift_left", INTEGERS, torch.bitwise_left_shift)
direct("shift_right", INTEGERS, torch.bitwise_right_shift)
direct("bit_and", INTEGERS, torch.bitwise_and)
direct("bit_or", INTEGERS, torch.bitwise_or)
direct("bit_xor", INTEGERS, torch.bitwise_xor)
direct("bit_not", INTEGERS, torch.bitwise_not)

# Functions.
for name in ("exp", "log", "tanh", "sigmoid", "pow"):
    direct(name, FLOATS, getattr(torch, name))
direct("gelu", FLOATS, gelu)
offer("gelu_tanh", FLOATS, lambda x, *, out: gelu(x, approximate="tanh", out=out))

# Reductions. Sums of integers would be i64 without a dtype.
reduction("sum", SIGNED, lambda x, d, keep, out: torch.sum(x, d, keep, dtype=x.dtype, out=out))
reduction("prod", SIGNED, lambda x, d, keep, out: torch.prod(x, d, keep, dtype=x.dtype, out=out))
reduction("mean", FLOATS, lambda x, d, keep, out: torch.mean(x, d, keep, out=out))
reduction("reduce_min", NUMBERS, lambda x, d, keep, out: torch.amin(x, d, keep, out=out))
reduction("reduce_max", NUMBERS, lambda x, d, keep, out: torch.amax(x, d, keep, out=out))
reduction("argmax", NUMBERS, lambda x, d, keep, out: torch.argmax(x, d, keep, out=out))
reduction("argmin", NUMBERS, lambda x, d, keep, out: torch.argmin(x, d, keep, out=out))
offer("dot", FLOATS, dot)
reduction("norm2", FLOATS, lambda x, d, keep, out: torch.linalg.vector_norm(x, 2, d, keep, out=out))
reduction("logsumexp", FLOATS, lambda x, d, keep, out: torch.logsumexp(x, d, keep, out=out))
offer("scan", SIGNED, lambda x, *, out: torch.cumsum(x, 0, dtype=x.dtype, out=out))
offer("scan_axis", SIGNED, lambda x, *, out: torch.cumsum(x, 1, dtype=x.dtype, out=out))
for name, dim in (("", 0), ("_axis", 1)):
    offer(f"sort{name}", NUMBERS, make=sorting(dim, lambda problem: torch.int64, sort))
    offer(f"argsort{name}", NUMBERS, make=sorting(dim, lambda problem: dtype_of(problem.inputs[0]), argsort))
offer("topk", NUMBERS, topk)
offer("unique", NUMBERS, unique)

# Rows and layouts.
direct("softmax", FLOATS, torch.softmax, 1)
direct("softmax_axis", FLOATS, torch.softmax, 1)
offer("layernorm_axis", FLOATS, lambda x, weight, bias, *, out:
      out.copy_(layer_norm(x.movedim(1, 2), x.shape[1:2], weight, bias, 1e-5).movedim(2, 1)))  # of the last extent alone
offer("layernorm", FLOATS, lambda x, weight, bias, *, out: layer_norm(x, x.shape[1:], weight, bias, 1e-5))  # no out
offer("rmsnorm", FLOATS, make=rms_norm)
offer("transpose", NUMBERS, lambda x, *, out: out.copy_(x.t()))
offer("gather", NUMBERS, lambda x, index, *, out: torch.index_select(x, 0, index, out=out))

# Pieces along the n of (outer, n, inner).
def with_params(op, function):
    """Registers a function of tensors, out and the op's parameters."""
    offer(op, NUMBERS, make=lambda problem: functools.partial(function, **problem.params), whole=1)


def pad(x, a, *, out, before, n, **_):
    out[:, :before] = a  # torch.nn.functional.pad reads `a` on the host
    out[:, before + n:] = a
    out[:, before:before + n] = x


offer("concat", NUMBERS, lambda a, b, *, out: torch.cat((a, b), 1, out=out), whole=1)
with_params("slice", lambda x, *, out, start, count, step, **_: out.copy_(x[:, start:start + count * step:step]))
with_params("pad", pad)
offer("flip", NUMBERS, lambda x, *, out: torch.flip(x, (1,)), whole=1)  # no out
with_params("repeat", lambda x, *, out, times, **_: x.repeat(1, times, 1))  # no out

# Products.
offer("batched_matmul", PRODUCTS, make=product(lambda problem: lambda a, b, *, out: torch.bmm(a, b, out=out)))
offer("linear", (*PRODUCTS, "i8", "e4m3"), make=product(layer))
offer("linear_stack", PRODUCTS, make=product(stack))
offer("linear_dx", PRODUCTS, make=product(lambda problem: lambda dy, w, *, out: torch.mm(dy, w, out=out)))
offer("linear_dw", PRODUCTS, make=product(lambda problem: lambda dy, x, *, out: torch.mm(dy.t(), x, out=out)))
