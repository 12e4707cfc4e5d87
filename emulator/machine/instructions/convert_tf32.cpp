#include <bit>
#include <cmath>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

/// Rounds to 10 bits of fraction; ties go away from zero.
struct RoundToTf32 {
  static std::uint32_t apply(float value) {
    constexpr std::uint32_t dropped = (1u << 13) - 1;
    const auto bits = std::bit_cast<std::uint32_t>(with_canonical_nan(value));
    return std::isnan(value) ? bits : (bits + dropped / 2 + 1) & ~dropped;
  }
};

}  // namespace

void decode_cvt_tf32(Decoder& decoder) {
  decoder.needs(80);
  decoder.expect("rna");
  decoder.expect("f32");
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  decoder.code.a = decoder.source(1, ptx::Type::f32);
  decoder.emit(unary<std::uint32_t, float, RoundToTf32>);
}

}  // namespace emulator
