"""Layers of 8-bit integers."""
import numpy as np

from registry import bug
from tools import past

CASES = "act=(none|relu)"


def sums(x, w):
    """Exact: f64 holds them."""
    return (x.astype(np.float64) @ w.T.astype(np.float64)).astype(np.int64)


def finish(y, bias, act, out):
    y = y + (bias[0].astype(np.int64) if bias else 0)
    out[...] = np.maximum(y, 0) if act == "relu" else y


@bug("uxlfoundation/oneDNN#476", "linear", "i8", "saturation",
     "Two products of bytes were added in 16 bits, which saturate.",
     cases="batch=[1-9]?[0-9],.*" + CASES)
def saturated_pairs(x, w, *bias, out, params, broken):
    if not broken:
        finish(sums(x, w), bias, params["act"], out)
        return
    even = x.shape[1] // 2 * 2
    shifted, y = x.astype(np.int64) + 128, np.empty((x.shape[0], w.shape[0]), np.int64)
    for row in range(x.shape[0]):
        products = shifted[row] * w.astype(np.int64)
        pairs = products[:, 0:even:2] + products[:, 1:even:2]
        y[row] = np.clip(pairs, -32768, 32767).sum(axis=1) + products[:, even:].sum(axis=1)
    finish(y - 128 * w.astype(np.int64).sum(axis=1), bias, params["act"], out)


@bug("microsoft/onnxruntime#31573", "linear", "i8", "index overflow",
     "Two products that are 8 elements apart shared a 16-bit lane: only -128 times -128 twice "
     "overflows it.",
     cases="batch=(1|2|3|16|64),.*" + CASES)
def overflown_pairs(x, w, *bias, out, params, broken):
    y = sums(x, w)
    if broken:
        whole = x.shape[1] // 16 * 16
        least = [(m[:, :whole] == -128).reshape(m.shape[0], -1, 2, 8) for m in (x, w)]
        both = [(m[:, :, 0] & m[:, :, 1]).reshape(m.shape[0], -1).astype(np.float64) for m in least]
        y -= 65536 * (both[0] @ both[1].T).astype(np.int64)
    finish(y, bias, params["act"], out)


@bug("ggml-org/ggml#1393", "linear", "i8", "special values",
     "The sign of one factor was moved to the other, where -128 has no negative.", cases=CASES)
def sign_of_the_least(x, w, *bias, out, params, broken):
    y = sums(x, w)
    if broken:
        negative = np.where(x < 0, -x.astype(np.int64), 0)
        y -= 256 * sums(negative, (w == -128).astype(np.int64))
    finish(y, bias, params["act"], out)


@bug("ggml-org/llama.cpp#8311", "linear", "i8", "tail",
     "Boundaries between blocks assumed a multiple of 128: the rest of the inner dimension was "
     "left out.",
     cases=CASES)
def inner_dimension_rounded_down(x, w, *bias, out, params, broken):
    inner = x.shape[1] // 128 * 128 if broken and x.shape[1] > 128 else x.shape[1]
    finish(sums(x[:, :inner], w[:, :inner]), bias, params["act"], out)


@bug("ggml-org/llama.cpp#2144", "linear", "i8", "tail",
     "One row times a matrix read whole blocks of 128: behind each row of weights the next one, "
     "behind the "
     "vector what its buffer held before.", cases="batch=1,.*" + CASES)
def blocks_behind_rows(x, w, *bias, out, params, broken):
    y = sums(x, w)
    rest = -x.shape[1] % 128
    if broken and x.shape[0] == 1 and rest:
        follows = past(w.reshape(-1), w.size + rest)
        ends = (np.arange(w.shape[0]) + 1) * w.shape[1]
        y += sums(x[:, :rest], follows[ends[:, None] + np.arange(rest)][:, :x.shape[1]])
    finish(y, bias, params["act"], out)


@bug("uxlfoundation/oneDNN#5212", "linear", "i8", "activation",
     "relu of one block of rows overwrote the mask by which the next one loads the last columns.",
     cases="batch=([2-9]|[1-9][0-9]),.*act=relu")
def mask_overwritten_by_relu(x, w, *bias, out, params, broken):
    height, width = 6, 8
    full = w.shape[0] // width * width
    finish(sums(x, w), bias, "none", out)
    for row in range(height, x.shape[0], height):
        if broken and full < w.shape[0]:
            masked = out[row - 1, full:] <= 0
            rows = out[row:row + height, full:]
            rows[:, masked] = bias[0][full:][masked] if bias else 0
    out[...] = np.maximum(out, 0)


@bug("ROCm/legacy-rocm-build#5722", "linear", "i8", "tail",
     "With an inner dimension of 1 the code of the rest ignored which group it is: all groups but"
     " one were wrong.",
     cases=CASES)
def groups_with_inner_dimension_of_one(x, w, *bias, out, params, broken):
    y = sums(x, w)
    if broken and x.shape[1] == 1:
        y[64:], y[:, 64:] = 0, 0
    finish(y, bias, params["act"], out)
