"""Independent kernels of the products and attentions in ops_rule.py. The first argument takes their sums; keywords are
what may go wrong."""
import numpy as np

from any_op import shared_steps as steps


def linear(sums, x, w, b, biased=True):
    return sums.dot(x, w) + (b if biased else 0)


def causal_attention(sums, q, k, v, product=steps.softmax_product, scale=None, ahead=0, scaled_first=False):
    positions, dim = q.shape[-2:]
    scale = np.float32(dim ** -0.5 if scale is None else scale)
    scores = sums.dot(q * scale, k.swapaxes(-1, -2)) if scaled_first else sums.dot(q, k.swapaxes(-1, -2)) * scale
    seen = np.tri(positions, k=ahead, dtype=bool)
    seen[:, 0] = True  # each row sees something
    return product(sums, np.where(seen, scores, np.float32(-np.inf)), v)


def swiglu(sums, x, gate, up, sigmoid=steps.sigmoid, swapped=False, limit=np.inf):
    g, u = sums.dot(x, gate), sums.dot(x, up)
    if swapped:
        g, u = u, g
    return np.minimum(g, np.float32(limit)) * sigmoid(g) * u


def swiglu_with_gelu(sums, x, gate, up):
    g = sums.dot(x, gate)
    return g * 0.5 * (1 + np.tanh(np.float32(0.7978845608) * (g + np.float32(0.044715) * g * g * g))) * sums.dot(x, up)


def conv2d(sums, x, w, flipped=False, top_padded=True, tap=None, channel=None):
    batch, channels, height, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), **({} if top_padded else {"mode": "edge"}))
    taps = np.stack([padded[..., i:i + height, j:j + width] for i in range(3) for j in range(3)], 2)
    kernel = w.reshape(len(w), channels, 9)[..., ::-1 if flipped else 1].copy()
    if tap is not None:
        kernel[..., tap] = 0
    if channel is not None:
        kernel[:, channel] = 0
    columns = np.moveaxis(taps.reshape(batch, channels * 9, height, width), 1, -1)
    return np.moveaxis(sums.dot(columns, kernel.reshape(len(w), -1).T), -1, 1)


def conv2d_by_taps(sums, x, w):
    height, width = x.shape[-2:]
    padded = np.moveaxis(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), 1, -1)
    out = sum(sums.dot(padded[:, i:i + height, j:j + width], w[:, :, i, j].T) for i in range(3) for j in range(3))
    return np.moveaxis(out, -1, 1)


def moe(sums, x, router, w, normalised="chosen", shares=(0, 1), capacity=None):
    scores = sums.dot(x, router)
    chosen = np.argsort(-scores, -1, kind="stable")[:, :2]
    top = np.take_along_axis(scores, chosen, -1)
    p = np.exp(top - top[:, :1])
    if normalised == "chosen":
        p = p / (p[:, :1] + p[:, 1:])
    else:
        p = p / sums.sum(np.exp(scores - top[:, :1]), keepdims=True)
        if normalised == "twice":
            p = p / (p[:, :1] + p[:, 1:])
    out = np.zeros((len(x), w.shape[-1]), np.float32)
    for expert in range(w.shape[0]):
        for place, share in enumerate(shares):
            rows = np.flatnonzero(chosen[:, place] == expert)[:capacity]
            if rows.size and share is not None:
                out[rows] += p[rows, share, None] * sums.dot(x[rows], w[expert])
    return out


def int4_product(sums, x, q, scale, zero, shifted_group=0, zeros=True, signed=False, nibbles_swapped=False):
    groups, cols = scale.shape
    q = q.reshape(groups, 32, cols)
    if nibbles_swapped:
        q = q.reshape(groups, 16, 2, cols)[:, :, ::-1].reshape(groups, 32, cols)
    if signed:
        q = np.where(q > 7, q - 16, q)
    zero = zero[:, None] if zeros else 8
    w = (q - zero).astype(np.float32) * np.roll(scale, shifted_group, 0)[:, None]
    return sums.dot(x, w.reshape(groups * 32, cols))


def int4_product_scaled_late(sums, x, q, scale, zero):
    q = q.reshape(len(scale), 32, -1) - zero[:, None]
    parts = (sums.dot(x[:, 32 * group:32 * group + 32], q[group]) * scale[group] for group in range(len(scale)))
    return sum(parts)


def linear_backward(sums, x, w, gradient, rows=None, reverse=False, bias_scale=1):
    to_x = sums.dot(gradient, w.T)
    bias = sums.sum(gradient, 0) * np.float32(bias_scale)
    return to_x[:, ::-1] if reverse else to_x, sums.dot(x[:rows].T, gradient[:rows]), bias


def relu2_mlp(sums, x, up, down, relu=True, squared=True):
    hidden = sums.dot(x, up)
    if relu:
        hidden = np.maximum(hidden, 0)
    return sums.dot(hidden * hidden if squared else hidden, down)


def relu2_mlp_transposed(sums, x, up, down):
    hidden = np.maximum(sums.dot(up.T, x.T), 0)
    return sums.dot(down.T, hidden * hidden).T


def gru_cell(sums, x, h, w, u, sigmoid=steps.sigmoid, blend="both", reset_used=True):
    cols = h.shape[1]
    a, b = sums.dot(x, w), sums.dot(h, u)
    gates = sigmoid(a[:, :2 * cols] + b[:, :2 * cols])
    reset, update = gates[:, :cols], gates[:, cols:]
    candidate = np.tanh(a[:, 2 * cols:] + (reset * b[:, 2 * cols:] if reset_used else b[:, 2 * cols:]))
    if blend == "step":
        return candidate + update * (h - candidate)
    if blend == "swapped":
        return update * candidate + (1 - update) * h
    return (1 - update) * candidate + update * h


def _positive(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(sums, q, k, v, eps=0.0, normalised=True):
    q, k = _positive(q), _positive(k)
    weighted = sums.dot(q, sums.dot(k.swapaxes(-1, -2), v))
    if not normalised:
        return weighted / np.float32(k.shape[-2])
    return weighted / (sums.dot(q, sums.sum(k, -2)[..., None]) + np.float32(eps))


def quadratic_attention(sums, q, k, v):
    scores = sums.dot(_positive(q), _positive(k).swapaxes(-1, -2))
    return sums.dot(scores, v) / sums.sum(scores, keepdims=True)
