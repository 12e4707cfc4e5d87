#pragma once

#include <string>

#include "emulator/tests/opcodes/table.h"

namespace emulator::test {

/// The modifiers of a floating-point instruction, and how a name spells them.
struct Modifiers {
  Rounding rounding = Rounding::nearest_even;
  bool named = false;  // ".rn" or nothing
  bool ftz = false, sat = false;

  std::string text() const;
};

inline constexpr Rounding all_roundings[] = {Rounding::nearest_even, Rounding::toward_zero,
                                             Rounding::down, Rounding::up};

/// "rn", "rz", "rm", "rp".
std::string name_of(Rounding rounding);

/// The saturation and flush of a result; a NaN result may be any NaN.
Expected finished(Format format, std::uint64_t result, const Modifiers& modifiers);

/// An operation on flushed operands that are no NaN; a NaN gives any NaN, or 0 with .sat.
template <class Operation>
Reference float_reference(Format format, const Modifiers& modifiers, Operation operation) {
  return [=](std::span<const std::uint64_t> operands) {
    std::uint64_t x[3] = {};
    bool any_nan = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      x[i] = modifiers.ftz ? format.flushed(operands[i]) : operands[i];
      any_nan = any_nan || format.is_nan(x[i]);
    }
    if (any_nan) return finished(format, format.infinity() + 1, modifiers);
    return finished(format, operation(x), modifiers);
  };
}

}  // namespace emulator::test
