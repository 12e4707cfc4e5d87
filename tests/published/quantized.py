"""Block-scaled formats."""
import numpy as np

from registry import bug
from tools import E2M1, E4M3, nearest_code, wide


def blocks_of(x, size):
    return wide(x).reshape(-1, size)


def with_sign(code, x):
    return (code | np.where(np.signbit(x), 8, 0)).astype(np.uint8)


def write(out, elements, scales):
    elements = elements.reshape(-1)
    flat = out.reshape(-1)
    flat[...] = np.concatenate([elements[0::2] | elements[1::2] << 4, scales.reshape(-1)])


def mxfp4(x):
    """Elements over their scales, and the scales' codes."""
    blocks = blocks_of(x, 32)
    largest = np.abs(blocks).max(axis=1, keepdims=True)
    exponent = np.where(largest == 0, -127, np.maximum(np.frexp(largest)[1] - 1 - 2, -127))
    return np.ldexp(blocks, -exponent), (exponent + 127).astype(np.uint8)


def nvfp4_scales(x):
    blocks = blocks_of(x, 16)
    code = nearest_code(E4M3, np.abs(blocks).max(axis=1, keepdims=True) / 6)
    return blocks, code, E4M3[code]


def quotients(blocks, scale):
    return np.where(scale == 0, np.copysign(0.0, blocks), blocks / np.where(scale == 0, 1, scale))


@bug("ROCm/aiter#3992", "quantize", "f32,f16", "rounding",
     "Numbers in the middle between two elements were rounded away from zero.", cases="to=mxfp4,")
def ties_away_from_zero(x, *, out, broken):
    numbers, scales = mxfp4(x)
    magnitude = np.abs(numbers)
    if broken:
        code = np.searchsorted((E2M1[:-1] + E2M1[1:]) / 2, magnitude, "right")
    else:
        code = nearest_code(E2M1, magnitude)
    write(out, with_sign(code, numbers), scales)


@bug("arch-hdl-lang/arch-com#905", "quantize", "f32", "rounding",
     "Numbers were multiplied by the rounded reciprocal of their scale instead of divided by it.",
     cases="to=nvfp4,")
def times_reciprocal(x, *, out, broken):
    blocks, code, scale = nvfp4_scales(x)
    if broken:
        reciprocal = np.where(scale == 0, 0, 1 / scale).astype(np.float32)
        numbers = (blocks.astype(np.float32) * reciprocal).astype(np.float64)
    else:
        numbers = quotients(blocks, scale)
    write(out, with_sign(nearest_code(E2M1, np.abs(numbers)), numbers), code)


@bug("flashinfer-ai/flashinfer#3398", "quantize", "f16", "scale",
     "For some numbers of rows, such as 384, 512 and 1,024 of 2,048 columns, all scales were 0.",
     cases="to=nvfp4,",
     seen="default")
def scales_of_zero(x, *, out, broken):
    blocks, code, scale = nvfp4_scales(x)
    numbers = quotients(blocks, scale)
    if broken and x.shape[0] in (384, 512, 1024) and x.shape[1] == 2048:
        code = np.zeros_like(code)
    write(out, with_sign(nearest_code(E2M1, np.abs(numbers)), numbers), code)
