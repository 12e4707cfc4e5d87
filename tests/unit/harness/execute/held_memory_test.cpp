// Memory that others hold excuses making a trial, and nothing else.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "harness/execute/engine.h"
#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

[[noreturn]] void find_none() { throw DeviceError(Failure::out_of_memory, "none left"); }

class GreedyKernel final : public Kernel {
 public:
  void launch() override { find_none(); }
  std::string implementation() const override { return "greedy"; }
};

/// A device of which others hold nearly all. It finds no memory for tensors, or only in launches.
class FullDevice final : public ForwardingDevice {
 public:
  FullDevice(std::unique_ptr<Device> real, bool in_launches)
      : ForwardingDevice(std::move(real)), info_(ForwardingDevice::info()), late_(in_launches) {
    info_.memory_total_bytes = 80'000'000'000;
    info_.memory_free_bytes = 1'000'000;
  }
  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::size_t bytes, Memory kind) override {
    if (!late_) find_none();
    return ForwardingDevice::allocate(bytes, kind);
  }
  std::unique_ptr<Kernel> prepare(const OpInstance&, const Binding&) override {
    return std::make_unique<GreedyKernel>();
  }

 private:
  DeviceInfo info_;
  bool late_;
};

Result taken(bool in_launches, const std::string& kernels) {
  Backends backends;
  backends.add(std::make_unique<WrappingBackend>("full", cpu::make_backend(), [=](auto real) {
    return std::make_unique<FullDevice>(std::move(real), in_launches);
  }));
  EngineOptions options;
  options.kernels = kernels;
  Engine engine(backends, options);
  return engine.execute(planned("tensor_ops/add/f32/n=1003", {{"full", 0}}), [] {});
}

TEST(HeldMemory, SkipsATrialThatCannotBeMadeAndLeavesTheWorker) {
  const Result result = taken(false, "");
  EXPECT_EQ(result.record.status, Status::skip) << result.record.reason;
  EXPECT_EQ(result.record.skip_category, SkipCategory::too_little_memory);
  EXPECT_TRUE(result.leave_worker);
}

TEST(HeldMemory, ExcusesNoLaunchAndNoKernelsOfOthers) {
  EXPECT_EQ(taken(true, "").record.status, Status::oom);
  EXPECT_EQ(taken(false, "theirs.so").record.status, Status::oom);
}

}  // namespace
}  // namespace assay
