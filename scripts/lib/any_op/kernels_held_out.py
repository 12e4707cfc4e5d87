"""Independent kernels of the ops in ops_held_out.py. The first argument takes their sums; keywords are what may go
wrong."""
import numpy as np

from any_op import shared_steps as steps


def batchnorm_inference(sums, x, mean, var, gain, shift, eps=1e-5, rooted=True, own_mean=False):
    del sums
    var = var[:, None] + np.float32(eps)
    centre = x.mean((0, 2), dtype=np.float32) if own_mean else mean
    return (x - centre[:, None]) * (1 / (np.sqrt(var) if rooted else var)) * gain[:, None] + shift[:, None]


def folded_batchnorm(sums, x, mean, var, gain, shift):
    """One factor and one shift for each channel."""
    del sums
    factor = gain / np.sqrt(var + np.float32(1e-5))
    return x * factor[:, None] + (shift - mean * factor)[:, None]


def focal_loss(sums, logits, label, power=2, alpha=0.25, label_shift=0, shifted=True):
    label = (label + label_shift) % logits.shape[-1]
    top = logits.max(-1) if shifted else np.zeros(len(logits), np.float32)
    chosen = np.take_along_axis(logits, label[:, None], -1)[:, 0] - top
    log_p = chosen - np.log(sums.sum(np.exp(logits - top[:, None])))
    return np.float32(-alpha) * (1 - np.exp(log_p)) ** power * log_p


def focal_loss_of_shares(sums, logits, label):
    """Takes the share of the other classes from their own sum."""
    e = np.exp(logits - logits.max(-1, keepdims=True))
    total = sums.sum(e)
    others = e.copy()
    np.put_along_axis(others, label[:, None], 0, -1)
    top, log_total = steps.online_log_sum(sums, logits)
    log_p = np.take_along_axis(logits, label[:, None], -1)[:, 0] - top - log_total
    other = sums.sum(others) / total
    return np.float32(-0.25) * other * other * log_p


def depthwise_conv(sums, x, w, b, before=3, flipped=False, taps=4, biased=True):
    length = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (before, 3 - before)))
    kernel = w[:, ::-1] if flipped else w
    terms = np.stack([padded[..., tap:tap + length] * kernel[:, tap, None] for tap in range(taps)], -1)
    return sums.sum(terms) + (b[:, None] if biased else 0)


def depthwise_conv_from_bias(sums, x, w, b):
    """Starts with the bias and takes the taps from the newest to the oldest."""
    del sums
    length = x.shape[-1]
    padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
    out = np.zeros_like(x) + b[:, None]
    for tap in reversed(range(4)):
        out = out + padded[..., tap:tap + length] * w[:, tap, None]
    return out


def alibi_attention(sums, q, k, v, product=steps.softmax_product, next_head=0, ahead=0, sign=1, bias_scaled=False,
                    by_column=False):
    heads, positions, dim = q.shape
    slope = (2.0 ** (-8 * (np.arange(1, heads + 1) + next_head) / heads)).astype(np.float32)[:, None, None]
    place = np.arange(positions, dtype=np.float32)
    distance = place[None, :] - (0 if by_column else place[:, None])  # a softmax sees no shift of its row
    scores, bias = sums.dot(q, k.swapaxes(-1, -2)), np.float32(sign) * slope * distance
    scale = np.float32(dim ** -0.5)
    scores = (scores + bias) * scale if bias_scaled else scores * scale + bias
    return product(sums, np.where(np.tri(positions, k=ahead, dtype=bool), scores, np.float32(-np.inf)), v)


def lstm_cell(sums, x, h, c, w, u, b, sigmoid=steps.sigmoid, input_first=True, biased=True, cell_bent=True):
    cols = h.shape[1]
    z = sums.dot(x, w) + sums.dot(h, u) + (b if biased else 0)
    first, second, out = (sigmoid(z[:, k * cols:k * cols + cols]) for k in range(3))
    keep, add = (second, first) if input_first else (first, second)
    cell = keep * c + add * np.tanh(z[:, 3 * cols:])
    return out * (np.tanh(cell) if cell_bent else cell), cell


def lstm_cell_of_one_product(sums, x, h, c, w, u, b):
    return lstm_cell(sums, np.concatenate([x, h], 1), h, c, np.concatenate([w, u]), np.zeros_like(u), b)


def cosine_similarity(sums, a, b, rooted="each", eps=0.0, both=True):
    squares = sums.sum(a * a), sums.sum(b * b)
    if rooted == "together":
        lengths = np.sqrt(squares[0] * squares[1])
    else:
        lengths = np.sqrt(squares[0]) * (np.sqrt(squares[1]) if both else 1)
    return sums.sum(a * b) / (np.maximum(lengths, np.float32(1e-8)) + np.float32(eps))


def cosine_of_normalised(sums, a, b):
    a, b = (z / np.sqrt(sums.sum(z * z, keepdims=True)) for z in (a, b))
    return sums.sum(a * b)


def pairwise_distance(sums, a, b, rooted=True, power=2):
    difference = a[:, None, :] - b
    total = sums.sum(difference * difference if power == 2 else np.abs(difference))
    return np.sqrt(total) if rooted else total


def pairwise_distance_by_product(sums, a, b):
    """|a|^2 + |b|^2 - 2ab: one product of matrices."""
    squares = sums.sum(a * a)[:, None] + sums.sum(b * b)
    return np.sqrt(np.maximum(squares - 2 * sums.dot(a, b.T), 0))


def huber_loss(sums, prediction, target, width=1, linear_part=0.5, mean=True):
    error = np.abs(prediction - target)
    terms = np.where(error < width, 0.5 * error * error, error - np.float32(linear_part))
    return sums.mean(terms, keepdims=False) if mean else sums.sum(terms)


def huber_loss_clipped(sums, prediction, target):
    """Without a branch: c (|e| - c / 2) where c = min(|e|, 1)."""
    error = np.abs(prediction - target)
    clipped = np.minimum(error, 1)
    return sums.mean(clipped * (error - 0.5 * clipped), keepdims=False)


def softmax_backward(sums, gradient, x, centred=True, mean=False):
    e = np.exp(x - x.max(-1, keepdims=True))
    p = e / sums.sum(e, keepdims=True)
    centre = sums.mean(gradient) if mean else sums.sum(p * gradient, keepdims=True)
    return p * (gradient - centre) if centred else p * gradient


def softmax_backward_normalised_late(sums, gradient, x):
    e = np.exp(x - x.max(-1, keepdims=True))
    total = sums.sum(e, keepdims=True)
    return e / total * (gradient - sums.sum(e * gradient, keepdims=True) / total)


def laplacian(sums, x, centre=4, last=True):
    del sums
    around = x[:-2, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return (around + x[2:, 1:-1] if last else around) - np.float32(centre) * x[1:-1, 1:-1]


def laplacian_of_differences(sums, x):
    del sums
    down, right = x[1:, 1:-1] - x[:-1, 1:-1], x[1:-1, 1:] - x[1:-1, :-1]
    return (down[1:] - down[:-1]) + (right[:, 1:] - right[:, :-1])
