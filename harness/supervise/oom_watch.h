#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

/// Tells whether the kernel or somebody else killed a process. Both end it by KILL, but the kernel
/// counts its kills for lack of memory.
class OomWatch {
 public:
  void begin();
  /// True if the kernel has killed a process for lack of memory since `begin`, or in the moment
  /// before.
  bool happened() const;

  /// Number after the word `oom_kill` in the text of /proc/vmstat or of a cgroup's memory.events.
  static std::optional<std::int64_t> count_in(std::string_view text);

 private:
  /// The kernel's count, and when it was read.
  struct Reading {
    std::int64_t kills = 0;
    double at_s = -1;
  };
  static Reading read();
  static Reading last_;  // of all watches
  std::int64_t before_ = 0;
};

}  // namespace assay
