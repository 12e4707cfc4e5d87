"""gelu by tanh."""
import numpy as np

from registry import bug
from tools import store, wide

ROOT = np.sqrt(np.longdouble(2) / np.longdouble("3.14159265358979323846264338327950288"))


def inner(x):
    return ROOT * (x + np.longdouble("0.044715") * x * x * x)


def gelu(x):
    """Without cancellation: x over 1 + e^(-2 u). NaN for -infinity, as by the formula."""
    x = wide(x).astype(np.longdouble)
    return (x / (1 + np.exp(-2 * inner(x)))).astype(np.float64)


def by_f32_tanh(x, tanh):
    """gelu in f32 with this tanh."""
    x = wide(x).astype(np.float32)
    return (np.float32(0.5) * x * (1 + tanh(inner(x).astype(np.float32)))).astype(np.float64)


@bug("ooples/AiDotNet.Tensors#594", "gelu_tanh", "f64", "intermediate overflow",
     "tanh was (e^2z - 1) / (e^2z + 1): NaN where e^2z is infinite, in f64 from 19.8 on.")
def gelu_f64_overflow(x, *, out, broken):
    infinite = np.isinf(np.exp((2 * inner(x)).astype(np.float64)))
    store(out, np.where(infinite, np.nan, gelu(x)) if broken else gelu(x))


@bug("intel/llm-scaler#484", "gelu_tanh", "f16", "intermediate overflow",
     "tanh was (e^2z - 1) / (e^2z + 1) in f32: NaN from about 11 on.")
def gelu_f16_overflow(x, *, out, broken):
    def tanh(z):
        e = np.exp(2 * z)
        return (e - 1) / (e + 1)

    y = gelu(x)
    store(out, np.where(np.isnan(by_f32_tanh(x, tanh)), np.nan, y) if broken else y)


@bug("pytorch/executorch#22323", "gelu_tanh", "f32", "intermediate overflow",
     "tanh was (e^z - e^-z) / (e^z + e^-z) in f32: NaN beyond about 13 on both sides.")
def gelu_f32_overflow(x, *, out, broken):
    def tanh(z):
        up, down = np.exp(z), np.exp(-z)
        return (up - down) / (up + down)

    y = gelu(x)
    store(out, np.where(np.isnan(by_f32_tanh(x, tanh)), np.nan, y) if broken else y)


@bug("pytorch/pytorch#186278", "gelu_tanh", "bf16", "intermediate overflow",
     "A fast tanh overflowed: NaN from 10.5 on.")
def gelu_bf16_overflow(x, *, out, broken):
    y = gelu(x)
    store(out, np.where(wide(x) > 10, np.nan, y) if broken else y)


@bug("tenstorrent/tt-metal#56517", "gelu_tanh", "f32,bf16", "cancellation",
     "1 + tanh was formed in f32: nothing is left of the negative tail.",
     missed="the rule allows 16 units of the argument, which is more than the tail")
def gelu_without_tail(x, *, out, broken):
    y = gelu(x)
    store(out, np.where(wide(x) < -4, by_f32_tanh(x, np.tanh), y) if broken else y)
