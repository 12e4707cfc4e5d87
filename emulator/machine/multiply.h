#pragma once

#include "emulator/machine/fragments.h"
#include "emulator/numbers/matrix_units.h"

namespace emulator {

UnitInput unit_input(MatrixType type);
/// Of the bits of an element.
float factor_value(MatrixType type, std::uint64_t bits);

/// Emits d = a * b + c: floats as the matrix units of the launch's GPU compute it, integers
/// (perhaps .satfinite) and doubles (code.variant: their Rounding) as documented.
void emit_product(Decoder& decoder, MatrixKind kind, MatrixCode product);

}  // namespace emulator
