#pragma once

#include <optional>
#include <string>

#include "harness/records/skip_category.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/op.h"

namespace assay {

struct Misfit {
  SkipCategory category;
  std::string why;
};

/// Returns why a case is too large for a device: its memory does not hold all tensors, or a launch
/// takes too long by the theoretical rate. Empty where it fits, as far as is known.
std::optional<Misfit> misfit(const OpInstance& op, const DeviceInfo& device, bool is_host);

}  // namespace assay
