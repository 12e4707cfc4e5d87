#pragma once

#include "emulator/machine/fragments.h"

namespace emulator {

/// Emits d = a * b + c: floats as the matrix units of the launch's GPU compute it, integers
/// (perhaps .satfinite) and doubles (code.variant: their Rounding) as documented.
void emit_product(Decoder& decoder, MatrixKind kind, MatrixCode product);

}  // namespace emulator
