"""Independent kernels of the norms and other reductions in ops_rule.py. The first argument takes their sums; keywords
are what may go wrong."""
import numpy as np

from any_op import shared_steps as steps


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


def ssm_scan(sums, x, decay, b, c, skip, restart=None, shift=0, skipped=True, form=None, states=None):
    state = np.zeros_like(decay)
    b = np.roll(b, shift, 0)
    rows = []
    for t, row in enumerate(x):
        state = (0 if t == restart else decay * state) + row[:, None] * b[t]
        if form is not None:
            state = form(state)
        rows.append(sums.sum(state[:, :states] * c[t, :states]))
    return np.stack(rows) + (skip * x if skipped else 0)


def ssm_scan_by_blocks(sums, x, decay, b, c, skip, block=8):
    """Weighs the inputs of a block with powers of the decay, and the state before it."""
    state = np.zeros_like(decay)
    rows = []
    for start in range(0, len(x), block):
        inputs = x[start:start + block, :, None] * b[start:start + block, None, :]
        for t in range(len(inputs)):
            powers = np.stack([decay ** np.float32(t - s) for s in range(t + 1)], -1)
            terms = powers * np.moveaxis(inputs[:t + 1], 0, -1)
            now = decay ** np.float32(t + 1) * state + sums.sum(terms)
            rows.append(sums.sum(now * c[start + t]))
        state = now
    return np.stack(rows) + skip * x
