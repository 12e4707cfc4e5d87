"""Steps that several kernels share. Their keywords are what a wrong variant gets wrong."""
import numpy as np

LOG2_E = 1.4426950408889634


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sigmoid_by_tanh(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def softmax_product(sums, scores, v):
    """softmax(scores) @ v, normalised before the product."""
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return sums.dot(p / sums.sum(p, keepdims=True), v)


def late_softmax_product(sums, scores, v, shifted=True):
    """Normalises after the product."""
    p = np.exp(scores - scores.max(-1, keepdims=True) if shifted else scores)
    return sums.dot(p, v) / sums.sum(p, keepdims=True)


def flash_product(sums, scores, v, base2=False, rescaled=True, tile=16):
    """Takes the scores tile by tile and rescales what it has when the maximum grows."""
    top = np.full(scores.shape[:-1] + (1,), -np.inf, np.float32)
    total, out = np.zeros_like(top), np.zeros(1, np.float32)
    for start in range(0, scores.shape[-1], tile):
        part = scores[..., start:start + tile]
        new_top = np.maximum(top, part.max(-1, keepdims=True))
        p = np.exp2((part - new_top) * np.float32(LOG2_E)) if base2 else np.exp(part - new_top)
        factor = np.exp(top - new_top) if rescaled else np.float32(1)
        total = total * factor + sums.sum(p, keepdims=True)
        out = out * factor + sums.dot(p, v[..., start:start + tile, :])
        top = new_top
    return out / total


def online_log_sum(sums, x, tile=64):
    """(maximum, log of the sum of exp(x - maximum)), tile by tile."""
    top = np.full(x.shape[:-1], -np.inf, np.float32)
    total = np.zeros_like(top)
    for start in range(0, x.shape[-1], tile):
        part = x[..., start:start + tile]
        new_top = np.maximum(top, part.max(-1))
        total = total * np.exp(top - new_top) + sums.sum(np.exp(part - new_top[..., None]))
        top = new_top
    return top, np.log(total)


def centred_variance(sums, x, fewer=0):
    """(x - mean, its variance); `fewer` terms in the divisor are a fault."""
    centred = x - sums.mean(x)
    return centred, sums.sum(centred * centred, keepdims=True) / np.float32(x.shape[-1] - fewer)


def _welford(x):
    """(mean, sum of squares about it) of the columns, updated with each of them."""
    mean, squares = np.zeros(x.shape[:-1], np.float32), np.zeros(x.shape[:-1], np.float32)
    for k in range(x.shape[-1]):
        step = x[..., k] - mean
        mean = mean + step / np.float32(k + 1)
        squares = squares + step * (x[..., k] - mean)
    return mean, squares


def _merged(count, mean, squares):
    """Merges neighbours of `count` numbers each until one is left; there are 2, 4, 8, ... of them."""
    while mean.shape[-1] > 1:
        step = mean[..., 1::2] - mean[..., ::2]
        squares = squares[..., ::2] + squares[..., 1::2] + step * step * np.float32(count / 2)
        mean = (mean[..., ::2] + mean[..., 1::2]) * np.float32(0.5)
        count *= 2
    return mean, squares


def welford_variance(sums, x):
    del sums
    mean, squares = _welford(x)
    return x - mean[..., None], squares[..., None] / np.float32(x.shape[-1])


def welford_of_lanes(sums, x, lanes=32):
    """Updates mean and squares in each of the lanes, as a GPU's warp does, and merges them."""
    del sums
    mean, squares = _merged(x.shape[-1] // lanes, *_welford(x.reshape(*x.shape[:-1], lanes, -1)))
    return x - mean, squares / np.float32(x.shape[-1])


def pairs_variance(sums, x):
    del sums
    mean, squares = _merged(1, x, np.zeros_like(x))
    return x - mean, squares / np.float32(x.shape[-1])


def one_pass_variance(sums, x):
    """Cancels where the mean is large: a fault."""
    mean = sums.mean(x)
    return x - mean, sums.mean(x * x) - mean * mean


def doubling_scan(x, combine):
    """Combines each column with those before it, at distances of 1, 2, 4, ..."""
    out, distance = x.copy(), 1
    while distance < x.shape[-1]:
        out[..., distance:] = combine(out[..., distance:], out[..., :-distance])
        distance *= 2
    return out
