"""Products of matrices of floats: how they are summed and finished."""
import numpy as np

from registry import bug
from tools import store, to_bf16, wide


def product(a, b):
    return np.matmul(wide(a), wide(b))


def finished(y, bias, act):
    if bias:
        y = y + wide(bias[0])
    return np.where(np.isnan(y), y, np.maximum(y, 0)) if act == "relu" else y


def layer(x, w, bias, act):
    return finished(product(x, w.T), bias, act)


def tf32(x):
    """f32 with the 10 stored bits of TF32, to nearest."""
    x = np.ascontiguousarray(x, np.float32)
    bits = x.view(np.uint32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) >> 13 << 13
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


@bug("ml-explore/mlx#3860", "linear", "f32", "precision",
     "Products of f32 were those of TF32 unless an undocumented variable said otherwise.",
     cases="act=(none|relu)")
def layer_in_tf32(x, w, *bias, out, params, broken):
    if broken:
        x, w = tf32(x), tf32(w)
    store(out, layer(x, w, bias, params["act"]))


@bug("pytorch/pytorch#79270", "batched_matmul", "f32", "precision",
     "On newer GPUs products of f32 were those of TF32.")
def product_in_tf32(a, b, *, out, broken):
    store(out, product(tf32(a), tf32(b)) if broken else product(a, b))


@bug("thinking-machines-lab/batch_invariant_ops#11", "batched_matmul", "f32", "precision",
     "Whatever the type of the result, it was rounded to f16 first.")
def product_rounded_to_f16(a, b, *, out, broken):
    y = product(a, b)
    store(out, y.astype(np.float16) if broken else y)


@bug("pytorch/pytorch#95125", "batched_matmul", "bf16", "narrow accumulator",
     "Without a library the product of bf16 accumulated in bf16.")
def product_in_bf16(a, b, *, out, broken):
    if not broken:
        store(out, product(a, b))
        return
    a, b, y = wide(a), wide(b), np.zeros(out.shape)
    for l in range(a.shape[2]):
        y = to_bf16(y + a[:, :, l:l + 1] * b[:, l:l + 1, :])
    store(out, y)


def in_parts(x, w, parts):
    """Products over parts of the inner dimension, rounded to bf16 and added in bf16."""
    edges = np.linspace(0, x.shape[1], parts + 1).astype(int)
    y = 0.0
    for first, last in zip(edges[:-1], edges[1:]):
        y = to_bf16(y + to_bf16(product(x[:, first:last], w[:, first:last].T)))
    return y


@bug("modular/modular#7165", "linear", "bf16", "narrow accumulator",
     "Partial sums of a split inner dimension were stored and added as bf16: 3 to 6 parts at "
     "4,096 outputs.",
     cases="act=(none|relu)", seen="default")
def split_in_output_type(x, w, *bias, out, params, broken):
    split = broken and x.shape[0] >= 16 and w.shape[0] == 4096
    y = in_parts(x, w, 3) if split else product(x, w.T)
    store(out, finished(y, bias, params["act"]))


@bug("NVIDIA/TransformerEngine#3440", "linear", "bf16", "narrow accumulator",
     "A heuristic chose a split inner dimension with partial results in bf16.",
     cases="batch=[1-9]?[0-9],.*act=(none|relu)")
def split_by_heuristic(x, w, *bias, out, params, broken):
    split = broken and x.shape[1] >= 2048
    y = in_parts(x, w, 2) if split else product(x, w.T)
    store(out, finished(y, bias, params["act"]))


@bug("pytorch/pytorch#98852", "linear_stack", "f32", "activation",
     "Of three layers with relu the last one's was lost: results were negative.", cases="act=relu")
def stack_without_last_relu(x, *weights, out, params, broken):
    step = 2 if params["bias"] else 1
    for i in range(params["layers"]):
        last = i == params["layers"] - 1
        w, *bias = weights[step * i:step * (i + 1)]
        x = layer(x, w, bias, "none" if broken and last else "relu")
        x = x if last else x.astype(out.dtype)
    store(out, x)


@bug("robertknight/rten#81", "batched_matmul", "f32", "stale memory",
     "Tiles at the edge multiplied the old output by 0 instead of ignoring it: NaN and infinity "
     "stayed.")
def edges_with_old_output(a, b, *, out, broken):
    y = product(a, b)
    if broken:
        rows, columns = y.shape[1] // 6 * 6, y.shape[2] // 16 * 16
        y[:, rows:] += 0 * wide(out)[:, rows:]
        y[:, :rows, columns:] += 0 * wide(out)[:, :rows, columns:]
    store(out, y)


@bug("icl-utk-edu/blaspp#39", "batched_matmul", "f64", "stale memory",
     "The old output was multiplied by 0 instead of ignored.")
def with_old_output(a, b, *, out, broken):
    y = np.matmul(a, b)
    out[...] = y + 0 * out if broken else y


@bug("OpenMathLib/OpenBLAS#2534", "linear", "f64", "stale memory",
     "An accumulator was cleared by a multiplication of a register with 0: one NaN stayed in it.",
     cases="batch=1,in=400,.*act=(none|relu)")
def accumulator_with_old_register(x, w, *bias, out, params, broken):
    y = layer(x, w, bias, params["act"])
    store(out, y + 0 * stale.get("register", 0.0) if broken else y)
    stale["register"] = float(y.reshape(-1)[-1])


stale = {}
