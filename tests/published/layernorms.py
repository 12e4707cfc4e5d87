"""Layer normalization."""
import numpy as np

from registry import bug
from tools import next_power_of_two, store, to_bf16, wide

EPSILON = 1e-5


def moments(x):
    """Mean and variance of each row, f64."""
    x = wide(x)
    mean = x.mean(axis=1, keepdims=True)
    return x, mean, ((x - mean) ** 2).mean(axis=1, keepdims=True)


def normalized(x, mean, variance, weight, bias, epsilon=EPSILON):
    return (x - mean) / np.sqrt(variance + epsilon) * wide(weight) + wide(bias)


def layernorm(x, weight, bias):
    return normalized(*moments(x), weight, bias)


def one_pass(x):
    """The variance in f32 as mean of squares minus square of the mean."""
    squares = np.mean(np.square(x, dtype=np.float32), axis=1, keepdims=True, dtype=np.float32)
    mean = np.mean(x, axis=1, keepdims=True, dtype=np.float32)
    return (squares - mean * mean).astype(np.float64)


@bug("xlite-dev/LeetCUDA#309", "layernorm", "f32", "constants",
     "Epsilon was added to the number of elements instead of the variance.")
def epsilon_misplaced(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        variance = variance * x.shape[1] / (x.shape[1] + EPSILON)
        store(out, normalized(wide_x, mean, variance, weight, bias, 0))
    else:
        store(out, normalized(wide_x, mean, variance, weight, bias))


@bug("VeriSilicon/TIM-VX#589", "layernorm", "f32", "constants",
     "Epsilon arrived as 0: rows of equal elements were NaN.")
def without_epsilon(x, weight, bias, *, out, broken):
    store(out, normalized(*moments(x), weight, bias, 0 if broken else EPSILON))


@bug("tenstorrent/tt-metal#45968", "layernorm", "bf16", "cancellation",
     "The variance was the mean of squares minus the square of the mean, each of them rounded to "
     "bf16.")
def one_pass_in_bf16(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        mean = to_bf16(mean)
        squares = to_bf16(np.mean(to_bf16(wide_x ** 2), axis=1, keepdims=True))
        variance = squares - to_bf16(mean ** 2)
    store(out, normalized(wide_x, mean, variance, weight, bias))


@bug("tracel-ai/burn#5607", "layernorm", "f32", "cancellation",
     "The variance was the mean of squares minus the square of the mean, in f32.")
def one_pass_in_f32(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    store(out, normalized(wide_x, mean, one_pass(x) if broken else variance, weight, bias))


@bug("pytorch/pytorch#190491", "layernorm", "f32", "cancellation",
     "A variance in one pass, and one below a millionth taken for 0.")
def one_pass_clamped(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        variance = one_pass(x)
        variance = np.where(variance < 1e-6, 0, variance)
    store(out, normalized(wide_x, mean, variance, weight, bias))


def padded_variance(x, mean, variance):
    """With the squared mean of each element of the padding to a power of two."""
    columns = x.shape[1]
    return variance + (next_power_of_two(columns) - columns) * mean ** 2 / columns


@bug("triton-lang/triton#9838", "layernorm", "f32", "identity",
     "Rows were padded with zeros to a power of two, and the padding's distance to the mean was "
     "added.")
def padding_in_variance(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        variance = padded_variance(x, mean, variance)
    store(out, normalized(wide_x, mean, variance, weight, bias))


@bug("linkedin/Liger-Kernel#519", "layernorm", "f16", "identity",
     "The mean was subtracted from masked elements too, which the variance then contained.")
def masked_in_variance(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        variance = padded_variance(x, mean, variance)
    store(out, normalized(wide_x, mean, variance, weight, bias))


@bug("pytorch/pytorch#108072", "layernorm", "f32", "cancellation",
     "The mean was subtracted after the division: x s - mean s is not 0 for equal elements.",
     missed="the rule's bound contains the error of the mean over the deviation")
def scaled_before_subtraction(x, weight, bias, *, out, broken):
    wide_x, mean, variance = moments(x)
    if broken:
        scale = (1 / np.sqrt(variance + EPSILON)).astype(np.float32)
        shift = -(mean.astype(np.float32)) * scale
        out[...] = (x * scale + shift) * weight + bias
    else:
        store(out, normalized(wide_x, mean, variance, weight, bias))


@bug("pytorch/pytorch#184826", "layernorm", "f32", "index overflow",
     "From 2^23 rows on, with a number of columns that is no multiple of 4, rows were wrong.",
     seen="default")
def many_rows(x, weight, bias, *, out, broken):
    y = layernorm(x, weight, bias)
    store(out, np.roll(y, 1, axis=0) if broken and x.shape[0] >= 1 << 23 and x.shape[1] % 4 else y)
