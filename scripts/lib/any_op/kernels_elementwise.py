"""Independent kernels of the ops without long sums in ops_rule.py. Keywords are what may go wrong."""
import numpy as np

from any_op import shared_steps as steps


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


def adamw_step(sums, parameter, gradient, mean, square, eps=1e-8, rate=0.999, decayed=True, squared=True,
               by_step=False):
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
