#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulator/tests/opcodes/operand.h"

namespace emulator::test {

/// The results that the PTX ISA allows.
struct Expected {
  std::uint64_t bits = 0;
  std::uint64_t alternative = 0;  // where the ISA leaves two results open
  bool any_nan = false;
  bool any = false;  // the ISA leaves the result open
  /// For approximations: |result - value| <= absolute + relative * |value|.
  bool is_bound = false;
  long double value = 0, absolute = 0, relative = 0;

  template <class T>
  requires std::integral<T> || std::same_as<T, Int128> Expected(
      T x)  // NOLINT(google-explicit-constructor)
      : bits(static_cast<std::uint64_t>(x)), alternative(bits) {}

  static Expected nan();
  static Expected anything();
  static Expected either(std::uint64_t x, std::uint64_t y);
  static Expected within(long double value, long double absolute, long double relative);

  bool allows(const Type& type, std::uint64_t result) const;
  std::string text() const;
};

/// Operands come as bits, zero-extended.
using Reference = std::function<Expected(std::span<const std::uint64_t>)>;

/// One instruction: PTX that computes %d from %a, %b, %c, %e, and the same in C++.
struct Row {
  std::string ptx;
  Type result;
  std::vector<Type> operands;
  Reference reference;
  /// Beyond what the emulator promises: it may refuse the instruction, but not compute another.
  bool optional = false;
};

/// The PTX name of an integer type.
template <class T>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return "pred";
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1 ? "s8" : sizeof(T) == 2 ? "s16" : sizeof(T) == 4 ? "s32" : "s64";
  } else {
    return sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : sizeof(T) == 4 ? "u32" : "u64";
  }
}

template <class R, class... A>
Row typed_row(std::string ptx, std::function<R(A...)> function) {
  const auto reference = [function](std::span<const std::uint64_t> x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->Expected {
      return function(static_cast<A>(x[I])...);
    }
    (std::index_sequence_for<A...>{});
  };
  return {std::move(ptx), name_of<R>(), {Type(name_of<A>())...}, reference};
}

/// A row whose types are those of the function: `row("add.s32 %d, %a, %b;", [](int a, int b) …)`.
template <class Function>
Row row(std::string ptx, Function function) {
  return typed_row(std::move(ptx), std::function(std::move(function)));
}

/// Runs each row on corner and random operands and compares all results.
void check(const std::vector<Row>& rows, bool approximate = false);

/// A whole module with one kernel `test`: the instruction applied to arrays.
std::string kernel_text(const Row& row);

}  // namespace emulator::test
