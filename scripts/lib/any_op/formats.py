"""Floating-point formats, and rounding to them in f64."""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """Precision in bits with the hidden one, the smallest exponent of a normal number, the largest finite number."""
    precision: int
    min_exponent: int
    largest: float


F32 = Format(24, -126, float(np.finfo(np.float32).max))
TF32 = Format(11, -126, float(np.finfo(np.float32).max))
BF16 = Format(8, -126, (2 - 2.0 ** -7) * 2.0 ** 127)
F16 = Format(11, -14, 65504.0)
OF_DTYPE = {"f32": F32, "bf16": BF16, "f16": F16}


def ulp(values, form):
    """Returns the distance of two neighbours in the format, near each value."""
    _, exponent = np.frexp(np.abs(values))  # a mantissa in [1/2, 1)
    exponent = np.where(np.asarray(values) == 0, form.min_exponent + 1, exponent)
    return np.ldexp(1.0, np.maximum(exponent - 1, form.min_exponent) + 1 - form.precision)


def nearest(values, form):
    """Rounds to nearest, ties to even. Keeps NaN; what is too large becomes infinite."""
    values = np.asarray(values, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        step = ulp(np.where(np.isfinite(values), values, 0), form)
        rounded = np.where(np.isfinite(values), np.rint(values / step) * step, values)
        return np.where(np.abs(rounded) > form.largest, np.copysign(np.inf, rounded), rounded)


def stored(values, form):
    """Rounds f32 numbers to the format, and returns them as f32."""
    return nearest(values, form).astype(np.float32)
