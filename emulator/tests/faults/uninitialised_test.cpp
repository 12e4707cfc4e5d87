#include <vector>

#include "emulator/tests/faults/support.h"

namespace emulator::test {
namespace {

constexpr FaultKind uninitialised = FaultKind::uninitialised_read;

TEST(Uninitialised, GlobalMemory) {
  FaultTest test("uninitialised");
  const auto in = test.device.allocate(64 * sizeof(int)),
             out = test.device.allocate(64 * sizeof(int));
  const Shape shape{.grid = {1}, .block = {64}};
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "add_one", shape, in, out);
  test.device.memory().view(in, 63 * sizeof(int), Access::write, host, "test");
  test.expect_fault({uninitialised, in + 63 * sizeof(int), 0, 63}, "add_one", shape, in, out);
  test.device.memory().view(in, 64 * sizeof(int), Access::write, host, "test");
  test.expect_none("add_one", shape, in, out);
  test.expect_none("add_one", shape, out, in);  // a kernel's writes count
}

TEST(Uninitialised, FreedAndAllocatedAgain) {
  FaultTest test("uninitialised");
  for (int i = 0; i < 100; ++i) {
    const auto in = test.device.upload(std::vector<int>(64, 1));
    ASSERT_TRUE(test.device.memory().release(in));
  }
  const auto in = test.device.allocate(64 * sizeof(int)),
             out = test.device.allocate(64 * sizeof(int));
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "add_one",
                    {.grid = {1}, .block = {64}}, in, out);
}

TEST(Uninitialised, SomeBytesOfAWord) {
  FaultTest test("uninitialised");
  const auto in = test.device.allocate(sizeof(int)), out = test.device.allocate(sizeof(int));
  test.expect_none("write_three_bytes", {.grid = {1}, .block = {4}}, in);
  test.expect_fault({uninitialised, std::nullopt, 0, 0}, "add_one", {.grid = {1}, .block = {1}}, in,
                    out);
  EXPECT_FALSE(test.device.memory().is_initialised(in, 4));
  EXPECT_TRUE(test.device.memory().is_initialised(in, 3));
}

TEST(Uninitialised, CopiesCarryTheMarks) {
  FaultTest test("uninitialised");
  Memory& memory = test.device.memory();
  const auto in = test.device.upload(std::vector<int>(64, 1)),
             empty = test.device.allocate(64 * sizeof(int));
  const auto copy = test.device.allocate(64 * sizeof(int)),
             out = test.device.allocate(64 * sizeof(int));
  memory.copy(copy, in, 256, 0, "copy");
  test.expect_none("add_one", {.grid = {1}, .block = {64}}, copy, out);
  memory.copy(copy + 128, empty + 128, 128, 0, "copy");
  test.expect_none("add_one", {.grid = {1}, .block = {32}}, copy, out);
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "add_one",
                    {.grid = {1}, .block = {64}}, copy, out);
}

TEST(Uninitialised, SharedMemory) {
  FaultTest test("uninitialised");
  const auto out = test.device.allocate(64 * sizeof(int));
  test.expect_none("written_shared", {.grid = {1}, .block = {64}}, out);
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "half_written_shared",
                    {.grid = {1}, .block = {64}}, out);
}

TEST(Uninitialised, SharedMemoryIsNewForEachBlock) {
  FaultTest test("uninitialised");
  const auto out = test.device.allocate(4 * 32 * sizeof(int));
  test.expect_none("shared_of_another_block", {.grid = {1}, .block = {32}}, out);
  test.expect_fault({uninitialised, std::nullopt, std::nullopt, std::nullopt},
                    "shared_of_another_block", {.grid = {4}, .block = {32}}, out);
}

TEST(Uninitialised, LocalMemory) {
  FaultTest test("uninitialised");
  const auto out = test.device.allocate(32 * sizeof(int));
  test.expect_none("local_array", {.grid = {1}, .block = {32}}, out, 4, 3);
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "local_array",
                    {.grid = {1}, .block = {32}}, out, 4, 4);
}

TEST(Uninitialised, AtomicsReadToo) {
  FaultTest test("uninitialised");
  const auto total = test.device.allocate(sizeof(int));
  test.expect_fault({uninitialised, total, 0, std::nullopt}, "count", {.grid = {1}, .block = {32}},
                    total);
  test.expect_none("clear", {.grid = {1}, .block = {1}}, total);
  test.expect_none("count", {.grid = {1}, .block = {32}}, total);
  EXPECT_EQ(test.device.download<int>(total, 1)[0], 32);
}

// Copies of padding, and loads wider than what is used.
TEST(Uninitialised, WhatNobodyUsesIsNone) {
  FaultTest test("uninitialised");
  const auto out = test.device.allocate(64 * 16), empty = test.device.allocate(64 * 16);
  const Shape warp{.grid = {1}, .block = {32}};
  test.expect_none("copy_padding", warp, out);
  EXPECT_FALSE(test.device.memory().is_initialised(out, 8));  // the marks came along
  EXPECT_TRUE(test.device.memory().is_initialised(out + 4, 4));
  test.expect_none("copy_vectors", warp, empty, out);
  EXPECT_FALSE(test.device.memory().is_initialised(out, 16));
  test.expect_none("three_of_four", warp, out);
  EXPECT_EQ(test.device.download<int>(out, 32)[0], 23);
  test.expect_none("three_while_a_fourth", {.grid = {1}, .block = {64}}, out);
}

TEST(Uninitialised, DefinedPartsOfValuesMayBeUsed) {
  FaultTest test("uninitialised");
  const auto in = test.device.allocate(32 * sizeof(int)),
             out = test.device.allocate(32 * sizeof(int));
  test.device.memory().view(in, 3, Access::write, host, "test");
  test.expect_none("use_defined_bits", {.grid = {1}, .block = {1}}, in, out);
  EXPECT_EQ(test.device.download<unsigned>(out, 6)[3], 0xff000001U);
  test.expect_fault({uninitialised, in, 0, 0}, "bits_of_another_byte", {.grid = {1}, .block = {1}},
                    in, out);
  test.device.memory().view(in, 16 * sizeof(int), Access::write, host, "test");
  test.expect_none("choose_defined", {.grid = {1}, .block = {32}}, in, out, 16);
  EXPECT_EQ(test.device.download<int>(out, 32)[20], -1);
  test.expect_fault({uninitialised, in + 16 * sizeof(int), 0, 16}, "choose_defined",
                    {.grid = {1}, .block = {32}}, in, out, 17);
  test.expect_none("shuffle_defined", {.grid = {1}, .block = {32}}, in, out);
}

TEST(Uninitialised, PaddingGoesThroughCalls) {
  FaultTest test("uninitialised");
  const auto in = test.device.upload(std::vector<unsigned char>(96, 5)),
             out = test.device.allocate(96);
  test.expect_none("pass_by_value", {.grid = {1}, .block = {32}}, in, out);
  EXPECT_EQ(test.device.download<unsigned char>(out, 96)[3], 6);
}

TEST(Uninitialised, EachUseIsOne) {
  FaultTest test("uninitialised");
  const auto in = test.device.allocate(32 * sizeof(int)),
             out = test.device.upload(std::vector<int>(64, 0));
  test.device.memory().view(in, 31 * sizeof(int), Access::write, host, "test");
  const Report last{uninitialised, in + 31 * sizeof(int), 0, 31};
  for (const char* kernel :
       {"branch_on", "address_by", "through_shared", "through_a_call", "add_to_total"}) {
    test.expect_fault(
        kernel == std::string("through_shared") ? Report{uninitialised, std::nullopt, 0, 30} : last,
        kernel, {.grid = {1}, .block = {32}}, in, out);
    // Written, it is none.
    const auto whole = test.device.upload(std::vector<int>(32, 1));
    test.expect_none(kernel, {.grid = {1}, .block = {32}}, whole, out);
  }
  test.expect_fault({uninitialised, std::nullopt, 0, 0}, "sum_by_shuffles",
                    {.grid = {1}, .block = {32}}, in, out);
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "copy_of_nothing",
                    {.grid = {1}, .block = {64}}, out);
}

TEST(Uninitialised, ExchangesReadOnlyWhatIsLookedAt) {
  FaultTest test("uninitialised");
  const auto out = test.device.allocate(32 * sizeof(int));
  test.expect_none("begin_by_exchange", {.grid = {1}, .block = {32}}, out, 0);
  EXPECT_EQ(test.device.download<int>(out, 32), std::vector<int>(32, 7));
  // One thread of the warp comes first.
  test.expect_fault({uninitialised, std::nullopt, 0, std::nullopt}, "begin_by_exchange",
                    {.grid = {1}, .block = {32}}, out, 1);
}

}  // namespace
}  // namespace emulator::test
