"""Independent kernels of the ops in ops_rule.py. The first argument takes their sums; keywords are what may go wrong."""
import numpy as np

from any_op import shared_steps as steps

# Products and attention


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


# Norms


def rmsnorm(sums, x, gain, eps=1e-6, root="divide", fewer=0, centred=False, gained=True):
    if centred:
        x = x - sums.mean(x)
    square = sums.sum(x * x, keepdims=True) / np.float32(x.shape[-1] - fewer) + np.float32(eps)
    normal = x / np.sqrt(square) if root == "divide" else x * (1 / np.sqrt(square))
    return normal * gain if gained else normal


def layernorm(sums, x, gain, shift, moments=steps.centred_variance, eps=1e-5, shifted=True):
    centred, var = moments(sums, x)
    return centred * (1 / np.sqrt(var + np.float32(eps))) * gain + (shift if shifted else 0)


def groupnorm(sums, x, gain, shift, groups=4, moments=steps.centred_variance, eps=1e-5, shifted=True):
    centred, var = moments(sums, x.reshape(len(x), groups, -1))
    normal = (centred / np.sqrt(var + np.float32(eps))).reshape(x.shape)
    return normal * gain[:, None, None] + (shift[:, None, None] if shifted else 0)


def l2_normalise(sums, x, eps=1e-12, root="divide", power=2):
    square = sums.sum(np.abs(x) if power == 1 else x * x, keepdims=True) + np.float32(eps)
    return x / np.sqrt(square) if root == "divide" else x * (1 / np.sqrt(square))


def variance(sums, x, moments=steps.centred_variance):
    return moments(sums, x)[1][..., 0]


# Sums of exponentials


def cross_entropy(sums, logits, label, label_shift=0, shifted=True, smoothing=0.0, top_added=True):
    label = (label + label_shift) % logits.shape[-1]
    chosen = np.take_along_axis(logits, label[:, None], -1)[:, 0]
    top = logits.max(-1) if shifted else np.zeros(len(logits), np.float32)
    if smoothing:
        chosen = np.float32(1 - smoothing) * chosen + np.float32(smoothing) * sums.mean(logits)[:, 0]
    total = np.log(sums.sum(np.exp(logits - top[:, None])))
    return (total + top if top_added else total) - chosen


def online_cross_entropy(sums, logits, label):
    top, total = steps.online_log_sum(sums, logits)
    return total + top - np.take_along_axis(logits, label[:, None], -1)[:, 0]


def logsumexp(sums, x, shifted=True, divided=1, floor=-np.inf, eps=0.0, top_added=True):
    x = np.maximum(x, np.float32(floor))
    top = x.max(-1) if shifted else np.zeros(x.shape[:-1], np.float32)
    total = np.log(sums.sum(np.exp(x - top[:, None])) / np.float32(divided) + np.float32(eps))
    return total + top if top_added else total


def logsumexp_base2(sums, x):
    top = x.max(-1)
    total = sums.sum(np.exp2((x - top[:, None]) * np.float32(steps.LOG2_E)))
    return np.log2(total) * np.float32(1 / steps.LOG2_E) + top


def online_logsumexp(sums, x):
    top, total = steps.online_log_sum(sums, x)
    return total + top


def softmax(sums, x, shifted=True, columns=None, axis=-1, eps=0.0):
    e = np.exp(x - x.max(-1, keepdims=True) if shifted else x)
    return e / (sums.sum(e[:, :columns], axis, keepdims=True) + np.float32(eps))


def online_softmax(sums, x):
    top, total = steps.online_log_sum(sums, x)
    return np.exp(x - top[:, None]) / np.exp(total)[:, None]


def softmax_of_logarithms(sums, x):
    x = x - x.max(-1, keepdims=True)
    return np.exp(x - np.log(sums.sum(np.exp(x), keepdims=True)))


def kl_divergence(sums, a, b, joint=False, reverse=False, entropy=True):
    def log_softmax(z):
        top = z.max(-1, keepdims=True)
        total = np.log(sums.sum(np.exp(z - top), keepdims=True))
        return z - (top + total) if joint else (z - top) - total
    if reverse:
        a, b = b, a
    p, q = log_softmax(a), log_softmax(b)
    return sums.sum(np.exp(p) * (p - q if entropy else -q))


# Without sums


def rope(sums, x, base=10000.0, start=0, sign=1, interleaved=False, form=None, by_exp2=False):
    del sums
    positions, half = x.shape[1], x.shape[2] // 2
    place = np.arange(start, start + positions, dtype=np.float32)[:, None]
    exponent = -np.arange(half, dtype=np.float32) / np.float32(half)
    angle = place * (np.exp2(exponent * np.float32(np.log2(base))) if by_exp2 else np.float32(base) ** exponent)
    return _rotated(x, np.cos(angle), np.sin(angle) * np.float32(sign), interleaved, form)


def rope_by_table(sums, x):
    """Rounds angles of higher precision once, as a table made on the host does."""
    del sums
    positions, half = x.shape[1], x.shape[2] // 2
    angle = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    return _rotated(x, np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32), False, None)


def _rotated(x, cos, sin, interleaved, form):
    half = x.shape[-1] // 2
    if form is not None:
        cos, sin = form(cos), form(sin)
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def topk(sums, x, magnitude=False, columns=None, in_order=True, kept=8, last_tie=False):
    del sums
    key = -(np.abs(x) if magnitude else x)[:, :columns]
    if last_tie:
        index = x.shape[1] - 1 - np.argsort(key[:, ::-1], -1, kind="stable")[:, :8]
    else:
        index = np.argsort(key, -1, kind="stable")[:, :8]
    index[:, kept:] = index[:, kept - 1:kept]
    if not in_order:
        index = np.sort(index, -1)
    return np.take_along_axis(x, index, -1), index


def cumprod(sums, x, form=None, restart=None, skipped=None, exclusive=False):
    del sums
    factors = x.copy()
    if skipped is not None:
        factors[:, skipped] = 1
    if exclusive:
        factors = np.concatenate([np.ones_like(x[:, :1]), x[:, :-1]], 1)
    out = factors.copy()
    for k in range(1, x.shape[1]):
        if k != restart:
            out[:, k] = out[:, k - 1] * factors[:, k]
        if form is not None:
            out[:, k] = form(out[:, k])
    return out


def cumprod_by_scan(sums, x):
    del sums
    return steps.doubling_scan(x, np.multiply)


def mish(sums, x):
    del sums
    return x * np.tanh(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0))


def mish_by_ratio(sums, x):
    del sums
    e = np.exp(np.minimum(x, 20))
    n = e * (e + 2)
    return x * n / (n + 2)


def naive_mish(sums, x):
    """Loses the tail: 1 + exp(x) forgets exp(x)."""
    del sums
    return x * np.tanh(np.log(1 + np.exp(np.minimum(x, 80))))


def swish(sums, x):
    del sums
    return x * steps.sigmoid(x)


# Found by this table


def residual(sums, x, attention, mlp, used=True):
    del sums
    return x + (attention + mlp) if used else x + attention


def residual_in_order(sums, x, attention, mlp):
    del sums
    return mlp + x + attention


def bilinear_upsample(sums, x, place="centres", smooth=True, edge="clamp", swapped=False):
    del sums

    def twice(x, axis):
        size = x.shape[axis]
        at = np.arange(2 * size) * (size - 1) / (2 * size - 1) if place == "corners" else np.arange(2 * size) / 2 - 0.25
        low = np.floor(at).astype(np.int64)
        share = at - low if smooth else np.rint(at - low)
        share = (1 - share if swapped else share).astype(np.float32).reshape([-1] + [1] * (x.ndim - 1 - axis))
        low, high = (index % size if edge == "wrap" else index.clip(0, size - 1) for index in (low, low + 1))
        return x.take(low, axis) * (1 - share) + x.take(high, axis) * share

    return twice(twice(x, 1), 2)


def bilinear_columns_first(sums, x):
    return bilinear_upsample(sums, x.swapaxes(1, 2)).swapaxes(1, 2)


def adamw_step(sums, parameter, gradient, mean, square, eps=1e-8, rate=0.999, decayed=True, squared=True, by_step=False):
    del sums
    new_square = gradient * gradient if squared else np.abs(gradient)
    if by_step:
        mean = mean + np.float32(0.1) * (gradient - mean)
        square = square + np.float32(1 - rate) * (new_square - square)
    else:
        mean = np.float32(0.9) * mean + np.float32(0.1) * gradient
        square = np.float32(rate) * square + np.float32(1 - rate) * new_square
    step = np.float32(0.001) * mean / (np.sqrt(square) + np.float32(eps))
    if decayed:
        parameter = parameter * np.float32(1 - 0.001 * 0.01)
    return parameter - step, mean, square
