"""Formats in which the steps of a kernel may be held: the arithmetic that an op allows.

    f32       every step in f32, or better
    tf32      factors of products with the 11 bits that tensor cores take
    operands  factors of products in the dtype of the tensors: probabilities of an attention in f16
    eager     the result of every step in the dtype of the tensors, as a framework stores it

Each allows f32 as well, and `eager` what `operands` does. On tensors of f32, the last two are f32.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format of floating-point numbers. `digits` are those of the significand, the hidden one too."""
    digits: int
    smallest: float  # normal number
    largest: float
    may_truncate: bool = False  # what is cut off may round towards zero, as tensor cores do

    def near(self, roundoffs):
        """Returns how many ulps away from a number of the format a value of f32 that wrong may be and still mean it."""
        return 0.0 if self.digits == F32.digits else roundoffs * 2.0 ** (self.digits - F32.digits)


F32 = Format(24, 2.0 ** -126, 2.0 ** 127 * (2 - 2.0 ** -23))
_TF32 = Format(11, 2.0 ** -126, 2.0 ** 127 * (2 - 2.0 ** -10), may_truncate=True)
OF_DTYPE = {
    "f32": F32,
    "bf16": Format(8, 2.0 ** -126, 2.0 ** 127 * (2 - 2.0 ** -7)),
    "f16": Format(11, 2.0 ** -14, 65504.0),
}
ARITHMETICS = ("f32", "tf32", "operands", "eager")


def stored(arithmetic, dtype):
    """Returns the format in which steps leave their results."""
    return OF_DTYPE[dtype] if arithmetic == "eager" else F32


def factor(arithmetic, dtype):
    """Returns the format of the factors of products."""
    return {"tf32": _TF32, "operands": OF_DTYPE[dtype]}.get(arithmetic, F32)
