#pragma once

#include <cstdint>

#include "emulator/machine/matrix_code.h"
#include "emulator/numbers/matrix_units.h"

namespace emulator {

UnitInput unit_input(MatrixType type);
/// Of the bits of an element.
float factor_value(MatrixType type, std::uint64_t bits);

}  // namespace emulator
