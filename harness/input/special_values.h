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
  nans,
  some_zeros,  // of both signs, among numbers
  infinities,  // some of one sign, among numbers
  mixed        // zeros, infinities and NaNs among numbers
};

/// Fate of a run that is alone: every `lone_fates` turns it has all. Two inputs have neighbours of
/// these: infinities of each meet zeros of the other.
inline Fate special_fate(Specials specials, std::uint64_t turn) {
  using enum Fate;
  constexpr std::array<Fate, lone_fates> all{
      positive_infinity, nan,    mixed, negative_infinity, infinities, both_infinities,
      some_zeros,        masked, zeros, subnormals};
  return all.at(turn % (specials == Specials::all ? all.size() : all.size() - 2));
}

/// Fate of one of many runs. Every other run is plain, the others take turns: 26 runs have all
/// fates. The first turns spoil nothing behind them, for sums that run through all.
inline Fate fate_among_many(Specials specials, std::uint64_t run, std::uint64_t turn) {
  using enum Fate;
  if (run % 2 == 0) return number;
  constexpr std::array all{zeros,          subnormals,          equal, some_zeros,
                           masked,         negative_infinities, nans,  mixed,
                           infinities,     positive_infinity,   nan,   negative_infinity,
                           both_infinities};
  const std::uint64_t own = turn + run / 2;
  return specials == Specials::all ? all.at(own % all.size()) : special_fate(specials, own);
}

/// Special elements of a format. A format without infinity uses its largest number.
template <class T>
class Formats {
 public:
  static T infinity(bool negative) { return round_to<T>(negative ? -limit : limit); }
  /// Returns a quiet one of any sign and payload.
  static T nan(std::uint64_t choice) {
    const T quiet = round_to<T>(std::numeric_limits<double>::quiet_NaN());
    return std::bit_cast<T>(static_cast<Word>(std::bit_cast<Word>(quiet) | sign_of(choice) |
                                              (static_cast<Word>(choice) & significand_mask)));
  }
  static T zero(bool negative) { return round_to<T>(negative ? -0.0 : 0.0); }
  /// Not zero: the significand has a one bit, the exponent none. The last `unused` bits are zero.
  static T subnormal(std::uint64_t choice, int unused) {
    const auto last = static_cast<Word>(Word{1} << unused);
    const Word significand =
        static_cast<Word>(choice) & significand_mask & static_cast<Word>(-last);
    return std::bit_cast<T>(static_cast<Word>(sign_of(choice) | significand | last));
  }

 private:
  static constexpr double limit = std::numeric_limits<double>::infinity();
  using Word = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  static constexpr Word significand_mask =
      static_cast<Word>((Word{1} << (significand_bits<T>() - 1)) - 1);
  static Word sign_of(std::uint64_t choice) {
    return static_cast<Word>((choice >> 63U) << (8 * sizeof(T) - 1));
  }
};

/// One of the special elements of a run of numbers.
template <class T>
T one_of(Fate fate, std::uint64_t own, std::uint64_t of_run) {
  using Special = Formats<T>;
  if (fate == Fate::infinities) return Special::infinity((of_run & 1U) != 0);
  const auto kind = fate == Fate::mixed ? own / 2 % 3 : 0;
  const bool is_negative = (own & 1U) != 0;
  return kind == 0   ? Special::zero(is_negative)
         : kind == 1 ? Special::infinity(is_negative)
                     : Special::nan(mix(own));
}

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
      run[index(second)] = Formats<T>::nan(choice);
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
      for (std::size_t i = 0; i < run.size(); ++i) run[i] = Formats<T>::nan(mix(choice ^ i));
      return;
    case Fate::some_zeros:
    case Fate::infinities:
    case Fate::mixed:
      for (std::size_t i = 0; i < run.size(); ++i) {
        // One in two, in three, four or five: short runs and long ones have several, beside
        // numbers.
        const std::uint64_t own = mix(choice ^ i);
        if (own % (2 + choice % 4) == 0) run[i] = one_of<T>(fate, mix(own), choice);
      }
      return;
  }
}

}  // namespace assay::input
