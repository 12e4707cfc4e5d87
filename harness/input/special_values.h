#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "harness/input/distributions.h"
#include "kernels/core/significand.h"
#include "kernels/ops/rules.h"

namespace assay::input {

enum class Fate {
  number,
  nan,
  positive_infinity,
  negative_infinity,
  both_infinities,
  zeros,
  subnormals,
  equal,
  negative_infinities,
  masked,  // some negative infinities, as masks of attention are
  nans
};

inline Fate special_fate(Specials specials, std::uint64_t turn) {
  using enum Fate;
  constexpr std::array all{positive_infinity, nan,   negative_infinity,
                           both_infinities,   zeros, subnormals};
  return all.at(turn % (specials == Specials::all ? 6 : 4));
}

/// Fate of one of many runs. Every other run is plain, the others take turns: twenty runs have all
/// fates. The first turns spoil nothing behind them, for sums that run through all.
inline Fate fate_among_many(Specials specials, std::uint64_t run, std::uint64_t turn) {
  using enum Fate;
  if (run % 2 == 0) return number;
  constexpr std::array all{zeros,
                           subnormals,
                           equal,
                           masked,
                           negative_infinities,
                           nans,
                           positive_infinity,
                           nan,
                           negative_infinity,
                           both_infinities};
  const std::uint64_t own = turn + run / 2;
  return specials == Specials::all ? all.at(own % all.size()) : special_fate(specials, own);
}

/// Special elements of a format. A format without infinity uses its largest number.
template <class T>
class Formats {
 public:
  static T infinity(bool negative) { return round_to<T>(negative ? -limit : limit); }
  static T nan() { return round_to<T>(std::numeric_limits<double>::quiet_NaN()); }
  static T zero(bool negative) { return round_to<T>(negative ? -0.0 : 0.0); }
  /// Not zero: the significand has a one bit, the exponent none. The last `unused` bits are zero.
  static T subnormal(std::uint64_t choice, int unused) {
    const auto last = static_cast<Word>(Word{1} << unused);
    const Word significand =
        static_cast<Word>(choice) & significand_mask & static_cast<Word>(-last);
    const Word sign = static_cast<Word>((choice >> 63U) << (8 * sizeof(T) - 1));
    return std::bit_cast<T>(static_cast<Word>(sign | significand | last));
  }

 private:
  static constexpr double limit = std::numeric_limits<double>::infinity();
  using Word = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  static constexpr Word significand_mask =
      static_cast<Word>((Word{1} << (significand_bits<T>() - 1)) - 1);
};

/// Gives the run its fate. `unused`: low significand bits that the op ignores. A subnormal of those
/// bits alone would be zero on one device and not on another, and a NaN beside an infinity.
template <class T>
void give_fate(std::span<T> run, Fate fate, std::uint64_t choice, int unused) {
  const auto index = [&](std::uint64_t word) {
    return static_cast<std::size_t>(word % run.size());
  };
  const std::uint64_t second = mix(choice + 1);
  switch (fate) {
    case Fate::number:
      return;
    case Fate::nan:
      run[index(second)] = Formats<T>::nan();
      return;
    case Fate::positive_infinity:
      run[index(second)] = Formats<T>::infinity(false);
      return;
    case Fate::negative_infinity:
      run[index(second)] = Formats<T>::infinity(true);
      return;
    case Fate::both_infinities:
      run[index(second)] = Formats<T>::infinity(false);
      run[index(mix(second))] = Formats<T>::infinity(true);
      return;
    case Fate::zeros:
      for (std::size_t i = 0; i < run.size(); ++i)
        run[i] = Formats<T>::zero((mix(choice ^ i) & 1U) != 0);
      return;
    case Fate::subnormals:
      for (std::size_t i = 0; i < run.size(); ++i)
        run[i] = Formats<T>::subnormal(mix(choice ^ i), unused);
      return;
    case Fate::equal:
      std::ranges::fill(run.subspan(1), run.front());
      return;
    case Fate::negative_infinities:
      std::ranges::fill(run, Formats<T>::infinity(true));
      return;
    case Fate::masked:
      // Any elements, or all from some place on.
      for (std::size_t i = 0; i < run.size(); ++i) {
        const bool is_any = (choice & 1U) != 0;
        if (is_any ? (mix(choice ^ i) & 1U) != 0 : i > index(second)) {
          run[i] = Formats<T>::infinity(true);
        }
      }
      return;
    case Fate::nans:
      std::ranges::fill(run, Formats<T>::nan());
      return;
  }
}

}  // namespace assay::input
