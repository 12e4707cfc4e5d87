#include "emulator/machine/matrix_factors.h"

#include <bit>

#include "emulator/machine/float_rules.h"
#include "emulator/numbers/number.h"

namespace emulator {

UnitInput unit_input(MatrixType type) {
  switch (type) {
    case MatrixType::f16:
      return UnitInput::f16;
    case MatrixType::bf16:
      return UnitInput::bf16;
    case MatrixType::tf32:
      return UnitInput::tf32;
    case MatrixType::e4m3:
      return UnitInput::e4m3;
    default:
      return UnitInput::e5m2;
  }
}

float factor_value(MatrixType type, std::uint64_t bits) {
  float value = 0;
  const auto half = static_cast<std::uint16_t>(bits);
  const auto quarter = static_cast<std::uint8_t>(bits);
  switch (type) {
    case MatrixType::f16:
      decode({&half, 1}, binary16, &value);
      return value;
    case MatrixType::bf16:
      decode({&half, 1}, bfloat16, &value);
      return value;
    case MatrixType::e4m3:
      decode({&quarter, 1}, e4m3, &value);
      return value;
    case MatrixType::e5m2:
      decode({&quarter, 1}, e5m2, &value);
      return value;
    case MatrixType::tf32:
      return truncated_to_tf32(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
}

}  // namespace emulator
