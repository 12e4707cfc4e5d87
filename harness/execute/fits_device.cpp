#include "harness/execute/fits_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/measure/least_time.h"

namespace assay {
namespace {

/// Share of a device's memory that tensors may take: contexts, workspaces and a display lie there
/// too.
constexpr double share_of_memory = 0.9;

/// Bytes of the tensors that lie in the memory of one of the op's devices.
double device_bytes(const OpInstance& op) {
  double bytes = 0;
  const auto add = [&](const TensorSpec& spec) {
    const bool is_on_device = spec.memory == Memory::standard || spec.memory == Memory::fenced;
    if (is_on_device) bytes += static_cast<double>(spec.span_bytes());
  };
  for (const TensorSpec& spec : op.signature.inputs) add(spec);
  if (!op.signature.in_place) {
    for (const TensorSpec& spec : op.signature.outputs) add(spec);
  }
  return bytes / std::max(op.signature.devices, 1);
}

}  // namespace

std::optional<Misfit> misfit(const OpInstance& op, const DeviceInfo& device, bool is_host) {
  const double bytes = device_bytes(op);
  if (!is_host && device.memory_total_bytes) {
    const auto total = static_cast<double>(*device.memory_total_bytes);
    if (bytes > share_of_memory * total) {
      return Misfit{SkipCategory::too_little_memory,
                    fmt::format("the tensors take {:.1f} GB, the device has {:.1f} GB", bytes / 1e9,
                                total / 1e9)};
    }
  }
  const auto least_s = measure::least_launch_s(op, device);
  if (!least_s || *least_s <= measure::max_launch_s) return std::nullopt;
  return Misfit{SkipCategory::not_here,
                fmt::format("a launch takes at least {:.2g} s by the device's theoretical rate, "
                            "at most {:g} s are given",
                            *least_s, measure::max_launch_s)};
}

}  // namespace assay
