#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::cuda {

/// XID errors of a GPU: what NVIDIA's driver reports of faults of the GPU or of the work on it
/// ("XID Errors", NVIDIA GPU Deployment and Management Documentation).
struct XidErrors {
  std::int64_t count = 0;  // since the process first asked for this GPU
  std::int64_t last = 0;   // code of the last one
};

/// Takes in the events that the driver has ready. Empty if it tells none.
std::optional<XidErrors> xid_errors(const std::string& pci_bus_id, void* nvml_device);

}  // namespace assay::cuda
