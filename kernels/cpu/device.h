#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <variant>

#include "kernels/cpu/fenced_memory.h"
#include "kernels/cpu/huge_pages.h"
#include "kernels/device/device.h"

namespace assay::cpu {

/// The machine's CPU. Work runs at once in the calling thread and its OpenMP team. So a stream is
/// always empty, and an event is a reading of the steady clock.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(DeviceInfo info) : info_(std::move(info)) {}

  const DeviceInfo& info() const override { return info_; }
  /// Tells the energy of all processors: of the whole CPU, not of a node of its memory.
  DeviceCondition condition() const override;
  void* allocate(std::size_t bytes, Memory kind) override;
  void release(void* memory) noexcept override;
  bool is_host() const override { return true; }
  bool is_readable_by_host() const override { return true; }
  bool has_fences() const override { return true; }
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void touch(void* memory, std::size_t bytes) override;
  std::unique_ptr<Stream> create_stream() override;
  /// Waits until no other thread of the process runs, but not for ever: some may spin.
  void wait_for_all() override;
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override;

 private:
  using Mapping = std::variant<std::unique_ptr<HugePageMapping>, std::unique_ptr<FencedMemory>>;
  /// Returns its address.
  void* keep(Mapping mapping);

  DeviceInfo info_;
  std::mutex mutex_;                   // parts of a batch may be released at once
  std::map<void*, Mapping> mappings_;  // by data pointer
};

}  // namespace assay::cpu
