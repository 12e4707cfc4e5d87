#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "harness/input/distributions.h"
#include "kernels/core/philox.h"

namespace assay::input {

/// Lays whole numbers from `range.low` to `range.high` into a tensor, in one of `orders` ways: as
/// they come, the other way round, with three pairs exchanged, or the second half before the first.
/// The last way are few small numbers, and in the last quarter any.
template <class T>
class Ordered {
 public:
  Ordered(Range range, std::uint64_t start) : range_(range), start_(start) {}

  void lay(std::span<T> elements, std::int64_t turn) const {
    if (elements.empty()) return;
    if (turn == 4) return lay_few_then_any(elements);
    const double last = static_cast<double>(std::max<std::size_t>(1, elements.size() - 1));
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = number(static_cast<double>(i) / last);
    if (turn == 1) std::ranges::reverse(elements);
    if (turn == 2) exchange_some(elements);
    if (turn == 3) std::ranges::rotate(elements, elements.begin() + std::ssize(elements) / 2);
  }

 private:
  T number(double share) const {
    return round_to<T>(std::floor(range_.low + (range_.high - range_.low) * share));
  }
  std::uint64_t drawn(std::size_t i) const { return mix(start_ + i); }

  void exchange_some(std::span<T> elements) const {
    constexpr std::size_t pairs = 3;
    for (std::size_t i = 0; i < 2 * pairs; i += 2) {
      std::swap(elements[drawn(i) % elements.size()], elements[drawn(i + 1) % elements.size()]);
    }
  }
  void lay_few_then_any(std::span<T> elements) const {
    constexpr double few = 16;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const double share = unit_interval(drawn(i));
      const bool is_small = i < elements.size() / 4 * 3;
      elements[i] = is_small ? round_to<T>(range_.low + std::floor(few * share)) : number(share);
    }
  }

  Range range_;
  std::uint64_t start_;
};

}  // namespace assay::input
