#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "emulator/tests/opcodes/table.h"

// PTX ISA: SIMD video instructions, by its pseudocode.
namespace emulator::test {
namespace {

using U = std::uint32_t;
using I = std::int32_t;

struct Simd {
  int width;
  bool a_signed, b_signed, d_signed, saturates, accumulates;
};

template <class Operation>
U combined(const Simd& simd, U a, U b, U c, Operation operation) {
  const auto element = [&](U value, int i, bool is_signed) {
    const I bits = static_cast<I>(value >> (simd.width * i)) & ((1 << simd.width) - 1);
    return is_signed && bits >> (simd.width - 1) != 0 ? bits - (1 << simd.width) : bits;
  };
  U result = simd.accumulates ? c : 0;
  for (int i = 0; i < 32 / simd.width; ++i) {
    I value = operation(element(a, i, simd.a_signed), element(b, i, simd.b_signed));
    if (simd.saturates && simd.d_signed)
      value = std::clamp(value, -(1 << (simd.width - 1)), (1 << (simd.width - 1)) - 1);
    else if (simd.saturates)
      value = std::clamp(value, 0, (1 << simd.width) - 1);
    result += simd.accumulates
                  ? static_cast<U>(value)
                  : (static_cast<U>(value) & ((U{1} << simd.width) - 1)) << (simd.width * i);
  }
  return result;
}

template <class Operation>
void add_rows(std::vector<Row>& rows, const std::string& name, Operation operation) {
  for (const int width : {8, 16})
    for (const int signs : {0b000, 0b111, 0b001, 0b110})
      for (const std::string suffix : {"", ".sat", ".add"}) {
        const Simd simd{
            width,           (signs & 1) != 0, (signs & 2) != 0, (signs & 4) != 0, suffix == ".sat",
            suffix == ".add"};
        const auto type = [](bool is_signed) { return is_signed ? ".s32" : ".u32"; };
        rows.push_back(row(name + (width == 8 ? "4" : "2") + type(simd.d_signed) +
                               type(simd.a_signed) + type(simd.b_signed) + suffix +
                               " %d, %a, %b, %c;",
                           [=](U a, U b, U c) { return combined(simd, a, b, c, operation); }));
      }
}

TEST(Video, Arithmetic) {
  std::vector<Row> rows;
  add_rows(rows, "vadd", [](I a, I b) { return a + b; });
  add_rows(rows, "vsub", [](I a, I b) { return a - b; });
  add_rows(rows, "vabsdiff", [](I a, I b) { return std::abs(a - b); });
  add_rows(rows, "vmin", [](I a, I b) { return std::min(a, b); });
  add_rows(rows, "vmax", [](I a, I b) { return std::max(a, b); });
  // Halves are rounded away from zero.
  add_rows(rows, "vavrg", [](I a, I b) {
    const I sum = a + b;
    return sum >= 0 ? (sum + 1) / 2 : -((-sum + 1) / 2);
  });
  check(rows);
}

TEST(Video, Comparisons) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, auto compare) {
    for (const bool accumulates : {false, true}) {
      const Simd simd{8, true, false, false, false, accumulates};
      rows.push_back(row("vset4.s32.u32." + name + (accumulates ? ".add" : "") + " %d, %a, %b, %c;",
                         [=](U a, U b, U c) { return combined(simd, a, b, c, compare); }));
    }
  };
  add("eq", [](I a, I b) { return a == b ? 1 : 0; });
  add("ne", [](I a, I b) { return a != b ? 1 : 0; });
  add("lt", [](I a, I b) { return a < b ? 1 : 0; });
  add("le", [](I a, I b) { return a <= b ? 1 : 0; });
  add("gt", [](I a, I b) { return a > b ? 1 : 0; });
  add("ge", [](I a, I b) { return a >= b ? 1 : 0; });
  check(rows);
}

}  // namespace
}  // namespace emulator::test
