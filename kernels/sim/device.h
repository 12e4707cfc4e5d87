#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/device.h"
#include "kernels/device/device.h"
#include "kernels/sim/address_space.h"
#include "kernels/sim/device_faults.h"

namespace assay::sim {

class SimDevice;
/// Open devices of one backend. A device looks up peers' addresses in them.
using Peers = std::vector<const SimDevice*>;

/// A device with the CPU's kernels, its own memory and the requested faults.
class SimDevice final : public Device {
 public:
  SimDevice(DeviceInfo info, int index, const std::vector<Fault>& faults,
            std::shared_ptr<Peers> peers);
  ~SimDevice() override;
  SimDevice(const SimDevice&) = delete;
  SimDevice& operator=(const SimDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }
  /// Tells of a device that takes the same power all the time.
  DeviceCondition condition() const override;
  void* allocate(std::size_t bytes, Memory kind) override;
  void release(void* memory) noexcept override { memory_.release(memory); }
  bool is_host() const override { return true; }
  std::string owner_uuid(const void* memory) const override;
  std::int64_t free_memory_bytes() const override;
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  std::unique_ptr<Stream> create_stream() override;
  void wait_for_all() override { cpu_.wait_for_all(); }
  Binding reachable(const Binding& binding) const override { return on_host(binding); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override;

  /// Translates this device's addresses in a binding to host memory; for a copy between devices,
  /// also those of a peer.
  Binding on_host(const Binding& binding, bool reaches_peers = false) const;

  DeviceFaults& faults() { return faults_; }

 private:
  DeviceInfo info_;
  std::string next_uuid_;  // UUID of the next device
  DeviceFaults faults_;
  cpu::CpuDevice cpu_;
  AddressSpace memory_;
  std::shared_ptr<Peers> peers_;
};

}  // namespace assay::sim
