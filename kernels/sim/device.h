#pragma once

#include "kernels/base/device.h"
#include "kernels/cpu/device.h"
#include "kernels/sim/address_space.h"

namespace assay::sim {

/// A device whose kernels are the CPU's and whose memory is its own.
class SimDevice final : public Device {
 public:
  explicit SimDevice(DeviceInfo info);

  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  void release(void* memory) noexcept override { memory_.release(memory); }
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  std::unique_ptr<Stream> create_stream() override { return cpu_.create_stream(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override;

  /// The same binding with the host memory behind this device's addresses.
  Binding on_host(const Binding& binding) const;

 private:
  DeviceInfo info_;
  cpu::CpuDevice cpu_;
  AddressSpace memory_;
};

}  // namespace assay::sim
