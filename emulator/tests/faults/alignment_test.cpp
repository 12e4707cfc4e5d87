#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"

namespace emulator::test {
namespace {

constexpr Shape one_thread{.grid = {1}, .block = {1}};

TEST(Alignment, EachSizeNeedsItsOwn) {
  FaultTest test("alignment");
  const auto in = test.device.upload(std::vector<char>(64, 1));
  const auto out = test.device.upload(std::vector<char>(64, 0));
  for (const int bytes : {2, 4, 8, 16}) {
    const std::string kernel = "copy_" + std::to_string(bytes);
    test.expect_none(kernel, one_thread, in, out, bytes, bytes);
    for (const int offset : {1, bytes / 2, bytes + bytes / 2, bytes - 1}) {
      const auto at = static_cast<std::uintptr_t>(offset);
      test.expect_fault({FaultKind::misaligned_address, in + at, 0, 0}, kernel, one_thread, in, out,
                        offset, 0);
      test.expect_fault({FaultKind::misaligned_address, out + at, 0, 0}, kernel, one_thread, in,
                        out, 0, offset);
    }
  }
}

TEST(Alignment, Atomics) {
  FaultTest test("alignment");
  const auto out = test.device.upload(std::vector<char>(64, 0));
  test.expect_none("add_4", one_thread, out, 4);
  test.expect_fault({FaultKind::misaligned_address, out + 2, 0, 0}, "add_4", one_thread, out, 2);
}

TEST(Alignment, SharedMemory) {
  FaultTest test("alignment");
  const auto out = test.device.allocate(sizeof(double));
  test.expect_none("shared_8", one_thread, out, 16);
  test.expect_fault({FaultKind::misaligned_address, std::nullopt, 0, 0}, "shared_8", one_thread,
                    out, 20);
}

}  // namespace
}  // namespace emulator::test
