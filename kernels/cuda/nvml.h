#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace assay::cuda {

/// What the management library tells of a GPU. Empty where the GPU, the driver or the rights of
/// this process do not give it.
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
  Pcie pcie;                   // the fastest that GPU and machine can have
  Pcie pcie_now;               // idle GPUs take a lower generation
  std::optional<int> nvlinks;  // that are up
  std::optional<std::uint64_t> throttle_reasons;

  struct Process {
    unsigned pid;
    std::string name;
  };
  std::vector<Process> processes;  // with a context on it
};

/// NVML, opened on first use and never needed: without it, what it tells is empty.
class Nvml {
 public:
  static const Nvml& instance();

  /// Why it tells nothing; empty when it does.
  const std::string& problem() const { return problem_; }
  /// "580.82.07".
  std::string driver_version() const;
  /// Of every GPU of the machine, hidden ones too, in the order of their places on the bus.
  std::vector<std::string> uuids() const;
  GpuState state(const std::string& pci_bus_id) const;
  /// Of all that, what changes while work runs.
  DeviceCondition condition(const std::string& pci_bus_id) const;

 private:
  Nvml();
  std::string problem_;
};

/// Of the bits of nvmlClocksThrottleReasons: those that mean that the GPU ran slower than its work
/// would have let it. Not idleness, and not clocks that somebody has set.
bool is_throttled(std::uint64_t reasons);

/// "PCIe 5.0 x16"; empty where it is not known.
std::string pcie_text(const GpuState::Pcie& pcie);
/// The fastest links: "PCIe 5.0 x16; 18 NVLinks".
std::string link_text(const GpuState& state);
/// "1234 python; 99 assay".
std::string process_text(const GpuState& state);

}  // namespace assay::cuda
