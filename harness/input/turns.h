#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/input/distributions.h"
#include "kernels/core/tensor_spec.h"

// Distributions in which each element decides something in one of some launches.
namespace assay::input {

/// Elements that lie side by side are of different signs, whatever lines they belong to.
template <class T>
struct Alternating {
  Range magnitudes;
  std::int64_t turn;
  const TensorSpec& spec;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    constexpr double middle = std::is_unsigned_v<T> ? 100 : 0;
    const double magnitude = within<T>(magnitudes, bits);
    const std::int64_t place =
        spec.axis ? spec.element_of_line(i / spec.line_elements(), i % spec.line_elements()) : i;
    return round_to<T>((place + turn) % 2 == 0 ? middle + magnitude : middle - magnitude);
  }
};

template <class T>
struct Pairs {
  Range range;
  double more;  // a fraction of one is one for that share of the elements
  std::int64_t turn;
  std::int64_t columns;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    const double x = range.low + (range.high - range.low) * unit_interval(bits);
    const bool has_more = (i % columns + turn) % 2 == 0;
    return round_to<T>(std::floor(has_more ? x + more : x));
  }
};

template <class T>
struct Masks {
  std::int64_t turn;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    const bool is_set = (i + turn) % 2 == 0;
    if constexpr (std::is_integral_v<T>) {
      constexpr std::uint64_t others = 255;
      return is_set ? static_cast<T>(1 + bits % others) : T(0);
    } else {
      return std::bit_cast<T>(is_set ? nan(bits) : number(bits));
    }
  }

 private:
  static constexpr auto exponent() {
    if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
    } else {
      return T(std::numeric_limits<float>::infinity()).bits;
    }
  }
  /// One bit alone tells half of them from infinities.
  static auto nan(std::uint64_t bits) {
    constexpr std::uint64_t all = exponent();
    constexpr int payload_bits = std::countr_zero(all);
    const std::uint64_t choice = mix(bits);
    const std::uint64_t one = std::uint64_t{1} << (choice / 2 % payload_bits);
    const std::uint64_t sign = bits & (all + (all & (~all + 1)));
    return static_cast<decltype(exponent())>(choice % 2 == 0 ? bits | all | 1U : sign | all | one);
  }
  /// One in four is infinite.
  static auto number(std::uint64_t bits) {
    constexpr std::uint64_t all = exponent();
    constexpr std::uint64_t last = all & (~all + 1);
    const std::uint64_t sign = bits & (all + last);
    return static_cast<decltype(exponent())>(mix(bits) % 4 == 0 ? sign | all : bits & ~last);
  }
};

template <class T>
struct RankNeedle {
  Range range;
  T needle;
  std::int64_t turn;  // of this rank
  std::int64_t ranks;
  T operator()(std::uint64_t bits, std::int64_t i) const {
    return (i + turn) % ranks == 0 ? needle : round_to<T>(within<T>(range, bits));
  }
};

}  // namespace assay::input
