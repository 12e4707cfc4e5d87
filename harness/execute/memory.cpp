#include "harness/execute/memory.h"

#include <fmt/format.h>
#include <malloc.h>

#include <fstream>

namespace assay {

double host_bytes(const OpInstance& op, bool device_is_host) {
  const Signature& signature = op.signature;
  double bytes = 0;
  const auto add = [&](const TensorSpec& spec, bool has_device_tensor) {
    bytes += static_cast<double>(spec.bytes());
    // Huge pages count as used from their allocation on, so MemAvailable no longer includes them.
    const bool untouched = spec.memory == Memory::standard;
    if (device_is_host && has_device_tensor && untouched) {
      bytes += static_cast<double>(spec.span_bytes());
    }
  };
  for (const TensorSpec& spec : signature.inputs) add(spec, true);
  for (const TensorSpec& spec : signature.outputs) add(spec, !signature.in_place);
  return bytes * signature.ranks;
}

double tensor_bytes(const OpInstance& op) {
  double bytes = 0;
  for (const TensorSpec& spec : op.signature.inputs) bytes += static_cast<double>(spec.bytes());
  for (const TensorSpec& spec : op.signature.outputs) bytes += static_cast<double>(spec.bytes());
  return bytes * op.signature.ranks;
}

std::optional<double> available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name && std::getline(file, rest);) {
    if (name == "MemAvailable:") return std::stod(rest) * 1024;
  }
  return std::nullopt;
}

std::optional<std::string> too_little_memory(double needed_bytes,
                                             std::optional<double> available_bytes) {
  if (!available_bytes || needed_bytes <= *available_bytes) return std::nullopt;
  return fmt::format(
      "the case and its checks take {:.1f} GB of the host's, {:.1f} GB are available",
      needed_bytes / 1e9, *available_bytes / 1e9);
}

std::optional<std::string> too_little_memory_now(double needed_bytes) {
  if (!too_little_memory(needed_bytes, available_host_bytes())) return std::nullopt;
  malloc_trim(0);
  return too_little_memory(needed_bytes, available_host_bytes());
}

std::optional<std::string> held_by_others(const OpInstance& op, const DeviceInfo& device) {
  if (!device.memory_free_bytes || !device.memory_total_bytes) return std::nullopt;
  constexpr double besides = 1e9;  // a context, the code of kernels, workspaces of libraries
  const double tensors = tensor_bytes(op) / op.signature.ranks;
  const auto free = static_cast<double>(*device.memory_free_bytes);
  const auto total = static_cast<double>(*device.memory_total_bytes);
  if (tensors + besides <= free || tensors + besides > total) return std::nullopt;
  return fmt::format(
      "the tensors of the case take {:.1f} GB, and of the {:.1f} GB of {} others had left {:.1f} "
      "GB",
      tensors / 1e9, total / 1e9, device.device, free / 1e9);
}

}  // namespace assay
