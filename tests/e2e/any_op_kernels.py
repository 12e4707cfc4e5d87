"""Ops as users define them, and kernels for them in f32: right ones in several orders of their sums, and wrong ones."""
import numpy as np

import assay

F = np.float32
LIST = []  # name, inputs for a random generator, right kernels, wrong kernels


def op(make_inputs, right, wrong):
    """Adds the reference above which it stands."""
    def add(reference):
        LIST.append((reference.__name__, make_inputs, right, wrong))
        return reference
    return add


def normal(*shape, mean=0.0, scale=1.0):
    return lambda random: (mean + scale * random.standard_normal(shape)).astype(F)


def whole(low, high, *shape):
    return lambda random: random.integers(low, high, shape, endpoint=True)


# Sums of the last axis in f32.

def in_order(terms):
    return np.add.accumulate(terms, -1, dtype=F)[..., -1]


def backwards(terms):
    return in_order(terms[..., ::-1])


def by_halves(terms):
    while terms.shape[-1] > 1:
        if terms.shape[-1] % 2:
            terms = np.concatenate([terms, np.zeros_like(terms[..., :1])], -1)
        terms = terms[..., ::2] + terms[..., 1::2]
    return terms[..., 0]


def in_lanes(terms):
    count = terms.shape[-1] // 8 * 8
    lanes = terms[..., :count].reshape(*terms.shape[:-1], -1, 8)
    return in_order(np.concatenate([in_order(np.moveaxis(lanes, -2, -1)), terms[..., count:]], -1))


SUMS = (in_order, backwards, by_halves, in_lanes)


def in_half(terms):
    """A sum in an accumulator of f16."""
    total = np.zeros(terms.shape[:-1], np.float16)
    for index in range(terms.shape[-1]):
        total = total + terms[..., index].astype(np.float16)
    return total.astype(F)


def without_last(terms):
    return in_order(terms[..., :-1])


def tf32(x):
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(F)


def product(a, b, total=in_order):
    """a @ b in f32, of matrices or batches of them."""
    return total((a[..., :, None, :] * np.swapaxes(b, -1, -2)[..., None, :, :]).astype(F))


def each(kernel, totals=SUMS):
    return [lambda *inputs, total=total: kernel(*inputs, total=total) for total in totals]


def zeros(kernel):
    def wrong(*inputs):
        result = kernel(*inputs)
        return tuple(map(np.zeros_like, result)) if isinstance(result, tuple) else np.zeros_like(result)
    return wrong


def last_row_unwritten(kernel):
    def wrong(*inputs):
        result = kernel(*inputs)
        outputs = [one.copy() for one in (result if isinstance(result, tuple) else (result,))]
        for one in outputs:
            one[-1] = 0
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]
    return wrong


def wrong_of(kernel, *more):
    return [zeros(kernel), last_row_unwritten(kernel), *more]


# RMSNorm

def rms_kernel(x, g, total=in_order, eps=1e-6):
    mean_square = total(x * x) / F(x.shape[-1]) + F(eps)
    return x * (F(1) / np.sqrt(mean_square))[:, None] * g


@op([normal(48, 320), normal(320, mean=1, scale=0.1)], each(rms_kernel),
    wrong_of(rms_kernel, *each(rms_kernel, [in_half, without_last]), lambda x, g: rms_kernel(x, g, eps=1e-5),
             lambda x, g: rms_kernel(x, np.ones_like(g))))
@assay.op(["rows,cols", "cols"], sizes={"rows": 48, "cols": 320})
def rmsnorm(x, g):
    mean_square = (x * x).mean(-1, keepdims=True)
    return x / np.sqrt(mean_square + 1e-6) * g


# Softmax

def softmax_kernel(x, total=in_order):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / total(e)[:, None]


def online_softmax(x):
    largest, total = np.full(len(x), -np.inf, F), np.zeros(len(x), F)
    for begin in range(0, x.shape[1], 64):
        block = x[:, begin:begin + 64]
        new = np.maximum(largest, block.max(-1))
        total = total * np.exp(largest - new) + in_order(np.exp(block - new[:, None]))
        largest = new
    return np.exp(x - largest[:, None]) / total[:, None]


@op([normal(24, 700)], [*each(softmax_kernel), online_softmax],
    wrong_of(softmax_kernel, *each(softmax_kernel, [in_half, without_last]),
             lambda x: np.exp(x.astype(np.float16)).astype(F) / in_order(np.exp(x))[:, None]))
@assay.op(["rows,cols"], sizes={"rows": 24, "cols": 700})
def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# LayerNorm

def layer_kernel(x, g, b, total=in_order, eps=1e-5, count=None):
    mean = total(x) / F(x.shape[-1])
    d = x - mean[:, None]
    variance = total(d * d) / F(count or x.shape[-1]) + F(eps)
    return d / np.sqrt(variance)[:, None] * g + b


@op([normal(48, 320), normal(320, mean=1, scale=0.1), normal(320)], each(layer_kernel),
    wrong_of(layer_kernel, *each(layer_kernel, [in_half, without_last]),
             lambda x, g, b: layer_kernel(x, g, b, eps=1e-4),
             lambda x, g, b: layer_kernel(x, g, b, count=319), lambda x, g, b: layer_kernel(x, g, 0 * b)))
@assay.op(["rows,cols", "cols", "cols"], sizes={"rows": 48, "cols": 320})
def layernorm(x, g, b):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b


# Causal attention

def attention_kernel(q, k, v, total=in_order, through=lambda x: x, diagonal=0):
    n, d = q.shape[-2:]
    s = product(through(q), through(np.swapaxes(k, -1, -2).copy()), total) * F(1 / np.sqrt(d))
    s = np.where(np.tri(n, k=diagonal, dtype=bool), s, F(-np.inf))
    p = np.exp(s - s.max(-1, keepdims=True))
    return product(through(p), through(v), total) / total(p)[..., None]


@op([normal(2, 48, 32)] * 3, each(attention_kernel),
    wrong_of(attention_kernel, *each(attention_kernel, [in_half, without_last]),
             lambda q, k, v: attention_kernel(q, k, v, through=tf32),
             lambda q, k, v: attention_kernel(q, k, v, diagonal=1)))
@assay.op(["heads,n,d"] * 3, sizes={"heads": 2, "n": 48, "d": 32})
def attention(q, k, v):
    n, d = q.shape[-2:]
    s = np.where(np.tri(n, dtype=bool), q @ k.swapaxes(-1, -2) / np.sqrt(d), -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ v


# Cross-entropy with integer labels

def entropy_kernel(z, y, total=in_order, shift=0):
    m = z.max(-1)
    true = np.take_along_axis(z, (y[:, None] + shift) % z.shape[1], -1)[:, 0]
    return np.log(total(np.exp(z - m[:, None]))) + m - true


@op([normal(300, 200), whole(0, 199, 300)], each(entropy_kernel),
    wrong_of(entropy_kernel, *each(entropy_kernel, [in_half, without_last]),
             lambda z, y: entropy_kernel(z, y, shift=1)))
@assay.op(["tokens,classes", assay.Input("tokens", integers=(0, "classes-1"))], sizes={"tokens": 300, "classes": 200})
def cross_entropy(z, y):
    m = z.max(-1, keepdims=True)
    return np.log(np.exp(z - m).sum(-1)) + m[:, 0] - np.take_along_axis(z, y[:, None], -1)[:, 0]


# The eight largest: values and indices

def top_kernel(x, skip=0, key=lambda x: x, reverse=False):
    keys = key(x[:, :x.shape[1] - skip])
    if reverse:  # the last of equal ones comes first
        order = x.shape[1] - 1 - np.argsort(-keys[:, ::-1], -1, kind="stable")
    else:
        order = np.argsort(-keys, -1, kind="stable")
    return np.take_along_axis(x, order[:, :8], -1), order[:, :8]


@op([normal(64, 256)], [top_kernel, lambda x: top_kernel(x, reverse=True)],
    wrong_of(top_kernel, lambda x: top_kernel(x, skip=32), lambda x: top_kernel(x, key=np.abs),
             lambda x: (top_kernel(x)[0], np.sort(top_kernel(x)[1]))))
@assay.op(["rows,cols"], sizes={"rows": 64, "cols": 256}, fixed=["cols"])
def topk(x):
    order = np.argsort(-x, -1, kind="stable")[:, :8]
    return np.take_along_axis(x, order, -1), order


# Product with weights of four bits in groups of 32

def int4_kernel(x, q, s, z, total=in_order, through=lambda x: x):
    w = ((q.reshape(-1, 32, q.shape[1]) - z[:, None]).astype(F) * s[:, None]).reshape(q.shape)
    return product(through(x), through(w), total)


def int4_scaled_late(x, q, s, z):
    q = (q.reshape(-1, 32, q.shape[1]) - z[:, None]).astype(F)
    parts = [product(x[:, 32 * group:32 * group + 32], q[group]) * s[group] for group in range(len(q))]
    return in_order(np.stack(parts, -1))


@op([normal(32, 256), whole(0, 15, 256, 40), lambda random: random.uniform(0.01, 0.02, (8, 40)).astype(F),
     whole(0, 15, 8, 40)], [*each(int4_kernel), int4_scaled_late],
    wrong_of(int4_kernel, *each(int4_kernel, [in_half, without_last]),
             lambda x, q, s, z: int4_kernel(x, q, s, z, through=tf32),
             lambda x, q, s, z: int4_kernel(x, q, s, 0 * z + 8),
             lambda x, q, s, z: int4_kernel(x, q, np.roll(s, 1, 0), z)))
@assay.op(["m,k", assay.Input("k,n", integers=(0, 15)), assay.Input("k//32,n", range=(0.01, 0.02)),
           assay.Input("k//32,n", integers=(0, 15))], sizes={"m": 32, "k": 256, "n": 40}, fixed=["k"])
def int4_product(x, q, s, z):
    w = (q.reshape(-1, 32, q.shape[1]) - z[:, None]) * s[:, None]
    return x @ w.reshape(q.shape)


# Prefix sum

def scan_kernel(x):
    y, distance = x.copy(), 1
    while distance < x.shape[1]:
        y[:, distance:] = y[:, distance:] + y[:, :-distance]
        distance *= 2
    return y


def half_scan(x):
    return np.add.accumulate(x.astype(np.float16), 1).astype(F)


@op([normal(24, 300)], [lambda x: np.add.accumulate(x, 1), scan_kernel],
    wrong_of(scan_kernel, half_scan, lambda x: scan_kernel(x) - x))
@assay.op(["rows,cols"], sizes={"rows": 24, "cols": 300})
def prefix_sum(x):
    return np.cumsum(x, axis=-1)


# Linear layer

def linear_kernel(x, w, b, total=in_order, through=lambda x: x):
    return product(through(x), through(w), total) + b


@op([normal(32, 300), normal(300, 24, scale=0.05), normal(24)], [*each(linear_kernel), lambda x, w, b: x @ w + b],
    wrong_of(linear_kernel, *each(linear_kernel, [in_half, without_last]),
             lambda x, w, b: linear_kernel(x, w, b, through=tf32), lambda x, w, b: linear_kernel(x, w, 0 * b)))
@assay.op(["rows,in", "in,out", "out"], sizes={"rows": 32, "in": 300, "out": 24})
def linear(x, w, b):
    return x @ w + b
