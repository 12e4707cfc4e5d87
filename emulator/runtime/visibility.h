#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// The physical GPUs that CUDA_VISIBLE_DEVICES selects, in its order: indices of `order`, or UUIDs
/// or prefixes of one that are not ambiguous. As the programming guide says, an entry that names no
/// GPU hides those behind it. A GPU that is named twice hides all. `mask` is null: all GPUs.
/// `uuids` are by physical index.
std::vector<int> visible_gpus(const char* mask, const std::vector<int>& order,
                              const std::vector<std::string>& uuids);

/// The order in which indices count GPUs: by PCI bus, which is the physical one, or beginning with
/// the fastest.
std::vector<int> device_order(const char* cuda_device_order, int gpus, int fastest);

}  // namespace emulator
