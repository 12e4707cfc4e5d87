#pragma once

#include <cstdint>

#include "emulator/machine/matrix_code.h"
#include "emulator/numbers/matrix_units.h"

namespace emulator {

UnitInput unit_input(MatrixType type);
/// Value of an element with these bits.
float factor_value(MatrixType type, std::uint64_t bits);

}  // namespace emulator
