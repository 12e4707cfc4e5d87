#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/sort_key.h"

// Numbers that a sort compares and moves in place of elements.
namespace assay::cpu {

/// The key of an element alone.
template <class T>
struct Keys {
  using Number = Word<sizeof(T)>;

  static Number of(Word<sizeof(T)> bits, std::int64_t /*place*/) { return key_of<T>(bits); }
  static Word<sizeof(T)> result(Number number) { return bits_of_key<T>(number); }
};

__extension__ using WideNumber = unsigned __int128;

/// The key of an element above its place, in a number N of more bits: equal elements are in the
/// order in which they come.
template <class T, class N>
struct KeysAndPlaces {
  using Number = N;

  static constexpr int place_bits = 8 * static_cast<int>(sizeof(N) - sizeof(T));

  static Number of(Word<sizeof(T)> bits, std::int64_t place) {
    return with(key_of_equals<T>(bits), place);
  }
  /// Puts the greatest elements first, equal ones still as they come.
  static Number descending(Word<sizeof(T)> bits, std::int64_t place) {
    return with(static_cast<Word<sizeof(T)>>(~key_of_equals<T>(bits)), place);
  }
  static std::int64_t result(Number number) {
    return static_cast<std::int64_t>(number & ((Number{1} << place_bits) - 1));
  }

 private:
  static Number with(Word<sizeof(T)> key, std::int64_t place) {
    return Number{key} << place_bits | static_cast<Number>(place);
  }
};

/// Calls `f(std::type_identity<N>{})` with the narrowest N that holds keys of T and places below n.
template <class T, class F>
auto with_places(std::int64_t n, const F& f) {
  if constexpr (sizeof(T) < sizeof(std::uint64_t)) {
    if (n >> KeysAndPlaces<T, std::uint64_t>::place_bits == 0)
      return f(std::type_identity<std::uint64_t>{});
  }
  return f(std::type_identity<WideNumber>{});
}

}  // namespace assay::cpu
