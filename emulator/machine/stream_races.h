#pragma once

#include <cstdint>
#include <set>

#include "emulator/machine/launch_context.h"
#include "emulator/machine/target.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// Finds accesses to global memory that race with work of another stream which has begun before and
/// which nothing orders with this launch (machine/unordered.h). A block that reads strongly what
/// such a launch has written strongly has heard of it: from then on no access of this block
/// races with that launch.
class StreamRaces {
 public:
  explicit StreamRaces(const LaunchContext& launch)
      : launch_(launch), unordered_(launch.launch.unordered.get()) {}

  /// Whether there is anything to look for.
  bool is_wanted() const { return unordered_ != nullptr; }
  bool is_foreign(std::uint64_t stamp) const { return unordered_->has_launch(stamp >> 48); }
  /// Whether a copy or a memset uses these bytes.
  bool meets_range(const Memory::Window& window, std::uint64_t offset, std::uint64_t bytes,
                   bool writes) const {
    return unordered_->meets(window.begin + offset, bytes, writes) != nullptr;
  }

  /// `writer` and `reader` are the stamps of a word or a byte that the access touches.
  void read(WarpState& warp, int lane, const Target& target, unsigned bytes, bool strong,
            std::uint64_t writer);
  void write(WarpState& warp, int lane, const Target& target, unsigned bytes, bool strong,
             const Change& changes, std::uint64_t writer, std::uint64_t reader);
  void meet_ranges(WarpState& warp, int lane, const Target& target, unsigned bytes,
                   const Change* changes);

 private:
  bool races_with(std::uint64_t stamp, bool strong) const;
  void find(WarpState& warp, int lane, const Target& target, unsigned bytes, const char* now,
            const char* before, const std::string& other);

  const LaunchContext& launch_;
  const Unordered* const unordered_;
  std::set<std::uint64_t> heard_of_;
};

}  // namespace emulator
