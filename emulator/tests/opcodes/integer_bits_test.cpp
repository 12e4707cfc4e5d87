#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/table.h"

// PTX ISA, "Logic and Shift Instructions", and the bit counting ones among the integer
// instructions.
namespace emulator::test {
namespace {

using I = std::int32_t;
using U = std::uint32_t;
using H = std::uint16_t;
using L = std::int64_t;
using W = std::uint64_t;

template <class T>
void add_logic_rows(std::vector<Row>& rows) {
  const std::string type = ".b" + std::to_string(8 * sizeof(T));
  rows.push_back(
      row("and" + type + " %d, %a, %b;", [](T a, T b) { return static_cast<T>(a & b); }));
  rows.push_back(row("or" + type + " %d, %a, %b;", [](T a, T b) { return static_cast<T>(a | b); }));
  rows.push_back(
      row("xor" + type + " %d, %a, %b;", [](T a, T b) { return static_cast<T>(a ^ b); }));
  rows.push_back(row("not" + type + " %d, %a;", [](T a) { return static_cast<T>(~a); }));
  rows.push_back(
      row("cnot" + type + " %d, %a;", [](T a) { return static_cast<T>(a == 0 ? 1 : 0); }));
}

TEST(IntegerBits, Logic) {
  std::vector<Row> rows{row("and.pred %d, %a, %b;", [](bool a, bool b) { return a && b; }),
                        row("or.pred %d, %a, %b;", [](bool a, bool b) { return a || b; }),
                        row("xor.pred %d, %a, %b;", [](bool a, bool b) { return a != b; }),
                        row("xor.pred %d, %a, -1;", [](bool a) { return !a; }),
                        row("and.pred %d, %a, 0;", [](bool) { return false; }),
                        row("not.pred %d, %a;", [](bool a) { return !a; }),
                        row("mov.pred %d, %a;", [](bool a) { return a; })};
  add_logic_rows<H>(rows);
  add_logic_rows<U>(rows);
  add_logic_rows<W>(rows);
  check(rows);
}

// Amounts beyond the width count as the width.
template <class T>
T shifted_left(T a, U amount) {
  return amount >= 8 * sizeof(T) ? T{0} : static_cast<T>(W{a} << amount);
}

template <class T>
T shifted_right(T a, U amount) {
  return static_cast<T>(Int128{a} >> std::min<U>(amount, 8 * sizeof(T)));
}

template <class T, class S>
void add_shift_rows(std::vector<Row>& rows) {
  const std::string bits = std::to_string(8 * sizeof(T)), amount = " %d, %a, %b;";
  rows.push_back(row("shl.b" + bits + amount, [](T a, U b) { return shifted_left(a, b); }));
  rows.push_back(row("shr.b" + bits + amount, [](T a, U b) { return shifted_right(a, b); }));
  rows.push_back(row("shr.u" + bits + amount, [](T a, U b) { return shifted_right(a, b); }));
  rows.push_back(row("shr.s" + bits + amount, [](S a, U b) { return shifted_right(a, b); }));
  rows.push_back(row("shl.b" + bits + " %d, %a, 3;", [](T a) { return shifted_left(a, 3); }));
  rows.push_back(row("shr.s" + bits + " %d, %a, 5;", [](S a) { return shifted_right(a, 5); }));
}

TEST(IntegerBits, Shifts) {
  std::vector<Row> rows;
  add_shift_rows<H, std::int16_t>(rows);
  add_shift_rows<U, I>(rows);
  add_shift_rows<W, L>(rows);
  check(rows);
}

W joined(U low, U high) { return (W{high} << 32) | low; }

TEST(IntegerBits, FunnelShifts) {
  check({row("shf.l.wrap.b32 %d, %a, %b, %c;",
             [](U a, U b, U c) { return static_cast<U>((joined(a, b) << (c & 31)) >> 32); }),
         row("shf.r.wrap.b32 %d, %a, %b, %c;",
             [](U a, U b, U c) { return static_cast<U>(joined(a, b) >> (c & 31)); }),
         row("shf.l.clamp.b32 %d, %a, %b, %c;",
             [](U a, U b, U c) {
               return static_cast<U>((joined(a, b) << std::min(c, U{32})) >> 32);
             }),
         row("shf.r.clamp.b32 %d, %a, %b, %c;",
             [](U a, U b, U c) { return static_cast<U>(joined(a, b) >> std::min(c, U{32})); })});
}

template <class T>
U top_bit_of(T a) {
  return static_cast<U>(63 - std::countl_zero(static_cast<W>(a)));  // zero: 0xFFFFFFFF
}

template <class T, class S>
void add_find_rows(std::vector<Row>& rows) {
  constexpr U top = 8 * sizeof(T) - 1;
  const std::string bits = std::to_string(8 * sizeof(T));
  rows.push_back(row("bfind.u" + bits + " %d, %a;", [](T a) { return top_bit_of(a); }));
  rows.push_back(row("bfind.s" + bits + " %d, %a;",
                     [](S a) { return top_bit_of(static_cast<T>(a < 0 ? ~a : a)); }));
  rows.push_back(row("bfind.shiftamt.u" + bits + " %d, %a;",
                     [](T a) { return a == 0 ? ~U{0} : top - top_bit_of(a); }));
  rows.push_back(row("bfind.shiftamt.s" + bits + " %d, %a;", [](S a) {
    const T found = static_cast<T>(a < 0 ? ~a : a);
    return found == 0 ? ~U{0} : top - top_bit_of(found);
  }));
}

template <class T>
T reversed(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    result = static_cast<T>((result << 1) | ((a >> i) & 1));
  }
  return result;
}

TEST(IntegerBits, CountsAndFinds) {
  std::vector<Row> rows{
      row("popc.b32 %d, %a;", [](U a) { return static_cast<U>(std::popcount(a)); }),
      row("popc.b64 %d, %a;", [](W a) { return static_cast<U>(std::popcount(a)); }),
      row("clz.b32 %d, %a;", [](U a) { return static_cast<U>(std::countl_zero(a)); }),
      row("clz.b64 %d, %a;", [](W a) { return static_cast<U>(std::countl_zero(a)); }),
      row("brev.b32 %d, %a;", [](U a) { return reversed(a); }),
      row("brev.b64 %d, %a;", [](W a) { return reversed(a); })};
  add_find_rows<U, I>(rows);
  add_find_rows<W, L>(rows);
  check(rows);
}

// The ISA's text for bfe, bit by bit: position and length are the low bytes of their operands, bits
// beyond the top read as the sign.
template <class T>
T extracted(T a, U position, U length) {
  constexpr unsigned top = 8 * sizeof(T) - 1;
  position &= 0xFF;
  length &= 0xFF;
  const bool is_signed = std::is_signed_v<T>;
  W sign = 0;
  if (is_signed && length != 0) {
    sign = static_cast<W>(a) >> std::min(position + length - 1, top) & 1;
  }
  W result = 0;
  for (unsigned i = 0; i <= top; ++i) {
    const bool inside = i < length && position + i <= top;
    const W bit = inside ? static_cast<W>(a) >> (position + i) & 1 : sign;
    result |= bit << i;
  }
  return static_cast<T>(result);
}

template <class T>
T inserted(T a, T b, U position, U length) {
  position &= 0xFF;
  length &= 0xFF;
  T result = b;
  for (unsigned i = 0; i < length && position + i < 8 * sizeof(T); ++i) {
    const T bit = static_cast<T>(T{1} << (position + i));
    result = static_cast<T>((result & ~bit) | (((a >> i) & 1) != 0 ? bit : 0));
  }
  return result;
}

// Random 32-bit positions lie beyond the register most of the time; bytes lie inside more often.
TEST(IntegerBits, Fields) {
  std::vector<Row> rows;
  for (const std::string amounts : {"", "and.b32 %b, %b, 63;\nand.b32 %c, %c, 63;\n"}) {
    const bool cut = !amounts.empty();
    const auto add = [&]<class T>(T) {
      rows.push_back(
          row(amounts + "bfe." + name_of<T>() + " %d, %a, %b, %c;", [cut](T a, U b, U c) {
            const U mask = cut ? 63 : ~U{0};
            return extracted(a, b & mask, c & mask);
          }));
    };
    add(I{});
    add(U{});
    add(L{});
    add(W{});
  }
  check(rows);
}

TEST(IntegerBits, Insertions) {
  check(
      {row("bfi.b32 %d, %a, %b, %c, %e;", [](U a, U b, U c, U e) { return inserted(a, b, c, e); }),
       row("bfi.b64 %d, %a, %b, %c, %e;", [](W a, W b, U c, U e) { return inserted(a, b, c, e); }),
       row("and.b32 %c, %c, 31; and.b32 %e, %e, 31; bfi.b32 %d, %a, %b, %c, %e;",
           [](U a, U b, U c, U e) { return inserted(a, b, c & 31, e & 31); }),
       row("and.b32 %c, %c, 63; and.b32 %e, %e, 63; bfi.b64 %d, %a, %b, %c, %e;",
           [](W a, W b, U c, U e) { return inserted(a, b, c & 63, e & 63); })});
}

U mask_of(U position, U width) {
  U result = 0;
  for (W i = position; i < W{position} + width && i < 32; ++i) result |= U{1} << i;
  return result;
}

TEST(IntegerBits, Masks) {
  check({row("bmsk.clamp.b32 %d, %a, %b;", [](U a, U b) { return mask_of(a, std::min(b, U{32})); }),
         row("bmsk.wrap.b32 %d, %a, %b;", [](U a, U b) { return mask_of(a & 31, b & 31); }),
         row("and.b32 %a, %a, 31; bmsk.clamp.b32 %d, %a, %b;",
             [](U a, U b) { return mask_of(a & 31, std::min(b, U{32})); }),
         row("bmsk.clamp.b32 %d, 0, %a;", [](U a) { return mask_of(0, std::min(a, U{32})); })});
}

// Truth tables are compile-time constants: a row for each of some.
TEST(IntegerBits, TernaryLogic) {
  std::vector<Row> rows;
  for (const unsigned table :
       {0x00U, 0x01U, 0x1EU, 0x40U, 0x80U, 0x96U, 0xCAU, 0xE8U, 0xFEU, 0xFFU}) {
    rows.push_back(
        row("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", [table](U a, U b, U c) {
          U result = 0;
          for (unsigned i = 0; i < 32; ++i) {
            const auto bit = [i](U x) { return x >> i & 1; };
            const U index = bit(a) << 2 | bit(b) << 1 | bit(c);
            result |= (table >> index & 1) << i;
          }
          return result;
        }));
  }
  check(rows);
}

U byte_of(U a, U b, U selector) {
  const auto byte = static_cast<U>(joined(a, b) >> (8 * (selector & 7)) & 0xFF);
  if ((selector & 8) == 0) return byte;
  return (byte & 0x80) != 0 ? 0xFF : 0;
}

U permuted(U a, U b, U selector) {
  U result = 0;
  for (unsigned i = 0; i < 4; ++i) result |= byte_of(a, b, selector >> (4 * i)) << (8 * i);
  return result;
}

// The modes name which bytes each of the selector's four low values takes, most significant first.
struct PermuteMode {
  const char* name;
  U selectors[4];
};

constexpr PermuteMode permute_modes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};

TEST(IntegerBits, Permutations) {
  std::vector<Row> rows{
      row("prmt.b32 %d, %a, %b, %c;", [](U a, U b, U c) { return permuted(a, b, c); }),
      row("prmt.b32 %d, %a, %b, 0x7732;", [](U a, U b) { return permuted(a, b, 0x7732); }),
      row("prmt.b32 %d, %a, 0, 0xBA98;", [](U a) { return permuted(a, 0, 0xBA98); })};
  for (const PermuteMode& mode : permute_modes) {
    rows.push_back({std::string("prmt.b32.") + mode.name + " %d, %a, %b, %c;",
                    "u32",
                    {"u32", "u32", "u32"},
                    [&mode](std::span<const std::uint64_t> x) {
                      return Expected(permuted(static_cast<U>(x[0]), static_cast<U>(x[1]),
                                               mode.selectors[x[2] & 3]));
                    },
                    true});
  }
  check(rows);
}

}  // namespace
}  // namespace emulator::test
