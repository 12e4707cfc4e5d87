#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "harness/input/distributions.h"
#include "kernels/core/dtype.h"
#include "kernels/core/significand.h"

namespace assay::input {

/// Floats of any sign and exponent: the largest exponent of a line is its own, half of its elements
/// are so near to it that they count in a sum, and the others lie anywhere below. Where that
/// exponent lies lines take in turns: anywhere, where squares vanish, where they overflow, between
/// that and 1, as high as it may be and as low. Sums, norms and means of a line are finite, and
/// normal numbers if nothing cancels.
template <class T>
class Scattered {
 public:
  Scattered(DType dtype, std::int64_t line, std::int64_t turn, std::uint64_t start)
      : line_(line),
        turn_(turn),
        start_(start),
        smallest_(smallest_exponent(dtype)),
        largest_(largest_exponent(dtype)),
        lowest_(std::min(0, smallest_ + room(line))),
        highest_(std::max(lowest_, largest_ - room(line))) {}

  T operator()(std::uint64_t bits, std::int64_t i) const {
    const int top = exponent_of(i / line_);
    const std::uint64_t choice = mix(bits);
    const int near = significand_bits<T>() + 2;
    const int subnormal = smallest_ - significand_bits<T>() + 1;
    const int all = top - subnormal + 1;
    const int below = static_cast<int>((choice >> 32U) %
                                       static_cast<std::uint64_t>((choice & 2U) != 0 ? near : all));
    return round_to<T>(with_sign_of(choice, std::ldexp(1 + unit_interval(bits), top - below)));
  }

 private:
  /// Binary digits of a number of elements.
  static int room(std::int64_t line) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(line)));
  }

  int exponent_of(std::int64_t line) const {
    const std::uint64_t own = mix(start_ + static_cast<std::uint64_t>(line));
    const auto within = [&](int first, int last) {
      return first + static_cast<int>(own % static_cast<std::uint64_t>(last - first + 1));
    };
    const int vanish = smallest_ / 2;
    const int overflow = largest_ / 2 + 1;
    constexpr int around = 8;
    const auto place = (line + turn_) % scattered_places;
    const int drawn = place == 0   ? within(lowest_, highest_)
                      : place == 1 ? within(vanish - around, vanish)
                      : place == 2 ? within(overflow - around, overflow)
                      : place == 3 ? within(vanish, 0)
                      : place == 4 ? highest_
                                   : lowest_;
    return std::clamp(drawn, lowest_, highest_);
  }

  std::int64_t line_;
  std::int64_t turn_;
  std::uint64_t start_;
  int smallest_;
  int largest_;
  int lowest_;
  int highest_;
};

}  // namespace assay::input
