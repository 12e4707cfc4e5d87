#include "emulator/numbers/warp_product.h"

#include <algorithm>
#include <cstring>

#include "emulator/numbers/number.h"

namespace emulator {
namespace {

constexpr int rows_at_once = 16;
/// Terms of 8-bit floats in one of the two groups.
constexpr int group_terms = 16;

}  // namespace

std::optional<WarpUnit> warp_unit(std::string_view gpu, UnitInput input, UnitResult result) {
  const auto unit = matrix_unit(gpu, input, result);
  if (!unit) return std::nullopt;
  const bool is_f8 = input == UnitInput::e4m3 || input == UnitInput::e5m2;
  const auto f16 = matrix_unit(gpu, UnitInput::f16, result);
  // Ada has units for them.
  if (!is_f8 || f16->terms < group_terms) return WarpUnit{*unit};
  return WarpUnit{*f16, true};
}

WarpUnits::WarpUnits(std::string_view gpu) {
  for (std::size_t input = 0; input < units_.size(); ++input)
    for (std::size_t result = 0; result < units_[input].size(); ++result)
      units_[input][result] =
          warp_unit(gpu, static_cast<UnitInput>(input), static_cast<UnitResult>(result));
}

WarpProduct::WarpProduct(const WarpUnit& unit_a, const WarpUnit& unit_b, int m, int n, int k)
    : unit_(unit_a),
      unit_b_(unit_b),
      m_((m + rows_at_once - 1) / rows_at_once * rows_at_once),
      n_(n),
      k_(k) {
  for (int l = 0; l < k; ++l)
    for (int row = m; row < m_; ++row) a_[l][row] = 0, a_exponents_[l][row] = 0;
}

/// Where the unit takes product l.
int WarpProduct::position(int l) const {
  if (!unit_.splits_f8) return l;
  const int in_group = l / 4 * 2 + l % 2;
  return l % 4 < 2 ? in_group : k_ / 2 + in_group;
}

void WarpProduct::set_a(int row, int l, float value) {
  a_[position(l)][row] = value;
  a_exponents_[position(l)][row] = factor_exponent(value, unit_.unit);
}

void WarpProduct::set_b(int l, int column, float value) {
  b_[column][position(l)] = value;
  b_exponents_[column][position(l)] = factor_exponent(value, unit_b_.unit);
}

void WarpProduct::multiply() {
  for (int column = 0; column < n_; ++column) {
    float* into = accumulators_[column];
    float sums[max_extent] = {};
    accumulate(unit_.unit, k_, {a_[0], a_exponents_[0]}, {b_[column], b_exponents_[column]},
               unit_.splits_f8 ? sums : into, m_);
    if (!unit_.splits_f8) continue;
    for (int row = 0; row < m_; ++row) {
      into[row] = unit_.unit.rounds_to_f16
                      ? decode(encode(double{sums[row]} + double{into[row]}, binary16), binary16)
                      : sums[row] + into[row];
    }
  }
}

}  // namespace emulator
