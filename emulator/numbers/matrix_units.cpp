#include "emulator/numbers/matrix_units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>

#include "emulator/numbers/clones.h"
#include "emulator/numbers/number.h"

namespace emulator {
namespace {

constexpr std::int32_t exponent_of_zero = -10000;

struct Row {
  std::string_view gpu;
  int f16_terms, tf32_terms, f8_terms;  // 0: the GPU has no such unit
  int fraction_bits;
  int f8_fraction_bits, f8_result_bits;
  int lowest_exponent, f16_lowest_exponent;  // of sums in FP32, and of FP16 in FP16
};
// The first row that the GPU's name contains counts. Sums of FP16 and BF16 are alike, but before
// compute capability 8.0 there is no BF16. RTX 3090 has the chip of A40, which is modelled, and RTX
// 3050 a smaller one of its family.
constexpr std::array models{
    Row{"v100", 4, 0, 0, 23, 0, 0, -1024, -19},    Row{"t4", 8, 0, 0, 24, 0, 0, -126, -126},
    Row{"a100", 8, 4, 0, 24, 0, 0, -132, -20},     Row{"rtx30", 8, 4, 0, 24, 0, 0, -132, -20},
    Row{"l40", 8, 4, 16, 24, 13, 13, -132, -20},   Row{"h100", 16, 8, 32, 25, 13, 13, -133, -21},
    Row{"h200", 16, 8, 32, 25, 13, 13, -133, -21}, Row{"gh200", 16, 8, 32, 25, 13, 13, -133, -21},
    Row{"b200", 16, 8, 32, 25, 25, 23, -133, -21},
};

int min_exponent(UnitInput input) {
  switch (input) {
    case UnitInput::f16:
    case UnitInput::e5m2:
      return -14;
    case UnitInput::e4m3:
      return -6;
    default:
      return -126;
  }
}

/// 2^exponent, also where it is not a normal double.
inline double power(std::int32_t exponent) {
  const std::int32_t in_range = std::clamp(exponent, -1022, 1023);
  return std::bit_cast<double>(static_cast<std::uint64_t>(in_range + 1023) << 52);
}

/// Cuts off toward zero what FP32, or its first bits, cannot hold. A loop without branches: it
/// runs across the outputs of a tile.
inline float rounded_toward_zero(double sum, int result_fraction_bits) {
  const std::uint64_t kept = ~((std::uint64_t{1} << (52 - result_fraction_bits)) - 1);
  const double normal = std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) & kept);
  // Subnormal numbers of FP32 are multiples of 2^-149, or of fewer bits' unit.
  const double unit = power(-126 - result_fraction_bits);
  const double subnormal = std::trunc(sum / unit) * unit;
  const double number = std::fabs(sum) < 0x1p-126 ? subnormal : normal;
  return static_cast<float>(sum - sum == 0 ? number : sum);  // not of infinity or NaN
}

float rounded_to_f16(double sum) { return decode(encode(sum, binary16), binary16); }

/// Rows whose sums fit the registers.
constexpr int block_rows = 16;

/// One step for a block of rows, with the accumulators in the registers.
ASSAY_INLINE void step(const MatrixUnit& unit, std::int64_t terms, UnitFactors a, UnitFactors b,
                       float* accumulators) {
  std::int32_t largest[block_rows];
  double sums[block_rows];
  double units[block_rows];
  for (int i = 0; i < block_rows; ++i) {
    const auto bits = std::bit_cast<std::int32_t>(accumulators[i]);
    const std::int32_t exponent = std::max((bits >> 23 & 0xff) - 127, -126);
    largest[i] = std::max(accumulators[i] == 0 ? exponent_of_zero : exponent, unit.lowest_exponent);
  }
  for (std::int64_t l = 0; l < terms; ++l) {
    const std::int32_t exponent = b.exponents[l];
    for (int i = 0; i < block_rows; ++i) {
      largest[i] = std::max(largest[i], a.exponents[l * tile_rows + i] + exponent);
    }
  }
  for (int i = 0; i < block_rows; ++i) {
    units[i] = power(unit.fraction_bits - largest[i]);
    sums[i] = 0.0 + std::trunc(accumulators[i] * units[i]);  // -0 becomes +0
  }
  for (std::int64_t l = 0; l < terms; ++l) {
    const double factor = b.values[l];
    for (int i = 0; i < block_rows; ++i) {
      sums[i] += std::trunc(double(a.values[l * tile_rows + i]) * factor * units[i]);
    }
  }
  for (int i = 0; i < block_rows; ++i) {
    sums[i] /= units[i];
    accumulators[i] = rounded_toward_zero(sums[i], unit.result_fraction_bits);
  }
  if (!unit.rounds_to_f16) return;
  for (int i = 0; i < block_rows; ++i) accumulators[i] = rounded_to_f16(sums[i]);
}

ASSAY_INLINE void all_steps(const MatrixUnit& unit, std::int64_t terms, UnitFactors a,
                            UnitFactors b, float* accumulators, int rows) {
  for (int i = 0; i < rows; i += block_rows) {
    for (std::int64_t l = 0; l < terms; l += unit.terms) {
      step(unit, std::min<std::int64_t>(unit.terms, terms - l),
           {a.values + l * tile_rows + i, a.exponents + l * tile_rows + i},
           {b.values + l, b.exponents + l}, accumulators + i);
    }
  }
}

ASSAY_CLONE void all_steps_v3(const MatrixUnit& unit, std::int64_t terms, UnitFactors a,
                              UnitFactors b, float* accumulators, int rows) {
  all_steps(unit, terms, a, b, accumulators, rows);
}

}  // namespace

std::optional<MatrixUnit> matrix_unit(std::string_view gpu, UnitInput input, UnitResult result) {
  std::string name(gpu);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* const row =
      std::ranges::find_if(models, [&](const Row& r) { return name.find(r.gpu) != name.npos; });
  if (row == models.end()) return std::nullopt;
  MatrixUnit unit{.terms = 0,
                  .fraction_bits = row->fraction_bits,
                  .lowest_exponent = row->lowest_exponent,
                  .min_factor_exponent = min_exponent(input),
                  .rounds_to_f16 = result == UnitResult::f16};
  if (result == UnitResult::f16) {
    if (input == UnitInput::bf16 || input == UnitInput::tf32) return std::nullopt;
    if (input == UnitInput::f16) unit.lowest_exponent = row->f16_lowest_exponent;
  }
  switch (input) {
    case UnitInput::f16:
      unit.terms = row->f16_terms;
      break;
    case UnitInput::bf16:
      unit.terms = row->tf32_terms == 0 ? 0 : row->f16_terms;
      break;
    case UnitInput::tf32:
      unit.terms = row->tf32_terms;
      break;
    default:
      unit.terms = row->f8_terms;
      unit.fraction_bits = row->f8_fraction_bits;
      unit.result_fraction_bits = row->f8_result_bits;
  }
  return unit.terms == 0 ? std::nullopt : std::optional(unit);
}

bool is_promoted(const MatrixUnit& unit) { return unit.result_fraction_bits < 23; }

std::int32_t factor_exponent(double value, const MatrixUnit& unit) {
  if (value == 0) return exponent_of_zero;
  if (!std::isfinite(value)) return 128;
  return std::max(std::ilogb(value), unit.min_factor_exponent);
}

void accumulate(const MatrixUnit& unit, std::int64_t terms, UnitFactors a, UnitFactors b,
                float* accumulators, int rows) {
  if (has_wide_vectors()) {
    all_steps_v3(unit, terms, a, b, accumulators, rows);
  } else {
    all_steps(unit, terms, a, b, accumulators, rows);
  }
}

}  // namespace emulator
