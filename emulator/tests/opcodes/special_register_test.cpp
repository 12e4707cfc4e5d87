#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/module.h"

// PTX ISA, "Special Registers", over grids and blocks of three dimensions.
namespace emulator::test {
namespace {

struct Place {
  unsigned thread, block;  // linear
  Dim3 tid, ctaid;
};

Dim3 coordinates(unsigned i, const Dim3& of) {
  return {i % of.x, i / of.x % of.y, i / of.x / of.y};
}

unsigned count(const Dim3& of) { return of.x * of.y * of.z; }

// %r8 is the thread's linear index in the block, %r9 that of the block, %r0 that in the grid.
const std::string linear =
    "mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y; mov.u32 %r3, %ntid.z;\n"
    "mov.u32 %r4, %tid.x; mov.u32 %r5, %tid.y; mov.u32 %r6, %tid.z;\n"
    "mad.lo.s32 %r8, %r6, %r2, %r5; mad.lo.s32 %r8, %r8, %r1, %r4;\n"
    "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
    "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n"
    "mad.lo.s32 %r9, %r6, %r11, %r5; mad.lo.s32 %r9, %r9, %r10, %r4;\n"
    "mul.lo.s32 %r7, %r1, %r2; mul.lo.s32 %r7, %r7, %r3; mad.lo.s32 %r0, %r9, %r7, %r8;\n";

template <class Expected>
void expect_register(const std::string& name, Expected expected,
                     const std::string& read = "mov.u32") {
  SCOPED_TRACE(name);
  const Shape shape{.grid = {3, 2, 4}, .block = {7, 3, 4}};
  const auto out =
      run_u32(linear + read + " %r20, " + name + ";\n" + store_u32("%out", "%r20"), shape);
  for (unsigned i = 0; i < out.size(); ++i) {
    const unsigned threads = count(shape.block);
    const Place place{i % threads, i / threads, coordinates(i % threads, shape.block),
                      coordinates(i / threads, shape.grid)};
    ASSERT_EQ(out[i], expected(place)) << "thread " << i;
  }
}

TEST(SpecialRegister, Coordinates) {
  expect_register("%tid.x", [](const Place& at) { return at.tid.x; });
  expect_register("%tid.y", [](const Place& at) { return at.tid.y; });
  expect_register("%tid.z", [](const Place& at) { return at.tid.z; });
  expect_register("%ctaid.x", [](const Place& at) { return at.ctaid.x; });
  expect_register("%ctaid.y", [](const Place& at) { return at.ctaid.y; });
  expect_register("%ctaid.z", [](const Place& at) { return at.ctaid.z; });
  expect_register("%ntid.x", [](const Place&) { return 7U; });
  expect_register("%ntid.y", [](const Place&) { return 3U; });
  expect_register("%ntid.z", [](const Place&) { return 4U; });
  expect_register("%nctaid.x", [](const Place&) { return 3U; });
  expect_register("%nctaid.y", [](const Place&) { return 2U; });
  expect_register("%nctaid.z", [](const Place&) { return 4U; });
}

// "Legacy PTX 1.x code that accesses them" with 16 bits reads the lower ones.
TEST(SpecialRegister, LowerHalves) {
  const std::string low = "cvt.u32.u16", moved = "mov.u16 %h1, %tid.z; cvt.u32.u16";
  expect_register(
      "%ctaid.z", [](const Place& at) { return at.ctaid.z; }, low);
  expect_register(
      "%lanemask_le", [](const Place& at) { return ((2U << at.thread % 32) - 1) & 0xffff; }, low);
  expect_register(
      "%h1", [](const Place& at) { return at.tid.z; }, moved);
}

// Warps take threads in the order x, y, z.
TEST(SpecialRegister, Lanes) {
  expect_register("%laneid", [](const Place& at) { return at.thread % 32; });
  expect_register("%lanemask_eq", [](const Place& at) { return 1U << at.thread % 32; });
  expect_register("%lanemask_lt", [](const Place& at) { return (1U << at.thread % 32) - 1; });
  expect_register("%lanemask_le", [](const Place& at) { return (2U << at.thread % 32) - 1; });
  expect_register("%lanemask_gt", [](const Place& at) { return ~((2U << at.thread % 32) - 1); });
  expect_register("%lanemask_ge", [](const Place& at) { return ~((1U << at.thread % 32) - 1); });
  expect_register("%warpid", [](const Place& at) { return at.thread / 32; });
}

TEST(SpecialRegister, SharedMemorySizes) {
  const auto out =
      run_u32(".shared .align 4 .b8 s[16]; mov.u64 %l1, s; mov.u32 %r3, %dynamic_smem_size;\n" +
                  store_u32("%out", "%r3"),
              {.grid = {1}, .block = {1}, .dynamic_shared_bytes = 1024});
  EXPECT_EQ(out[0], 1024U);
}

// Clocks go forward; nothing else is known of them.
TEST(SpecialRegister, Clocks) {
  for (const std::string name : {"%clock64", "%globaltimer"}) {
    const auto out = run_u32(
        "mov.u64 %l1, " + name + ";\nmov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1;\n" +
            "setp.lt.u32 %p1, %r3, 100; @%p1 bra LOOP; mov.u64 %l2, " + name +
            "; setp.ge.u64 %p2, %l2, %l1; selp.u32 %r4, 1, 0, %p2;\n" + store_u32("%out", "%r4"),
        {.grid = {2}, .block = {33}});
    for (const std::uint32_t x : out) ASSERT_EQ(x, 1U) << name;
  }
}

// Registers whose value is the machine's business: they must only be there.
TEST(SpecialRegister, OthersExist) {
  for (const std::string name : {"%smid", "%nsmid", "%nwarpid", "%clock", "%clock_hi",
                                 "%globaltimer_lo", "%globaltimer_hi", "%total_smem_size"}) {
    EXPECT_NO_THROW(run_u32("mov.u32 %r3, " + name + ";\n" + store_u32("%out", "%r3"),
                            {.grid = {1}, .block = {32}}))
        << name;
  }
}

}  // namespace
}  // namespace emulator::test
