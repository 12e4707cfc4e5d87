#include "emulator/tests/opcodes/float_reference.h"

namespace emulator::test {

std::string name_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return "rn";
    case Rounding::toward_zero:
      return "rz";
    case Rounding::down:
      return "rm";
    case Rounding::up:
      return "rp";
  }
  return "";
}

std::string Modifiers::text() const {
  return (named ? "." + name_of(rounding) : "") + (ftz ? ".ftz" : "") + (sat ? ".sat" : "");
}

Expected finished(Format format, std::uint64_t result, const Modifiers& modifiers) {
  if (format.is_nan(result)) return modifiers.sat ? Expected(0) : Expected::nan();
  if (modifiers.sat) {
    // The ISA does not say which zero -0 becomes.
    if (result == format.sign()) return Expected::either(0, format.sign());
    if (format.is_negative(result)) return 0;
    if (result > format.one()) return Expected(format.one());
  }
  if (!modifiers.ftz) return Expected(result);
  // The ISA does not say whether a result counts as subnormal before or after rounding.
  const std::uint64_t sign = result & format.sign();
  if (format.magnitude(result) == format.min_normal()) return Expected::either(result, sign);
  return Expected(format.flushed(result));
}

}  // namespace emulator::test
