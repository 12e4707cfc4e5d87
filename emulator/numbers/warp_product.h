#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/numbers/matrix_units.h"

// How the instructions of a warp (mma.sync, wmma) use the matrix units.
namespace emulator {

/// From Hopper on, products of 8-bit floats are those of FP16, in two groups: of each four
/// products, two are in the first and two in the second. The accumulator is added to the groups'
/// sum, rounded to nearest. Neither paper says so, but all results of mma.sync with FP8 on H100,
/// H200 and B200 that Khattak and Mikaitis publish agree (tests/matrix_units_test.cpp).
struct WarpUnit {
  MatrixUnit unit;
  bool splits_f8 = false;
};

/// Empty if the GPU has no such unit, or no model describes it.
std::optional<WarpUnit> warp_unit(std::string_view gpu, UnitInput input, UnitResult result);

/// The units of one GPU for instructions of a warp.
class WarpUnits {
 public:
  explicit WarpUnits(std::string_view gpu);
  const std::optional<WarpUnit>& find(UnitInput input, UnitResult result) const {
    return units_[static_cast<std::size_t>(input)][static_cast<std::size_t>(result)];
  }

 private:
  std::array<std::array<std::optional<WarpUnit>, 2>, 5> units_;
};

/// accumulators += a * b for matrices of up to 32 x 32, on the stack.
class WarpProduct {
 public:
  /// The units of a's and b's types, which differ in how they take subnormal factors.
  WarpProduct(const WarpUnit& unit_a, const WarpUnit& unit_b, int m, int n, int k);

  void set_a(int row, int l, float value);
  void set_b(int l, int column, float value);
  float& accumulator(int row, int column) { return accumulators_[column][row]; }
  void multiply();

 private:
  static constexpr int max_extent = 32;
  int position(int l) const;

  const WarpUnit &unit_, &unit_b_;
  int m_, n_, k_;
  float a_[max_extent][tile_rows];
  std::int32_t a_exponents_[max_extent][tile_rows];
  float b_[max_extent][max_extent];
  std::int32_t b_exponents_[max_extent][max_extent];
  float accumulators_[max_extent][max_extent] = {};
};

}  // namespace emulator
