#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "harness/input/distributions.h"
#include "harness/input/exact_data.h"
#include "harness/input/special_values.h"
#include "kernels/core/block_format.h"
#include "kernels/core/significand.h"

// Test data of block-scaled operands (kernels/core/block_format.h).
namespace assay::input {

/// A byte of elements, each drawn from its own half of the bits.
template <class Draw>
std::uint8_t byte_of(const BlockFormat& format, std::uint64_t bits, const Draw& draw) {
  const std::uint8_t low = block_element_code(format, static_cast<float>(draw(bits)));
  if (format.elements_per_byte == 1) return low;
  const std::uint8_t high = block_element_code(format, static_cast<float>(draw(mix(bits))));
  return static_cast<std::uint8_t>(low | high << 4U);
}

/// Exact data: integers up to `limit` that are no zeros. Where E2M1 lacks one it rounds to another.
struct BlockIntegers {
  const BlockFormat& format;
  std::int64_t limit;
  std::uint8_t operator()(std::uint64_t bits) const {
    return byte_of(format, bits, Integers<double>{limit});
  }
};

/// Real data: uniform numbers up to the largest element, rounded to elements.
struct BlockReals {
  const BlockFormat& format;
  std::uint8_t operator()(std::uint64_t bits) const {
    const double largest = block_element(format, format.elements_per_byte == 2 ? 0x7 : 0x7e);
    return byte_of(format, bits, Uniform<double>{{-largest, largest}});
  }
};

/// Scales of exact data: powers of two from `lowest` to `lowest` + `spread`, so that neighbouring
/// blocks differ.
struct BlockPowers {
  const BlockFormat& format;
  int lowest;
  int spread;
  std::uint8_t operator()(std::uint64_t bits) const {
    const auto above = static_cast<int>(bits % static_cast<std::uint64_t>(spread + 1));
    return block_scale_code(format, lowest + above);
  }
};

/// Scales of real data, for values of about 1. They stay within a factor of 2: the root mean square
/// of the values is then within 6% of that of uniform ones with their mean magnitude, which
/// effective bits suppose (harness/oracle/effective_bits.cpp).
struct BlockScales {
  const BlockFormat& format;
  std::uint8_t operator()(std::uint64_t bits) const {
    const int lowest = format.elements_per_byte == 2 ? -3 : -9;
    if (!format.has_e4m3_scales) return BlockPowers{format, lowest, 1}(bits);
    return static_cast<std::uint8_t>(block_scale_code(format, lowest) + bits % 9);
  }
};

/// A number in the middle between two elements of a block, or four ulps beside it: a quotient by
/// the scale keeps that, a product by the rounded reciprocal of it does not. The first of 16 in a
/// row is the largest, 6 times an E4M3 number, which is then the scale of NVFP4. One such number in
/// eight is a power of two, as the scales of the MX formats are.
template <class T>
T middle_of_block(std::uint64_t bits, std::int64_t i, std::uint64_t of_block) {
  constexpr std::array<double, 7> of_e2m1{0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
  const auto at = [](std::uint64_t word, int shift, std::uint64_t count) {
    return static_cast<int>((word >> shift) % count);
  };
  const double scale = std::ldexp(1 + at(of_block, 8, 8) / 8.0, at(of_block, 16, 9) - 4);
  const std::uint64_t choice = mix(bits);
  const bool is_negative = (choice & 1U) != 0;
  if (i % 16 == 0) return round_to<T>(with_sign_of(is_negative, 6 * scale));
  const double of_e4m3 = std::ldexp(17 + 2 * at(choice, 8, 8), at(choice, 16, 4) - 6);
  const bool is_e2m1 = (choice >> 1U & 1U) != 0;
  const double middle = is_e2m1 ? of_e2m1[static_cast<std::size_t>(at(choice, 8, 7))] : of_e4m3;
  const double ulp = std::ldexp(1.0, std::ilogb(scale * middle) + 1 - significand_bits<T>());
  const double beside = 4 * ulp * (at(choice, 24, 3) - 1);
  return round_to<T>(with_sign_of(is_negative, scale * middle + beside));
}

/// Finite numbers that a cast turns into blocks: 32 in a row lie below a random power of two, by up
/// to 12 binades. Half of them have so few bits that many lie in the middle between two elements.
/// Most of every other block do, or lie just beside it.
template <class T>
struct Blocks {
  T operator()(std::uint64_t bits, std::int64_t i) const {
    constexpr int highest = std::is_same_v<T, Float16> ? 15 : 127;
    constexpr int lowest = std::is_same_v<T, Float16> ? -24 : -140;
    constexpr double largest = std::is_same_v<T, Float16>    ? 65504
                               : std::is_same_v<T, BFloat16> ? 0x1.fep127
                                                             : 0x1.fffffep127;
    const std::uint64_t of_block = mix(static_cast<std::uint64_t>(i / 32) + 1);
    if (i / 32 % 2 != 0) return middle_of_block<T>(bits, i, of_block);
    const std::uint64_t choice = mix(bits);
    if (choice % 32 == 0) return round_to<T>(with_sign_of(choice >> 8U & 1U, 0));
    const int top = lowest + static_cast<int>(of_block % (highest - lowest + 1));
    const int exponent = top - static_cast<int>((choice >> 16U) % 12);
    const double significand = 1 + unit_interval(bits);
    const bool is_short = (choice >> 9U & 1U) != 0;
    const double kept = is_short ? std::floor(significand * 16) / 16 : significand;
    const double magnitude = std::min(largest, std::ldexp(kept, exponent));
    return round_to<T>(with_sign_of(choice >> 8U & 1U, magnitude));
  }
};

/// Gives a run of elements or of scales its fate, as far as its format has it. There are no
/// infinities: their runs get the largest element. E2M1 has no NaN, so the scales have it.
inline void give_block_fate(std::span<std::uint8_t> run, const BlockFormat& format, bool is_scales,
                            Fate fate, std::uint64_t choice) {
  const bool is_packed = format.elements_per_byte == 2;
  std::uint8_t& one = run[static_cast<std::size_t>(mix(choice + 1) % run.size())];
  if (is_scales) {
    if (fate == Fate::nan || fate == Fate::nans || fate == Fate::mixed)
      one = format.has_e4m3_scales ? 0x7f : 0xff;
    return;
  }
  const auto signs = [&](std::size_t i) {
    return static_cast<std::uint8_t>(mix(choice ^ i) & (is_packed ? 0x88U : 0x80U));
  };
  switch (fate) {
    case Fate::number:
      return;
    case Fate::nan:
    case Fate::nans:
    case Fate::mixed:
      if (!is_packed) one = 0x7f;
      return;
    case Fate::positive_infinity:
    case Fate::negative_infinity:
    case Fate::both_infinities:
    case Fate::negative_infinities:
    case Fate::masked:
    case Fate::infinities:
      one = is_packed ? 0xf7 : 0x7e;
      return;
    case Fate::equal:
      std::ranges::fill(run.subspan(1), run.front());
      return;
    case Fate::zeros:
      for (std::size_t i = 0; i < run.size(); ++i) run[i] = signs(i);
      return;
    case Fate::some_zeros:
      for (std::size_t i = 0; i < run.size(); i += 1 + choice % 3) run[i] = signs(i);
      return;
    case Fate::subnormals:
      for (std::size_t i = 0; i < run.size(); ++i) {
        const auto code = static_cast<std::uint8_t>(is_packed ? 0x11U : 1 + choice % 7);
        run[i] = signs(i) | code;
      }
      return;
  }
}

}  // namespace assay::input
