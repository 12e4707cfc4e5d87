#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "harness/input/distributions.h"

namespace assay::input {

/// Places of the finite numbers of T in their order, which is that of integers.
template <class T>
class Ranks {
 public:
  static constexpr int bits = 8 * sizeof(T);
  static std::int64_t lowest() {
    if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::lowest();
    return of(round_to<T>(-infinity)) + 1;
  }
  static std::int64_t greatest() {
    if constexpr (std::is_integral_v<T>) return std::numeric_limits<T>::max();
    return of(round_to<T>(infinity)) - 1;
  }
  /// The two zeros of a float follow each other.
  static std::int64_t of(T number) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<std::int64_t>(number);
    } else {
      return ordered(std::bit_cast<Word>(number));
    }
  }
  static T number(std::int64_t rank) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(rank);
    } else {
      return std::bit_cast<T>(static_cast<Word>(ordered(static_cast<Word>(rank))));
    }
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Word = std::conditional_t<
      sizeof(T) == 8, std::int64_t,
      std::conditional_t<sizeof(T) == 4, std::int32_t,
                         std::conditional_t<sizeof(T) == 2, std::int16_t, std::int8_t>>>;
  /// Signs and magnitudes are turned into two's complement, and back.
  static Word ordered(Word word) {
    return word < 0 ? static_cast<Word>(word ^ std::numeric_limits<Word>::max()) : word;
  }
};

/// Numbers within a few steps of each other in each line. Where they lie lines take in turns: at
/// the lowest number of T, at the greatest, at zero, where the lower half of a word begins anew,
/// and anywhere. Each round of these turns has steps of another byte of the word: a sort that
/// leaves a digit out is wrong on one. Of half of the lines one element, anywhere, is the only
/// greatest, and one the only least: it comes late among many that are nearly as great.
template <class T>
class NearTies {
 public:
  NearTies(std::int64_t line, std::int64_t turn, std::uint64_t start)
      : line_(line),
        turn_(turn),
        start_(start),
        size_(std::int64_t{1} << (8 * (turn / near_tie_places))),
        most_(max_steps * size_) {}

  T operator()(std::uint64_t bits, std::int64_t i) const {
    const std::int64_t line = i / line_;
    return Ranks<T>::number(middle(line) - most_ + size_ * step(bits, line, i % line_));
  }

 private:
  static constexpr std::int64_t max_steps = 8;

  std::int64_t step(std::uint64_t bits, std::int64_t line, std::int64_t place) const {
    constexpr std::int64_t all = 2 * max_steps + 1;
    const std::uint64_t own = mix(start_ ^ mix(static_cast<std::uint64_t>(line)));
    const auto drawn = static_cast<std::int64_t>((bits >> 32U) % all);
    if (own % 2 == 0 || line_ == 1) return drawn;
    const auto length = static_cast<std::uint64_t>(line_);
    if (place == static_cast<std::int64_t>(mix(own) % length)) return all - 1;
    if (place == static_cast<std::int64_t>(mix(own + 1) % length)) return 0;
    return std::clamp<std::int64_t>(drawn, 1, all - 2);
  }

  std::int64_t middle(std::int64_t line) const {
    const std::int64_t least = Ranks<T>::lowest() + most_;
    const std::int64_t most = Ranks<T>::greatest() - most_;
    const std::uint64_t own = mix(start_ + static_cast<std::uint64_t>(line));
    const auto any = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(least) +
        own % (static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least)));
    constexpr std::uint64_t lower_half = (std::uint64_t{1} << (Ranks<T>::bits / 2)) - 1;
    switch ((line + turn_) % near_tie_places) {
      case 0:
        return least;
      case 1:
        return most;
      case 2:
        return std::clamp<std::int64_t>(0, least, most);
      case 3: {
        const std::uint64_t begin =
            (static_cast<std::uint64_t>(any) & ~lower_half) + lower_half / 2;
        return std::clamp(static_cast<std::int64_t>(begin), least, most);
      }
      default:
        return any;
    }
  }

  std::int64_t line_;
  std::int64_t turn_;
  std::uint64_t start_;
  std::int64_t size_;  // of a step
  std::int64_t most_;  // from the middle
};

}  // namespace assay::input
