#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/execute/trial.h"

namespace assay {

/// Trials of limits' cases, ready to be timed in turns with those that they bound. They are kept,
/// as their arrays take longer to fill than a measurement lasts.
class Yardsticks {
 public:
  /// Null if it has none of this case on this device.
  Trial* find(const std::string& case_id, const std::string& device);
  /// True if a trial of this op may be kept on the device, beside further ones if need be: all have
  /// an eighth of its memory.
  static bool may_keep(const OpInstance& op, const Device& device);
  /// Drops those used longest ago if all together become too large.
  Trial& keep(const std::string& case_id, const std::string& device, std::unique_ptr<Trial> trial);
  /// Drops all if an op leaves less than half of the device's memory.
  void make_room(const OpInstance& op, const Device& device);

 private:
  struct Kept {
    std::string case_id;
    std::string device;
    std::unique_ptr<Trial> trial;
  };
  std::vector<Kept> kept_;  // the last used is the last
};

}  // namespace assay
