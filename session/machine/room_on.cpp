#include "session/machine/room_on.h"

#include "harness/measure/least_time.h"

namespace assay {

Room room_on(const DeviceInfo& device) {
  return {.last_level_cache_bytes = device.last_level_cache_bytes.value_or(0),
          .memory_bytes = device.memory_total_bytes,
          .is_too_slow = [device](const OpInstance& op) {
            return measure::least_launch_s(op, device).value_or(0) > measure::max_launch_s;
          }};
}

}  // namespace assay
