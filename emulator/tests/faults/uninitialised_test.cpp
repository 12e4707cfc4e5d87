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

}  // namespace
}  // namespace emulator::test
