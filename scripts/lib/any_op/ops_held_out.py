"""Ops that changed nothing in the rule of the measured band."""
import numpy as np

import assay
from any_op.ops_rule import GAIN, WEIGHT


@assay.op(["batch,channels,length", "channels", assay.Input("channels", range=(0.5, 2)),
           assay.Input("channels", range=GAIN), "channels"], sizes={"batch": 4, "channels": 16, "length": 128})
def batchnorm_inference(x, mean, var, gain, shift):
    return (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5) * gain[:, None] + shift[:, None]


@assay.op(["rows,classes", assay.Input("rows", integers=(0, "classes-1"))], sizes={"rows": 300, "classes": 64})
def focal_loss(logits, label):
    top = logits.max(-1, keepdims=True)
    chosen = np.take_along_axis(logits, label[:, None], -1)[:, 0]
    log_p = chosen - top[:, 0] - np.log(np.exp(logits - top).sum(-1))
    other = 1 - np.exp(log_p)
    return -0.25 * other * other * log_p


@assay.op(["batch,channels,length", "channels,4", "channels"], sizes={"batch": 2, "channels": 48, "length": 96})
def depthwise_conv(x, w, b):
    length = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
    return sum(padded[..., tap:tap + length] * w[:, tap, None] for tap in range(4)) + b[:, None]


@assay.op(["heads,positions,dim"] * 3, sizes={"heads": 4, "positions": 48, "dim": 32})
def alibi_attention(q, k, v):
    heads, positions, dim = q.shape
    slope = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    distance = np.arange(positions)[None, :] - np.arange(positions)[:, None]
    scores = q @ k.swapaxes(-1, -2) / dim ** 0.5 + slope[:, None, None] * distance
    scores = np.where(distance <= 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


@assay.op(["rows,inner", assay.Input("rows,cols", range=(-0.9, 0.9)), "rows,cols",
           assay.Input("inner,4*cols", range=WEIGHT), assay.Input("cols,4*cols", range=WEIGHT), "4*cols"],
          sizes={"rows": 48, "inner": 64, "cols": 32})
def lstm_cell(x, h, c, w, u, b):
    cols = h.shape[1]
    z = x @ w + h @ u + b
    gates = 1 / (1 + np.exp(-z[:, :3 * cols]))
    cell = gates[:, cols:2 * cols] * c + gates[:, :cols] * np.tanh(z[:, 3 * cols:])
    return gates[:, 2 * cols:] * np.tanh(cell), cell


@assay.op(["rows,cols"] * 2, sizes={"rows": 300, "cols": 128})
def cosine_similarity(a, b):
    lengths = np.sqrt((a * a).sum(-1)) * np.sqrt((b * b).sum(-1))
    return (a * b).sum(-1) / np.maximum(lengths, 1e-8)


@assay.op(["rows,dim", "cols,dim"], sizes={"rows": 32, "cols": 40, "dim": 64})
def pairwise_distance(a, b):
    difference = a[:, None, :] - b
    return np.sqrt((difference * difference).sum(-1))


@assay.op(["rows,cols"] * 2, sizes={"rows": 300, "cols": 128})
def huber_loss(prediction, target):
    error = np.abs(prediction - target)
    return np.where(error < 1, 0.5 * error * error, error - 0.5).mean(-1)


@assay.op(["rows,cols"] * 2, sizes={"rows": 64, "cols": 192})
def softmax_backward(gradient, x):
    e = np.exp(x - x.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return p * (gradient - (p * gradient).sum(-1, keepdims=True))


@assay.op(["height,width"], sizes={"height": 64, "width": 80}, out="height-2,width-2")
def laplacian(x):
    inner = x[1:-1, 1:-1]
    return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * inner
