#include <vector>

#include "emulator/tests/faults/support.h"

namespace emulator::test {
namespace {

constexpr FaultKind illegal = FaultKind::illegal_address;

TEST(OutOfBounds, ReadOneElementPastTheEnd) {
  FaultTest test("out_of_bounds");
  const int n = 100;
  const auto in = test.device.upload(std::vector<int>(n, 7));
  const auto out = test.device.allocate(n * sizeof(int));
  test.expect_none("read_within", {.grid = {2}, .block = {64}}, in, out, n);
  test.expect_fault({illegal, in + n * sizeof(int), 1, 36}, "read_past_end",
                    {.grid = {2}, .block = {64}}, in, out, n);
}

TEST(OutOfBounds, WriteOneElementPastTheEnd) {
  FaultTest test("out_of_bounds");
  const int n = 100;
  const auto out = test.device.allocate(n * sizeof(int));
  test.expect_none("write_within", {.grid = {2}, .block = {64}}, out, n);
  test.expect_fault({illegal, out + n * sizeof(int), 1, 36}, "write_past_end",
                    {.grid = {2}, .block = {64}}, out, n);
}

// Neither another allocation nor the padding up to the next 256 bytes hides an error.
TEST(OutOfBounds, IntoTheRedZone) {
  FaultTest test("out_of_bounds");
  const auto before = test.device.allocate(4096);
  const auto out = test.device.allocate(64 * sizeof(int));
  const auto after = test.device.allocate(4096);
  for (const long long index :
       {-1LL, -2LL, -16LL, -64LL, 64LL, 65LL, 80LL, 128LL, 1LL << 20, 1LL << 40, -(1LL << 40)}) {
    SCOPED_TRACE(index);
    const auto address = out + static_cast<std::uintptr_t>(index) * sizeof(int);
    const bool hits_another = (address >= before && address < before + 4096) ||
                              (address >= after && address < after + 4096);
    if (hits_another) continue;
    test.expect_fault({illegal, address, 0, 0}, "write_at", {.grid = {1}, .block = {1}}, out,
                      index);
    test.expect_fault({illegal, address, 0, 0}, "add_at", {.grid = {1}, .block = {1}}, out, index);
  }
  test.expect_none("write_at", {.grid = {1}, .block = {1}}, out, 63LL);
  test.expect_none("add_at", {.grid = {1}, .block = {1}}, out, 63LL);
}

TEST(OutOfBounds, NeighboursLieApart) {
  Device device;
  for (int i = 0; i < 20; ++i) {
    const auto first = device.allocate(256), second = device.allocate(256);
    EXPECT_GT(second > first ? second - first : first - second, 256U);
  }
}

TEST(OutOfBounds, AVectorThatReachesOver) {
  FaultTest test("out_of_bounds");
  const auto in = test.device.upload(std::vector<int>(15, 7));  // 60 bytes: 3.75 vectors
  const auto out = test.device.allocate(sizeof(int));
  test.expect_none("read_vector_at", {.grid = {1}, .block = {1}}, in, out, 2LL);
  test.expect_fault({illegal, std::nullopt, 0, 0}, "read_vector_at", {.grid = {1}, .block = {1}},
                    in, out, 3LL);
}

TEST(OutOfBounds, NullAndNonsense) {
  FaultTest test("out_of_bounds");
  for (const std::uintptr_t address :
       {std::uintptr_t{0}, std::uintptr_t{8}, std::uintptr_t{0xFFFFFFFFFFFFF000}}) {
    test.expect_fault({illegal, std::nullopt, 0, 0}, "write_at", {.grid = {1}, .block = {1}},
                      address, 0LL);
  }
}

TEST(OutOfBounds, FreedMemory) {
  FaultTest test("out_of_bounds");
  const auto out = test.device.allocate(256);
  test.expect_none("write_at", {.grid = {1}, .block = {1}}, out, 0LL);
  ASSERT_TRUE(test.device.memory().release(out));
  // The address is not given to the next allocation at once.
  const auto next = test.device.allocate(256);
  EXPECT_NE(next, out);
  test.expect_fault({illegal, out, 0, 0}, "write_at", {.grid = {1}, .block = {1}}, out, 0LL);
}

TEST(OutOfBounds, AnotherGpusMemoryNeedsPeerAccess) {
  FaultTest test("out_of_bounds", 2);
  const auto out = test.device.allocate(256, 1);
  const Shape on_first{.grid = {1}, .block = {1}, .gpu = 0};
  test.expect_fault({illegal, out, 0, 0}, "write_at", on_first, out, 0LL);
  test.device.memory().enable_peer(0, 1, true);
  test.expect_none("write_at", on_first, out, 0LL);
  // The other direction stays forbidden.
  const auto first = test.device.allocate(256, 0);
  test.expect_fault({illegal, first, 0, 0}, "write_at", {.grid = {1}, .block = {1}, .gpu = 1},
                    first, 0LL);
  test.device.memory().enable_peer(0, 1, false);
  test.expect_fault({illegal, out, 0, 0}, "write_at", on_first, out, 0LL);
}

TEST(OutOfBounds, HostMemoryMustBePinned) {
  FaultTest test("out_of_bounds");
  std::vector<int> values(1024);
  const auto address = reinterpret_cast<std::uintptr_t>(values.data());
  test.expect_fault({illegal, address, 0, 0}, "write_at", {.grid = {1}, .block = {1}}, address,
                    0LL);
  EXPECT_EQ(values[0], 0);
  test.device.memory().add_host(values.data(), values.size() * sizeof(int));
  test.expect_none("write_at", {.grid = {1}, .block = {1}}, address, 0LL);
  EXPECT_EQ(values[0], 1);
  test.expect_fault({illegal, address + 4096, 0, 0}, "write_at", {.grid = {1}, .block = {1}},
                    address, 1024LL);
  ASSERT_TRUE(test.device.memory().remove_host(values.data()));
  test.expect_fault({illegal, address, 0, 0}, "write_at", {.grid = {1}, .block = {1}}, address,
                    0LL);
}

TEST(OutOfBounds, StaticSharedMemory) {
  FaultTest test("out_of_bounds");
  const auto out = test.device.allocate(64 * sizeof(int));
  test.expect_none("static_shared", {.grid = {1}, .block = {64}}, out, 0);
  test.expect_fault({illegal, std::nullopt, 0, 63}, "static_shared", {.grid = {1}, .block = {64}},
                    out, 1);
  test.expect_fault({illegal, std::nullopt, 0, std::nullopt}, "static_shared",
                    {.grid = {1}, .block = {64}}, out, 1 << 20);
  test.expect_fault({illegal, std::nullopt, 0, 0}, "static_shared", {.grid = {1}, .block = {64}},
                    out, -1);
  test.expect_none("read_static_shared", {.grid = {1}, .block = {64}}, out, 0);
  test.expect_fault({illegal, std::nullopt, 0, 63}, "read_static_shared",
                    {.grid = {1}, .block = {64}}, out, 1);
}

// ptxas reports 244 bytes for 61 integers: no padding hides the next one.
TEST(OutOfBounds, StaticSharedMemoryOfAnOddSize) {
  FaultTest test("out_of_bounds");
  const auto out = test.device.allocate(32 * sizeof(int));
  EXPECT_EQ(test.kernels.program().facts("odd_static_shared").static_shared_bytes, 244U);
  test.expect_none("odd_static_shared", {.grid = {1}, .block = {32}}, out, 60);
  test.expect_fault({illegal, std::nullopt, 0, 0}, "odd_static_shared",
                    {.grid = {1}, .block = {32}}, out, 61);
}

TEST(OutOfBounds, DynamicSharedMemory) {
  FaultTest test("out_of_bounds");
  const auto out = test.device.allocate(64 * sizeof(int));
  const Shape exact{.grid = {1}, .block = {64}, .dynamic_shared_bytes = 256};
  test.expect_none("dynamic_shared", exact, out, 0);
  test.expect_fault({illegal, std::nullopt, 0, 63}, "dynamic_shared", exact, out, 1);
  test.expect_none("dynamic_shared", {.grid = {1}, .block = {64}, .dynamic_shared_bytes = 260}, out,
                   1);
  test.expect_fault({illegal, std::nullopt, 0, std::nullopt}, "dynamic_shared",
                    {.grid = {1}, .block = {64}}, out, 0);
}

TEST(OutOfBounds, LocalMemory) {
  FaultTest test("out_of_bounds");
  const auto out = test.device.allocate(32 * sizeof(int));
  test.expect_none("local_array", {.grid = {1}, .block = {32}}, out, 8, 7);
  test.expect_fault({illegal, std::nullopt, 0, std::nullopt}, "local_array",
                    {.grid = {1}, .block = {32}}, out, 9, 7);
  test.expect_fault({illegal, std::nullopt, 0, std::nullopt}, "local_array",
                    {.grid = {1}, .block = {32}}, out, 8, 8);
}

}  // namespace
}  // namespace emulator::test
