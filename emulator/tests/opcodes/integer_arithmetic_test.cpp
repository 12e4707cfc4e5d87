#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/tests/opcodes/table.h"

// PTX ISA, "Integer Arithmetic Instructions". Each reference computes in 128 bits and cuts.
namespace emulator::test {
namespace {

template <class T>
std::string binary(const std::string& opcode) {
  return opcode + "." + name_of<T>() + " %d, %a, %b;";
}

template <class T>
std::string ternary(const std::string& opcode) {
  return opcode + "." + name_of<T>() + " %d, %a, %b, %c;";
}

template <class T>
std::string unary(const std::string& opcode) {
  return opcode + "." + name_of<T>() + " %d, %a;";
}

template <class T>
T high_half(Int128 x) {
  return static_cast<T>(x >> (8 * sizeof(T)));
}

// Unsigned 64-bit products need all 128 bits, which a signed 128-bit integer holds as a pattern.
template <class T>
Int128 product(T a, T b) {
  if constexpr (std::is_signed_v<T>) return static_cast<Int128>(a) * b;
  return static_cast<Int128>(static_cast<UInt128>(a) * b);
}

template <class T>
T high_of_product(T a, T b) {
  if constexpr (std::is_signed_v<T>) return high_half<T>(product(a, b));
  return static_cast<T>((static_cast<UInt128>(a) * b) >> (8 * sizeof(T)));
}

template <class T>
void add_rows(std::vector<Row>& rows) {
  rows.push_back(row(binary<T>("add"), [](T a, T b) { return static_cast<T>(Int128{a} + b); }));
  rows.push_back(row(binary<T>("sub"), [](T a, T b) { return static_cast<T>(Int128{a} - b); }));
  rows.push_back(row(binary<T>("mul.lo"), [](T a, T b) { return static_cast<T>(product(a, b)); }));
  rows.push_back(row(binary<T>("mul.hi"), [](T a, T b) { return high_of_product(a, b); }));
  rows.push_back(row(ternary<T>("mad.lo"), [](T a, T b, T c) {
    return static_cast<T>(static_cast<UInt128>(product(a, b)) + static_cast<UInt128>(Int128{c}));
  }));
  rows.push_back(row(ternary<T>("mad.hi"), [](T a, T b, T c) {
    return static_cast<T>(Int128{high_of_product(a, b)} + c);
  }));
  rows.push_back(row(binary<T>("min"), [](T a, T b) { return a < b ? a : b; }));
  rows.push_back(row(binary<T>("max"), [](T a, T b) { return a < b ? b : a; }));
}

// Immediate operands take another way through a decoder than registers.
template <class T>
void add_rows_with_immediates(std::vector<Row>& rows) {
  const std::string type = name_of<T>();
  rows.push_back(
      row("add." + type + " %d, %a, -1;", [](T a) { return static_cast<T>(Int128{a} - 1); }));
  rows.push_back(row("mul.lo." + type + " %d, %a, 0x11;",
                     [](T a) { return static_cast<T>(product(a, T{17})); }));
  rows.push_back(
      row("sub." + type + " %d, 077, %a;", [](T a) { return static_cast<T>(Int128{63} - a); }));
  rows.push_back(row("min." + type + " %d, %a, 0b101;", [](T a) { return a < T{5} ? a : T{5}; }));
}

// Division by zero is "unspecified, machine-specific"; so is the overflow min / -1.
template <class T>
void add_division_rows(std::vector<Row>& rows) {
  const auto guarded = [](bool remainder) {
    return [remainder](std::span<const std::uint64_t> x) {
      const T a = static_cast<T>(x[0]), b = static_cast<T>(x[1]);
      if (b == 0) return Expected::anything();
      const Int128 wide = Int128{a}, divisor = Int128{b};
      return Expected(static_cast<T>(remainder ? wide % divisor : wide / divisor));
    };
  };
  const Type type = name_of<T>();
  rows.push_back({binary<T>("div"), type, {type, type}, guarded(false)});
  rows.push_back({binary<T>("rem"), type, {type, type}, guarded(true)});
}

template <class T>
void add_signed_rows(std::vector<Row>& rows) {
  rows.push_back(
      row(unary<T>("abs"), [](T a) { return static_cast<T>(a < 0 ? -Int128{a} : Int128{a}); }));
  rows.push_back(row(unary<T>("neg"), [](T a) { return static_cast<T>(-Int128{a}); }));
}

template <class T, class Wide>
void add_wide_rows(std::vector<Row>& rows) {
  rows.push_back(
      row(binary<T>("mul.wide"), [](T a, T b) { return static_cast<Wide>(product(a, b)); }));
  rows.push_back(row(ternary<T>("mad.wide"), [](T a, T b, Wide c) {
    return static_cast<Wide>(static_cast<UInt128>(product(a, b)) + static_cast<UInt128>(Int128{c}));
  }));
}

template <class... Add>
std::vector<Row> rows_of(Add... add) {
  std::vector<Row> rows;
  (add(rows), ...);
  return rows;
}

TEST(IntegerArithmetic, Of16Bits) {
  check(rows_of(add_rows<std::int16_t>, add_rows<std::uint16_t>, add_signed_rows<std::int16_t>));
}

TEST(IntegerArithmetic, Of32Bits) {
  check(rows_of(add_rows<std::int32_t>, add_rows<std::uint32_t>, add_signed_rows<std::int32_t>));
}

TEST(IntegerArithmetic, Of64Bits) {
  check(rows_of(add_rows<std::int64_t>, add_rows<std::uint64_t>, add_signed_rows<std::int64_t>));
}

TEST(IntegerArithmetic, WithImmediates) {
  check(rows_of(add_rows_with_immediates<std::int16_t>, add_rows_with_immediates<std::int32_t>,
                add_rows_with_immediates<std::int64_t>));
}

TEST(IntegerArithmetic, Division) {
  check(rows_of(add_division_rows<std::int16_t>, add_division_rows<std::uint16_t>,
                add_division_rows<std::int32_t>, add_division_rows<std::uint32_t>,
                add_division_rows<std::int64_t>, add_division_rows<std::uint64_t>));
}

TEST(IntegerArithmetic, Wide) {
  check(rows_of(
      add_wide_rows<std::int16_t, std::int32_t>, add_wide_rows<std::uint16_t, std::uint32_t>,
      add_wide_rows<std::int32_t, std::int64_t>, add_wide_rows<std::uint32_t, std::uint64_t>));
}

template <class T>
T saturated(Int128 x) {
  using Limits = std::numeric_limits<T>;
  return x < Limits::min() ? Limits::min() : x > Limits::max() ? Limits::max() : static_cast<T>(x);
}

using I = std::int32_t;
using U = std::uint32_t;

TEST(IntegerArithmetic, Saturating) {
  check({row("add.sat.s32 %d, %a, %b;", [](I a, I b) { return saturated<I>(Int128{a} + b); }),
         row("sub.sat.s32 %d, %a, %b;", [](I a, I b) { return saturated<I>(Int128{a} - b); }),
         row("mad.hi.sat.s32 %d, %a, %b, %c;",
             [](I a, I b, I c) { return saturated<I>(Int128{high_of_product(a, b)} + c); })});
}

Int128 low_24(U a) { return a & 0xFFFFFF; }
Int128 low_24(I a) { return static_cast<I>(static_cast<U>(a) << 8) >> 8; }

U bytes_dot(U a, U b, U c) {
  for (int i = 0; i < 32; i += 8) c += ((a >> i) & 0xFF) * ((b >> i) & 0xFF);
  return c;
}

I signed_bytes_dot(I a, I b, I c) {
  U sum = static_cast<U>(c);
  for (int i = 0; i < 32; i += 8) {
    sum += static_cast<U>(static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i));
  }
  return static_cast<I>(sum);
}

// Neighbours that nvcc may emit for other kernels than ours.
TEST(IntegerArithmetic, OptionalNeighbours) {
  std::vector<Row> rows{
      row("sad.u32 %d, %a, %b, %c;", [](U a, U b, U c) { return c + (a < b ? b - a : a - b); }),
      row("sad.s32 %d, %a, %b, %c;",
          [](I a, I b, I c) {
            return static_cast<I>(Int128{c} + (a < b ? Int128{b} - a : Int128{a} - b));
          }),
      row("mul24.lo.u32 %d, %a, %b;",
          [](U a, U b) { return static_cast<U>(low_24(a) * low_24(b)); }),
      row("mul24.lo.s32 %d, %a, %b;",
          [](I a, I b) { return static_cast<I>(low_24(a) * low_24(b)); }),
      row("mul24.hi.u32 %d, %a, %b;",
          [](U a, U b) { return static_cast<U>((low_24(a) * low_24(b)) >> 16); }),
      row("dp4a.u32.u32 %d, %a, %b, %c;", [](U a, U b, U c) { return bytes_dot(a, b, c); }),
      row("dp4a.s32.s32 %d, %a, %b, %c;", [](I a, I b, I c) { return signed_bytes_dot(a, b, c); })};
  for (Row& each : rows) each.optional = true;
  check(rows);
}

}  // namespace
}  // namespace emulator::test
