#pragma once

#include <cstdint>
#include <type_traits>

namespace assay {

/// A truth value in a byte: 0 or 1. Other bits, which no conversion leaves, read as the number they
/// are: C++'s bool would not be defined.
struct Bool8 {
  std::uint8_t bits = 0;

  constexpr Bool8() = default;
  /// False for zeros alone: true for NaN.
  template <class N>
  requires std::is_arithmetic_v<N>
  explicit constexpr Bool8(N number) : bits(number != N{0} ? std::uint8_t{1} : std::uint8_t{0}) {}
  template <class N>
  requires std::is_arithmetic_v<N>
  explicit constexpr operator N() const { return static_cast<N>(bits); }
};

}  // namespace assay
