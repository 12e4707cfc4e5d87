"""Conversions."""
import numpy as np

from registry import bug
from tools import E4M3, E5M2, bf16_bits, nearest_code, store, truncated, wide


WITHIN = "floats are cast to integers only within their range: beyond it the op defines nothing"


def float8_bits(x, table, nan, limit):
    """Codes of f64; beyond `limit` that of the largest number."""
    magnitude = np.minimum(np.abs(x), limit)
    code = np.where(np.isnan(x), nan, nearest_code(table, np.nan_to_num(magnitude)))
    return (code | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


@bug("groonga/groonga#2961", "cast", "f32", "rounding",
     "bf16 was the upper half of f32: truncated, and infinite for some NaN.", cases="to=bf16,")
def bf16_truncated(x, *, out, broken):
    out[...] = (np.ascontiguousarray(x).view(np.uint32) >> 16) if broken else bf16_bits(wide(x))


@bug("tile-ai/tilelang#2483", "cast", "i32", "rounding",
     "Integers became f32 first, and bf16 by truncation.", cases="to=bf16,")
def bf16_of_integers_truncated(x, *, out, broken):
    if broken:
        out[...] = truncated(x.astype(np.float32), 16).view(np.uint32) >> 16
    else:
        out[...] = bf16_bits(x.astype(np.float64))


@bug("JuliaLang/julia#40315", "cast", "f64", "rounding",
     "f64 became f16 by way of f32: rounded twice.", cases="to=f16,")
def f16_by_f32(x, *, out, broken):
    out[...] = x.astype(np.float32) if broken else x


@bug("halide/Halide#8906", "cast", "f64", "rounding",
     "f64 became bf16 by way of f32: rounded twice.", cases="to=bf16,")
def bf16_by_f32(x, *, out, broken):
    out[...] = bf16_bits(x.astype(np.float32)) if broken else bf16_bits(x)


@bug("petamoriken/float16#952", "cast", "f64", "rounding",
     "Numbers between half the least f16 and the least one were cut off to 0.", cases="to=f16,")
def f16_of_tiny(x, *, out, broken):
    out[...] = np.where(np.abs(x) < 2.0 ** -24, np.copysign(0, x), x) if broken else x


@bug("h5py/h5py#819", "cast", "f64", "rounding",
     "Where rounding carries into the exponent, the carry was lost: 0.49999999 became 0.25.",
     cases="to=f16,")
def f16_without_carry(x, *, out, broken):
    y = x.astype(np.float16)
    if broken:
        carried = (y.view(np.uint16) & 0x3FF == 0) & (np.abs(y.astype(np.float64)) > np.abs(x))
        normal = (np.abs(x) >= 2.0 ** -14) & np.isfinite(y)
        y = np.where(carried & normal, y / np.float16(2), y)
    out[...] = y


@bug("openvinotoolkit/openvino#30057", "cast", "f16", "rounding",
     "Subnormal results were rounded twice, first as if they were normal.", cases="to=e4m3,")
def e4m3_rounded_twice(x, *, out, broken):
    y = wide(x)
    if broken:
        fraction, exponent = np.frexp(y)
        once = np.ldexp(np.rint(fraction * 16) / 16, exponent)
        y = np.where(np.abs(y) < 2.0 ** -6, once, y)
    out[...] = float8_bits(y, E4M3, 0x7F, 448)


@bug("stillwater-sc/universal#1351", "cast", "f32", "saturation",
     "What is a little beyond the largest E5M2 became infinity before it was rounded.",
     cases="to=e5m2,")
def e5m2_infinite(x, *, out, broken):
    code = float8_bits(wide(x), E5M2, 0x7E, 57344)
    beyond = (np.abs(x) > 57344) & np.isfinite(x)
    out[...] = np.where(beyond, (code & 0x80) | 0x7C, code) if broken else code


@bug("1bit-MONSTER/1bit-MONSTER#300", "cast", "e4m3", "constants",
     "Subnormal E4M3 were decoded with an implicit 1 and a fixed exponent.", cases="to=f32,")
def e4m3_decoded(x, *, out, broken):
    bits = x.view(np.uint8)
    code = bits & 0x7F
    values = np.append(E4M3, np.nan)
    if broken:
        values[1:8] = 2.0 ** -7 * (1 + np.arange(1, 8) / 8)
    out[...] = values[code] * np.where(bits & 0x80, -1.0, 1.0)


def wrapped(x, dtype):
    """Towards zero, then modulo."""
    return np.trunc(np.where(np.isfinite(x), x, 0)).astype(np.int64).astype(dtype)


@bug("microsoft/onnxruntime#3442", "cast", "f32", "saturation",
     "The least number of 8 bits was -127.", cases="to=i8,")
def i8_without_its_least(x, *, out, broken):
    y = wrapped(x, np.int8)
    out[...] = np.where(y == -128, -127, y) if broken else y


@bug("apache/tvm#19542", "cast", "f32", "saturation",
     "Numbers out of range became the ends of the range, where others wrap.", cases="to=i8,",
     missed=WITHIN)
def i8_saturated(x, *, out, broken):
    saturated = np.clip(np.nan_to_num(x, nan=-128), -128, 127).astype(np.int8)
    out[...] = saturated if broken else wrapped(x, np.int8)


@bug("NVIDIA/TensorRT#4775", "cast", "f32", "special values",
     "NaN and infinity became 0 and the ends of the range, where others give the least number.",
     cases="to=i32,",
     missed=WITHIN)
def i32_of_nonfinite(x, *, out, broken):
    y = wrapped(x, np.int32)
    least, greatest = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    other = np.where(np.isnan(x), 0, np.where(x > 0, greatest, least))
    out[...] = np.where(np.isfinite(x), y, other if broken else least)


@bug("microsoft/onnxruntime#25207", "cast", "f32", "saturation",
     "Negative numbers became 0 on one device, and wrapped on the other.", cases="to=u8,",
     missed=WITHIN)
def u8_of_negative(x, *, out, broken):
    y = wrapped(x, np.uint8)
    out[...] = np.where(x < 0, 0, y) if broken else y


@bug("NVIDIA/numba-cuda-mlir#304", "cast", "f64", "special values",
     "A bool was the low bit of the number's integer part: false for 0.5 and 2.", cases="to=bool,")
def bool_of_the_low_bit(x, *, out, broken):
    out[...] = np.fmod(np.trunc(np.abs(x)), 2) == 1 if broken else x != 0


@bug("NVIDIA/cudf#2575", "cast", "i64", "special values",
     "A bool was the low byte of the integer: false for 256.", cases="to=bool,")
def bool_of_the_low_byte(x, *, out, broken):
    out[...] = (x & 0xFF if broken else x) != 0


@bug("iree-org/wave#133", "cast", "bool", "constants",
     "True became -1: one bit was extended by its sign.", cases="to=(f32|bf16|i64),")
def true_as_minus_one(x, *, out, broken):
    y = x.astype(np.float32) * (-1 if broken else 1)
    out[...] = bf16_bits(wide(y)) if out.dtype == np.uint16 else y


@bug("VcDevel/Vc#29", "cast", "u32", "rounding",
     "Beyond 2^31 numbers became signed ones plus 2^32: rounded twice.", cases="to=f32,")
def f32_of_u32_rounded_twice(x, *, out, broken):
    twice = x.astype(np.int32).astype(np.float32) + np.float32(2 ** 32)
    out[...] = np.where(x >= 2 ** 31, twice, x.astype(np.float32)) if broken else x


@bug("nebulastream/nautilus#328", "cast", "f32", "saturation",
     "What lies beyond 2^63 became 2^63, by an instruction for signed integers.", cases="to=u64,")
def u64_by_signed_integers(x, *, out, broken):
    out[...] = np.where(x >= 2.0 ** 63, np.uint64(2 ** 63), x.astype(np.uint64)) if broken else x.astype(np.uint64)


@bug("fuhsnn/slimcc#20", "cast", "u64", "saturation",
     "Numbers beyond 2^63 became negative floats.", cases="to=f32,")
def f32_of_u64_as_signed(x, *, out, broken):
    out[...] = x.astype(np.int64) if broken else x
