#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "emulator/tests/module.h"

// PTX ISA: redux.sync.
namespace emulator::test {
namespace {

using U = std::uint32_t;

TEST(Redux, CombinesTheLanesOfAMask) {
  struct Row {
    const char* name;
    std::function<U(U, U)> combine;
  };
  const auto of_signed = [](auto f) {
    return [f](U a, U b) {
      return static_cast<U>(f(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
    };
  };
  const auto min = [](auto a, auto b) { return std::min(a, b); };
  const auto max = [](auto a, auto b) { return std::max(a, b); };
  for (const auto& [name, combine] :
       std::initializer_list<Row>{{"add.u32", [](U a, U b) { return a + b; }},
                                  {"add.s32", [](U a, U b) { return a + b; }},
                                  {"min.u32", min},
                                  {"max.u32", max},
                                  {"min.s32", of_signed(min)},
                                  {"max.s32", of_signed(max)},
                                  {"and.b32", [](U a, U b) { return a & b; }},
                                  {"or.b32", [](U a, U b) { return a | b; }},
                                  {"xor.b32", [](U a, U b) { return a ^ b; }}}) {
    // Lanes 0 to 7 and 8 to 31 are two groups.
    const auto out = run_u32(
        std::string("setp.lt.u32 %p1, %r0, 8; selp.b32 %r4, 0xff, 0xffffff00, %p1;\n"
                    "mul.lo.u32 %r3, %r0, 0x9E3779B9; or.b32 %r3, %r3, 0x10;\nredux.sync.") +
            name + " %r5, %r3, %r4;\n" + store_u32("%out", "%r5"),
        {.grid = {1}, .block = {32}}, {0}, 1, "", 80);
    for (U begin : {0U, 8U}) {
      const U end = begin == 0 ? 8 : 32;
      U expected = begin * 0x9E3779B9U | 0x10;
      for (U i = begin + 1; i < end; ++i) expected = combine(expected, i * 0x9E3779B9U | 0x10);
      for (U i = begin; i < end; ++i) EXPECT_EQ(out[i], expected) << name << " lane " << i;
    }
  }
}

TEST(Redux, RefusesWhatItIsNot) {
  const auto kind = [](const std::string& code, int capability) {
    return caught_from([&] {
             run_u32("mov.u32 %r3, 1;\n" + code, {.grid = {1}, .block = {32}}, {0}, 1, "",
                     capability);
           })
        .kind;
  };
  EXPECT_EQ(kind("redux.sync.add.u32 %r5, %r3, -1;\n", 75), FaultKind::illegal_instruction);
  EXPECT_EQ(kind("redux.sync.and.u32 %r5, %r3, -1;\n", 80), FaultKind::illegal_instruction);
  EXPECT_EQ(kind("redux.sync.add.u32 %r5, %r3, 1;\n", 80), FaultKind::divergent_barrier);
}

}  // namespace
}  // namespace emulator::test
