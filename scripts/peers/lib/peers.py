"""What PyTorch does that is the same as an op of Assay: one row an op.

The expressions are the code that is timed (torch_worker.py compiles them), so that this table cannot say one thing and
measure another. `y` and what else stands in `outputs` is allocated before; an expression without `out=` allocates its
result, from memory that the process keeps. References are numpy expressions of the same names in f64.
"""
from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tensor:
    """Shape by names of parameters; values as Assay draws them for its last pass, which is the one it times."""
    shape: tuple[str, ...]
    low: float = -1
    high: float = 1
    kind: str = "real"  # or: integer, near_one, index (below the parameter "rows"), mask
    dtype: str = ""     # where it is not that of the case; "to" is the parameter of that name


@dataclass(frozen=True)
class Peer:
    group: str
    expression: str
    inputs: dict[str, Tensor]
    reference: str
    outputs: dict[str, Tensor] = field(default_factory=dict)
    judged: str = "head"    # of the reference: the first elements or rows, or the whole
    tolerance: float = 0    # 0: that of the dtype
    unlike: str = ""        # why the two do not do the same work: then it counts for no mean
    rate: str = "bytes"     # or flops


VECTOR = Tensor(("n",))
MATRIX = Tensor(("rows", "cols"))
MASK = Tensor(("n",), kind="mask")
AROUND_ZERO = Tensor(("n",), -10, 10)
ABOVE_ZERO = Tensor(("n",), 2.0**-10, 10)
Y = {"y": VECTOR}


def unary(expression: str, reference: str, x: Tensor = VECTOR, group: str = "elementwise") -> Peer:
    return Peer(group, expression, {"x": x}, reference, Y)


def binary(expression: str, reference: str, out: Tensor = VECTOR) -> Peer:
    return Peer("elementwise", expression, {"a": VECTOR, "b": VECTOR}, reference, {"y": out})


def reduction(expression: str, reference: str, tolerance: float = 0, x: Tensor = VECTOR) -> Peer:
    return Peer("reduction", expression, {"x": x}, reference, judged="whole", tolerance=tolerance)


def linear(expression: str, reference: str, outputs: dict[str, Tensor] | None = None) -> Peer:
    inputs = {"x": Tensor(("batch", "in")), "w": Tensor(("out", "in")), "b": Tensor(("out",))}
    return Peer("linear", expression, inputs, reference, outputs or {}, rate="flops")


PEERS: dict[str, Peer] = {
    "fill": Peer("elementwise", "y.fill_(0.3)", {}, "np.full(n, 0.3)", Y),
    "copy": unary("y.copy_(x)", "x"),
    "cast": Peer("elementwise", "y.copy_(x)", {"x": Tensor(("n",), 0, 127, "integer")}, "x",
                 {"y": Tensor(("n",), dtype="to")}),
    "neg": unary("torch.neg(x, out=y)", "-x"),
    "abs": unary("torch.abs(x, out=y)", "np.abs(x)"),
    "add": binary("torch.add(a, b, out=y)", "a + b"),
    "sub": binary("torch.sub(a, b, out=y)", "a - b"),
    "mul": binary("torch.mul(a, b, out=y)", "a * b"),
    "div": binary("torch.div(a, b, out=y)", "a / b"),
    # addcmul may round twice: in bf16 it rounds to f32 first.
    "fma": Peer("elementwise", "torch.addcmul(c, a, b, out=y)", {"a": VECTOR, "b": VECTOR, "c": VECTOR}, "a * b + c",
                Y),
    "scale": Peer("elementwise", "torch.mul(x, a, out=y)", {"x": VECTOR, "a": Tensor(())}, "x * a", Y),
    "square": unary("torch.square(x, out=y)", "x * x"),
    "sqrt": unary("torch.sqrt(x, out=y)", "np.sqrt(x)", ABOVE_ZERO),
    "exp": unary("torch.exp(x, out=y)", "np.exp(x)", AROUND_ZERO, "function"),
    "log": unary("torch.log(x, out=y)", "np.log(x)", ABOVE_ZERO, "function"),
    "tanh": unary("torch.tanh(x, out=y)", "np.tanh(x)", AROUND_ZERO, "function"),
    "sigmoid": unary("torch.sigmoid(x, out=y)", "1 / (1 + np.exp(-x))", AROUND_ZERO, "function"),
    "relu": unary("torch.clamp(x, min=0, out=y)", "np.maximum(x, 0)"),  # as torch.relu, which has no out=
    "gelu": unary("torch.ops.aten.gelu.out(x, approximate='none', out=y)", "x / 2 * (1 + erf(x / 2**0.5))",
                  AROUND_ZERO, "function"),
    "gelu_tanh": unary("torch.ops.aten.gelu.out(x, approximate='tanh', out=y)",
                       "x / 2 * (1 + np.tanh((2 / np.pi)**0.5 * (x + 0.044715 * x**3)))", AROUND_ZERO, "function"),
    "pow": Peer("function", "torch.pow(a, b, out=y)", {"a": ABOVE_ZERO, "b": Tensor(("n",), -4, 4)}, "a**b", Y),
    "min": binary("torch.minimum(a, b, out=y)", "np.minimum(a, b)"),
    "max": binary("torch.maximum(a, b, out=y)", "np.maximum(a, b)"),
    "less": binary("torch.lt(a, b, out=y)", "a < b", MASK),
    "equal": binary("torch.eq(a, b, out=y)", "a == b", MASK),
    "where": Peer("elementwise", "torch.where(mask, a, b, out=y)", {"mask": MASK, "a": VECTOR, "b": VECTOR},
                  "np.where(mask != 0, a, b)", Y),
    "random": Peer("random", "torch.rand(n, out=y)", {}, "uniform", Y,
                   unlike="another generator: MT19937, which is serial; Philox 4x32-10 in Assay"),

    "sum": reduction("torch.sum(x)", "np.sum(x)"),
    # Of rounded products the error grows with the root of their number.
    "prod": reduction("torch.prod(x)", "np.prod(x)", 2e-2, Tensor(("n",), kind="near_one")),
    "mean": reduction("torch.mean(x)", "np.mean(x)"),
    "reduce_min": reduction("torch.amin(x)", "np.min(x)"),
    "reduce_max": reduction("torch.amax(x)", "np.max(x)"),
    "argmax": reduction("torch.argmax(x)", "np.argmax(x)", 1e-12),
    "dot": Peer("reduction", "torch.dot(a, b)", {"a": VECTOR, "b": VECTOR}, "np.dot(a, b)", judged="whole"),
    "norm2": reduction("torch.linalg.vector_norm(x)", "np.sqrt(np.dot(x, x))"),
    "scan": Peer("scan", "torch.cumsum(x, 0, out=y)", {"x": VECTOR}, "np.cumsum(x)", Y),
    "sort": Peer("sort", "torch.sort(x, out=(y, i))", {"x": VECTOR}, "np.sort(x)",
                 {"y": VECTOR, "i": Tensor(("n",), kind="index")}, judged="whole",
                 unlike="torch returns the permutation as well"),

    "softmax": Peer("rowwise", "torch.softmax(x, 1, out=y)", {"x": Tensor(("rows", "cols"), -10, 10)},
                    "np.exp(x) / np.exp(x).sum(1, keepdims=True)", {"y": MATRIX}),
    "layernorm": Peer("rowwise", "F.layer_norm(x, (cols,), w, b, 1e-5)",
                      {"x": MATRIX, "w": Tensor(("cols",)), "b": Tensor(("cols",))},
                      "(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b"),
    "transpose": Peer("layout", "y.copy_(x.t())", {"x": MATRIX}, "x.T", {"y": Tensor(("cols", "rows"))},
                      judged="whole"),
    "gather": Peer("layout", "torch.index_select(x, 0, index, out=y)",
                   {"x": MATRIX, "index": Tensor(("count",), kind="index")}, "x[index.astype(int)]",
                   {"y": Tensor(("count", "cols"))}, judged="whole"),
    "batched_matmul": Peer("batched_matmul", "torch.bmm(a, b, out=y)",
                           {"a": Tensor(("batch", "m", "k")), "b": Tensor(("batch", "k", "n"))}, "a @ b",
                           {"y": Tensor(("batch", "m", "n"))}, rate="flops"),

    "linear act=none": linear("F.linear(x, w, b)", "x @ w.T + b"),
    "linear act=relu": linear("torch.relu_(F.linear(x, w, b))", "np.maximum(x @ w.T + b, 0)"),
    "linear act=gelu": linear("torch.ops.aten.gelu.out(F.linear(x, w, b), approximate='none', out=y)",
                              "(z := x @ w.T + b) / 2 * (1 + erf(z / 2**0.5))", {"y": Tensor(("batch", "out"))}),
}

# Ops of Assay's table that are left out, and why.
LEFT_OUT = {
    "linear_stack": "three linear layers: nothing that linear does not show",
    "memcpy, memcpy_2d": "copies of bytes: see scripts/peers/agreement",
    "device_memcpy, peer_memcpy": "need other devices",
    "allreduce": "ranks of one process have no peer in torch, whose ranks are processes",
}


def peer_key(op: str, params: dict[str, int | str]) -> str:
    return f"{op} act={params['act']}" if op == "linear" else op
