"""Ops that the rule of the measured band was made on: each a reference in plain NumPy, as a user writes it."""
import numpy as np

import assay

WEIGHT = (-0.15, 0.15)  # keeps sums of a hundred products near 1
GAIN = (0.7, 1.3)


@assay.op(["rows,inner", assay.Input("inner,cols", range=WEIGHT), "cols"], sizes={"rows": 64, "inner": 256, "cols": 64})
def linear(x, w, b):
    return x @ w + b


@assay.op(["heads,positions,dim"] * 3, sizes={"heads": 2, "positions": 64, "dim": 32})
def causal_attention(q, k, v):
    positions, dim = q.shape[-2:]
    scores = q @ k.swapaxes(-1, -2) / dim ** 0.5
    scores = np.where(np.tri(positions, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@assay.op(["rows,cols", assay.Input("cols", range=GAIN)], sizes={"rows": 64, "cols": 256})
def rmsnorm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


@assay.op(["rows,cols", assay.Input("cols", range=GAIN), "cols"], sizes={"rows": 64, "cols": 256})
def layernorm(x, gain, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * gain + shift


@assay.op(["rows,inner", assay.Input("inner,cols", range=WEIGHT), assay.Input("inner,cols", range=WEIGHT)],
          sizes={"rows": 64, "inner": 128, "cols": 64})
def swiglu(x, gate, up):
    g = x @ gate
    return g / (1 + np.exp(-g)) * (x @ up)


@assay.op(["batch,positions,2*half"], sizes={"batch": 2, "positions": 64, "half": 32})
def rope(x):
    positions, half = x.shape[1], x.shape[2] // 2
    angle = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], -1)


@assay.op(["rows,classes", assay.Input("rows", integers=(0, "classes-1"))], sizes={"rows": 300, "classes": 256})
def cross_entropy(logits, label):
    top = logits.max(-1, keepdims=True)
    chosen = np.take_along_axis(logits, label[:, None], -1)[:, 0]
    return np.log(np.exp(logits - top).sum(-1)) + top[:, 0] - chosen


@assay.op(["batch,channels,height,width", assay.Input("filters,channels,3,3", range=WEIGHT)],
          sizes={"batch": 2, "channels": 16, "height": 10, "width": 12, "filters": 16})
def conv2d(x, w):
    height, width = x.shape[-2:]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    taps = np.stack([padded[..., i:i + height, j:j + width] for i in range(3) for j in range(3)], 2)
    return np.einsum("nckhw,fck->nfhw", taps, w.reshape(w.shape[0], w.shape[1], 9))


@assay.op(["rows,cols"], sizes={"rows": 64, "cols": 256}, out=("rows,8", "rows,8"), fixed=("cols",))
def topk(x):
    index = np.argsort(-x, -1, kind="stable")[:, :8]
    return np.take_along_axis(x, index, -1), index


@assay.op(["tokens,dim", assay.Input("dim,experts", range=WEIGHT), assay.Input("experts,dim,cols", range=WEIGHT)],
          sizes={"tokens": 64, "dim": 96, "experts": 8, "cols": 48}, fixed=("experts",))
def moe(x, router, w):
    scores = x @ router
    chosen = np.argsort(-scores, -1, kind="stable")[:, :2]
    top = np.take_along_axis(scores, chosen, -1)
    share = np.exp(top - top.max(-1, keepdims=True))
    share = share / share.sum(-1, keepdims=True)
    experts = np.arange(router.shape[1])
    gate = np.where(experts == chosen[:, :1], share[:, :1], 0.0) + np.where(experts == chosen[:, 1:], share[:, 1:], 0.0)
    return np.einsum("te,tec->tc", gate, np.einsum("td,edc->tec", x, w))


@assay.op(["rows,32*groups", assay.Input("32*groups,cols", integers=(0, 15)),
           assay.Input("groups,cols", range=(0.01, 0.02)), assay.Input("groups,cols", integers=(0, 15))],
          sizes={"rows": 48, "groups": 6, "cols": 64})
def int4_product(x, q, scale, zero):
    groups, cols = scale.shape
    w = (q.reshape(groups, 32, cols) - zero[:, None]) * scale[:, None]
    return x @ w.reshape(groups * 32, cols)


@assay.op(["rows,inner", assay.Input("inner,cols", range=WEIGHT), "rows,cols"],
          sizes={"rows": 128, "inner": 64, "cols": 48})
def linear_backward(x, w, gradient):
    return gradient @ w.T, x.T @ gradient, gradient.sum(0)


@assay.op(["rows,cols"], sizes={"rows": 300, "cols": 256})
def logsumexp(x):
    top = x.max(-1, keepdims=True)
    return np.log(np.exp(x - top).sum(-1)) + top[:, 0]


@assay.op(["batch,4*each,height,width", assay.Input("4*each", range=GAIN), "4*each"],
          sizes={"batch": 4, "each": 4, "height": 8, "width": 8})
def groupnorm(x, gain, shift):
    groups = x.reshape(x.shape[0], 4, -1)
    centred = groups - groups.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    return normal.reshape(x.shape) * gain[:, None, None] + shift[:, None, None]


@assay.op([assay.Input("rows,cols", range=(0.9, 1.1))], sizes={"rows": 64, "cols": 128})
def cumprod(x):
    return np.cumprod(x, axis=-1)


@assay.op(["rows,cols"], sizes={"rows": 8, "cols": 2048})
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# The rule was changed after it met these: an op that is more than a ring has noise on its inputs.


@assay.op(["rows,cols"], sizes={"rows": 64, "cols": 256})
def l2_normalise(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-12)


@assay.op(["rows,cols"] * 2, sizes={"rows": 300, "cols": 128})
def kl_divergence(a, b):
    def log_softmax(z):
        z = z - z.max(-1, keepdims=True)
        return z - np.log(np.exp(z).sum(-1, keepdims=True))
    p, q = log_softmax(a), log_softmax(b)
    return (np.exp(p) * (p - q)).sum(-1)


@assay.op(["rows,inner", assay.Input("rows,cols", range=(-0.9, 0.9)), assay.Input("inner,3*cols", range=WEIGHT),
           assay.Input("cols,3*cols", range=WEIGHT)], sizes={"rows": 48, "inner": 64, "cols": 48})
def gru_cell(x, h, w, u):
    cols = h.shape[1]
    a, b = x @ w, h @ u
    gates = 1 / (1 + np.exp(-(a[:, :2 * cols] + b[:, :2 * cols])))
    reset, update = gates[:, :cols], gates[:, cols:]
    candidate = np.tanh(a[:, 2 * cols:] + reset * b[:, 2 * cols:])
    return (1 - update) * candidate + update * h


@assay.op([assay.Input("rows,cols", range=(-8, 8))], sizes={"rows": 64, "cols": 256})
def mish(x):
    return x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0))


@assay.op(["rows,inner", assay.Input("inner,hidden", range=WEIGHT), assay.Input("hidden,cols", range=WEIGHT)],
          sizes={"rows": 48, "inner": 96, "hidden": 128, "cols": 48})
def relu2_mlp(x, up, down):
    hidden = np.maximum(x @ up, 0)
    return (hidden * hidden) @ down


@assay.op(["rows,cols"], sizes={"rows": 300, "cols": 256})
def variance(x):
    centred = x - x.mean(-1, keepdims=True)
    return (centred * centred).mean(-1)


@assay.op(["heads,positions,dim"] * 3, sizes={"heads": 2, "positions": 64, "dim": 32})
def linear_attention(q, k, v):
    q, k = (np.where(z > 0, z + 1, np.exp(np.minimum(z, 0))) for z in (q, k))
    return q @ (k.swapaxes(-1, -2) @ v) / (q @ k.sum(-2)[..., None])


# The rule was changed after it met these, on which the first version of this table had false alarms: results that are
# exact by chance (sums of few terms on ordinary data), results of 16-bit inputs that lie on ties, and partial sums that
# overflow.


@assay.op(["rows,cols"] * 3, sizes={"rows": 64, "cols": 96})
def residual(x, attention, mlp):
    return x + attention + mlp


@assay.op(["images,height,width"], sizes={"images": 8, "height": 12, "width": 16},
          out="images,2*height,2*width")
def bilinear_upsample(x):
    def twice(x, axis):
        size = x.shape[axis]
        place = np.maximum((np.arange(2 * size) + 0.5) / 2 - 0.5, 0)
        low = np.floor(place).astype(np.int64)
        high = np.minimum(low + 1, size - 1)
        share = (place - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        return np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return twice(twice(x, 1), 2)


@assay.op(["n", "n", "n", assay.Input("n", range=(0.01, 1))], sizes={"n": 4000})
def adamw_step(parameter, gradient, mean, square):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient * gradient
    step = mean / (np.sqrt(square) + 1e-8) + 0.01 * parameter
    return parameter - 0.001 * step, mean, square


@assay.op(["length,channels", assay.Input("channels,states", range=(0.5, 0.99)), "length,states", "length,states",
           "channels"], sizes={"length": 64, "channels": 32, "states": 16})
def ssm_scan(x, decay, b, c, skip):
    state = x[0][:, None] * b[0]
    rows = [(state * c[0]).sum(-1)]
    for t in range(1, x.shape[0]):
        state = decay * state + x[t][:, None] * b[t]
        rows.append((state * c[t]).sum(-1))
    return np.stack(rows) + skip * x
