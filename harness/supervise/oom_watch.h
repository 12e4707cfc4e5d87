#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

/// Tells a process that the kernel killed for want of memory from one that somebody else killed:
/// both end by KILL, but the kernel counts its own.
class OomWatch {
 public:
  void begin() { before_ = kills(); }
  /// Whether the kernel has killed a process for want of memory since `begin`.
  bool happened() const;

  /// The number behind the word `oom_kill` in the text of /proc/vmstat or of a cgroup's
  /// memory.events.
  static std::optional<std::int64_t> count_in(std::string_view text);

 private:
  static std::int64_t kills();
  std::int64_t before_ = 0;
};

}  // namespace assay
