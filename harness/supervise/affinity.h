#pragma once

#include <sched.h>

#include <span>
#include <string_view>
#include <vector>

#include "kernels/device/device_id.h"
#include "kernels/device/device_info.h"

namespace assay {

/// Reads a list of processors as the kernel writes it: "0-3,8". Empty if malformed.
std::vector<int> parse_processors(std::string_view list);

/// Processors nearest to the devices of a lane, in ascending order. Empty, so that its worker is
/// not bound, if one of them is near to none, such as the CPU.
std::vector<int> nearest_processors(std::span<const DeviceId> lane,
                                    std::span<const DeviceInfo> devices);

/// Returns the processors, or none where this thread may use no others.
std::vector<int> restricting(std::vector<int> processors);

/// Restricts this thread, and the processes that it starts meanwhile, to those of `processors` that
/// it may use. Changes nothing if that is none of them.
class Affinity {
 public:
  explicit Affinity(std::span<const int> processors);
  ~Affinity();
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

 private:
  cpu_set_t before_;
  bool is_changed_ = false;
};

}  // namespace assay
