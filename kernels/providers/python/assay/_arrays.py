"""Arrays of NumPy for the raw numbers of tensors."""
import functools

import numpy

_DTYPES = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i64": numpy.int64, "i32": numpy.int32,
           "i8": numpy.int8, "u8": numpy.uint8}

_FLOATS_OF_8_BITS = {"e4m3": (3, 7), "e5m2": (2, 15)}  # bits of the fraction, and the bias of the exponent


def from_bytes(data, dtype, shape):
    """Returns the numbers in f64, or the integers as they are."""
    if dtype == "bf16":
        bits = numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32)
        bits <<= 16
        numbers = bits.view(numpy.float32)
    elif dtype in _FLOATS_OF_8_BITS:
        numbers = _numbers_of(dtype)[numpy.frombuffer(data, numpy.uint8)]
    else:
        numbers = numpy.frombuffer(data, _DTYPES[dtype])
    if numbers.dtype.kind == "f":
        with numpy.errstate(all="ignore"):
            numbers = numbers.astype(numpy.float64)
    return numbers.reshape(shape)


@functools.lru_cache(maxsize=None)
def _numbers_of(dtype):
    """Returns the numbers of all 256 codes (OCP's specification of 8-bit floats, 1.0)."""
    fraction, bias = _FLOATS_OF_8_BITS[dtype]
    codes = numpy.arange(128)
    exponents, fractions = codes >> fraction, codes % (1 << fraction)
    numbers = numpy.where(exponents > 0, fractions + (1 << fraction), fractions) * 2.0 ** (
        numpy.maximum(exponents, 1) - bias - fraction)
    if dtype == "e4m3":
        numbers[127] = numpy.nan  # its largest exponent holds numbers, but for the last code
    else:
        numbers[124], numbers[125:] = numpy.inf, numpy.nan
    return numpy.concatenate([numbers, -numbers])


def contiguous(band):
    """Returns the value, sigma and openness of each element, flat, as they are sent."""
    wide = numpy.int64 if band.value.dtype.kind in "iub" else numpy.float64
    return (numpy.ascontiguousarray(band.value, wide).reshape(-1),
            numpy.ascontiguousarray(band.sigma, numpy.float64).reshape(-1),
            numpy.ascontiguousarray(band.open, numpy.uint8).reshape(-1))
