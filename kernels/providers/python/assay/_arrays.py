"""Arrays of NumPy for the raw numbers of tensors."""
import numpy

_DTYPES = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i64": numpy.int64, "i32": numpy.int32,
           "i8": numpy.int8, "u8": numpy.uint8}


def from_bytes(data, dtype, shape):
    """Returns the numbers in f64, or the integers as they are."""
    if dtype == "bf16":
        bits = numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32)
        bits <<= 16
        numbers = bits.view(numpy.float32)
    else:
        numbers = numpy.frombuffer(data, _DTYPES[dtype])
    if numbers.dtype.kind == "f":
        with numpy.errstate(all="ignore"):
            numbers = numbers.astype(numpy.float64)
    return numbers.reshape(shape)


def contiguous(band):
    """Returns the value, sigma and openness of each element, flat, as they are sent."""
    wide = numpy.int64 if band.value.dtype.kind in "iub" else numpy.float64
    return (numpy.ascontiguousarray(band.value, wide).reshape(-1),
            numpy.ascontiguousarray(band.sigma, numpy.float64).reshape(-1),
            numpy.ascontiguousarray(band.open, numpy.uint8).reshape(-1))
