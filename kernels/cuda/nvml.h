#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace assay::cuda {

/// State of a GPU as NVML reports it. Fields are empty if the GPU, the driver or the rights of this
/// process do not provide them.
struct GpuState {
  std::optional<std::int64_t> memory_free_bytes;
  std::optional<double> sm_clock_hz;
  std::optional<double> sm_clock_max_hz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<bool> ecc;
  std::optional<bool> mig;
  struct Pcie {
    std::optional<int> generation;
    std::optional<int> lanes;
  };
  Pcie pcie;                   // fastest link that GPU and machine support
  Pcie pcie_now;               // idle GPUs take a lower generation
  std::optional<int> nvlinks;  // number of active links
  std::optional<std::uint64_t> throttle_reasons;

  struct Process {
    unsigned pid;
    std::string name;
  };
  std::vector<Process> processes;  // with a context on the GPU
};

/// NVML, opened on first use. It is optional: without it, all results are empty.
class Nvml {
 public:
  static const Nvml& instance();

  /// Reason why NVML cannot be used; empty if it can.
  const std::string& problem() const { return problem_; }
  /// "580.82.07".
  std::string driver_version() const;
  /// UUIDs of every GPU of the machine, hidden ones too, in bus order.
  std::vector<std::string> uuids() const;
  GpuState state(const std::string& pci_bus_id) const;
  /// Free memory of a MIG slice. That of its GPU is no bound of it.
  std::optional<std::int64_t> slice_memory_free_bytes(const std::string& uuid) const;
  /// Reads the part of the state that changes while work runs.
  DeviceCondition condition(const std::string& pci_bus_id) const;
  /// Reads the counters of errors since the driver was loaded, and XID errors since the first call.
  DeviceErrors errors(const std::string& pci_bus_id) const;

 private:
  Nvml();
  std::string problem_;
};

/// Returns true if the bits of nvmlClocksThrottleReasons mean that heat, the power supply's
/// brake or other hardware slowed the GPU. Idleness, clocks set by a user and the power limit do
/// not count.
bool is_throttled(std::uint64_t reasons);
/// Returns true if they mean that the GPU keeps within its power limit: a large product's normal
/// state.
bool is_power_capped(std::uint64_t reasons);

/// "PCIe 5.0 x16"; empty if unknown.
std::string pcie_text(const GpuState::Pcie& pcie);
/// The fastest links: "PCIe 5.0 x16; 18 NVLinks".
std::string link_text(const GpuState& state);
/// "1234 python; 99 assay".
std::string process_text(const GpuState& state);

}  // namespace assay::cuda
