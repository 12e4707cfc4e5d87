"""Elementwise arithmetic, comparisons and powers."""
import numpy as np

from registry import bug
from tools import store, wide


def fused(a, b, c):
    """a b + c of f32 in f64, its last bit odd if anything was cut off: may be rounded again."""
    product = wide(a) * wide(b)
    addend = wide(c)
    total = product + addend
    high = total - product
    rest = (product - (total - high)) + (addend - high)
    bits = np.atleast_1d(total).view(np.int64)
    odd = np.isfinite(total) & (rest != 0) & (bits % 2 == 0)
    step = np.where((rest > 0) == (total > 0), 1, -1)
    return np.where(odd, (bits + np.where(odd, step, 0)).view(np.float64), total)


@bug("apache/tvm#19579", "max", "f32", "special values",
     "The processor's maximum returns the second operand if the first is NaN.")
def maximum_of_instruction(a, b, *, out, broken):
    out[...] = np.where(a > b, a, b) if broken else np.maximum(a, b)


@bug("pytorch/pytorch#76795", "max", "f32,f64", "special values",
     "A bound that is NaN was ignored, though an element that is NaN was not.")
def maximum_with_nan_bound(a, b, *, out, broken):
    out[...] = np.where(np.isnan(b), a, np.maximum(a, b)) if broken else np.maximum(a, b)


@bug("apache/mxnet#11115", "relu", "f32", "special values",
     "relu turned NaN into 0, and so hid it from all that follows.")
def relu_of_nan(x, *, out, broken):
    out[...] = np.where(x > 0, x, np.float32(0)) if broken else np.maximum(x, 0)


@bug("tracel-ai/burn#5609", "relu", "f32,f64", "special values",
     "relu and bounds used a maximum that returns the operand that is not NaN.")
def relu_by_fmax(x, *, out, broken):
    out[...] = np.fmax(x, 0) if broken else np.maximum(x, 0)


@bug("openvinotoolkit/openvino#36178", "mul", "u8", "saturation",
     "Products of bytes stopped at 255 instead of wrapping.")
def saturated_product(a, b, *, out, broken):
    out[...] = np.minimum(a.astype(np.uint16) * b, 255) if broken else a * b


def flushed(x):
    return np.where(np.abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x)


@bug("cupy/cupy#8382", "mul", "f32", "special values",
     "f32 was compiled to flush: subnormal operands and results became 0.")
def product_without_subnormals(a, b, *, out, broken):
    out[...] = flushed(flushed(a) * flushed(b)) if broken else a * b


@bug("Genesis-Embodied-AI/quadrants#478", "fma", "f16", "rounding",
     "A fused multiply-add of f16 was one of f32, rounded once more.")
def fma_by_f32(a, b, c, *, out, broken):
    exact = fused(a, b, c).reshape(out.shape)
    store(out, exact.astype(np.float32) if broken else exact)


@bug("flashinfer-ai/flashinfer#3640", "fma", "f32", "rounding",
     "A helper called fma multiplied, rounded, and then added.")
def fma_unfused(a, b, c, *, out, broken):
    store(out, a * b + c if broken else fused(a, b, c).reshape(out.shape))


@bug("tenstorrent/tt-metal#52128", "div", "f32", "special values",
     "A correction of the quotient by its remainder made NaN of any division by infinity.")
def quotient_with_residual(a, b, *, out, broken):
    exact = a / b
    if broken:
        exact = np.where(np.isinf(b) & np.isfinite(a), np.float32(np.nan), exact)
    out[...] = exact


@bug("onnx/tensorflow-onnx#2035", "where", "f32,f64", "special values",
     "A choice was made by products with 0 and 1: infinity or NaN in the other operand leaked.")
def choice_by_products(mask, a, b, *, out, broken):
    chosen = mask != 0
    if broken:
        out[...] = a * chosen + b * ~chosen
    else:
        out[...] = np.where(chosen, a, b)


@bug("tenstorrent/tt-metal#51468", "pow", "f32", "special values",
     "Zero to a power between 0 and 1 was 2^(-127 p): the logarithm of 0 was taken for -127.")
def power_of_zero(a, b, *, out, broken):
    y = np.power(wide(a), wide(b))
    if broken:
        y = np.where((a == 0) & (b > 0) & (b < 1), np.exp2(-127 * wide(b)), y)
    store(out, y)


@bug("tenstorrent/tt-metal#55461", "pow", "f32", "special values",
     "Zero to a negative power was NaN instead of infinity.")
def negative_power_of_zero(a, b, *, out, broken):
    y = np.power(wide(a), wide(b))
    store(out, np.where((a == 0) & np.signbit(b), np.nan, y) if broken else y)


@bug("halide/Halide#3833", "pow", "f32", "special values",
     "A power was e to the exponent times the logarithm: NaN for negative numbers, though the "
     "exponent is whole.")
def power_by_logarithm(a, b, *, out, broken):
    y = np.power(wide(a), wide(b))
    store(out, np.where((a < 0) & (b == np.round(b)) & np.isfinite(a), np.nan, y) if broken else y)


@bug("llvm/llvm-project#192639", "pow", "f32", "special values",
     "Powers whose result is subnormal were 0.")
def power_without_subnormals(a, b, *, out, broken):
    y = np.power(wide(a), wide(b))
    if broken:
        y = np.where(np.abs(y) < np.finfo(np.float32).tiny, np.copysign(0, y), y)
    store(out, y)
