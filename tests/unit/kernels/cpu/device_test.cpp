#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"

namespace assay {
namespace {

class CpuMemory : public testing::Test {
 protected:
  void* allocate(std::size_t bytes) { return device_->allocate(bytes, Memory::standard); }

  const std::unique_ptr<Backend> backend_ = cpu::make_backend();
  const std::unique_ptr<Device> device_ = backend_->open(0);
};

TEST_F(CpuMemory, BeginsOnACacheLine) {
  std::vector<void*> blocks;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 4096, 1'000'003}) {
    blocks.push_back(allocate(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % 64, 0U) << bytes;
    device_->fill(blocks.back(), std::byte{0xff}, bytes);
  }
  for (void* block : blocks) device_->release(block);
  device_->release(nullptr);
}

TEST_F(CpuMemory, IsRefusedWhereThereIsNone) {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {all, all - 63}) {
    try {
      allocate(bytes);
      ADD_FAILURE() << bytes;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.failure(), Failure::out_of_memory);
    }
  }
}

TEST_F(CpuMemory, MayEndWhereNothingMayBeTouched) {
  for (const std::size_t bytes : {1, 100, 4096, 100'000}) {
    auto* block = static_cast<volatile char*>(device_->allocate(bytes, Memory::fenced));
    block[0] = 1;
    block[bytes - 1] = 2;
    EXPECT_DEATH(static_cast<void>(block[bytes]), "past the end of an input") << bytes;
    EXPECT_DEATH(static_cast<void>(block[bytes + 100'000]), "past the end of an input") << bytes;
    device_->release(const_cast<char*>(block));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  EXPECT_THROW(device_->allocate(std::size_t{1} << 62, Memory::fenced), DeviceError);
}

// A sanitizer's allocator uses no freed memory again, and it has handlers of its own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(CpuMemory, OfOneTrialServesTheNext) {
  constexpr std::size_t bytes = 100'000;
  void* first = allocate(bytes);
  void* between = allocate(100);  // lives on, so that the first block cannot grow when it is free
  device_->release(first);
  void* next = allocate(bytes);
  EXPECT_EQ(next, first);
  device_->release(next);
  device_->release(between);
}

TEST_F(CpuMemory, LetsASignalThatSomebodySendsEndTheProcess) {
  device_->release(device_->allocate(1, Memory::fenced));
  EXPECT_EXIT(kill(getpid(), SIGSEGV), testing::KilledBySignal(SIGSEGV), "");
}
#endif

}  // namespace
}  // namespace assay
