#include "emulator/machine/stream_races.h"

#include <fmt/format.h>

#include "emulator/machine/global_stamps.h"

namespace emulator {

using namespace global_stamps;

bool StreamRaces::races_with(std::uint64_t stamp, bool strong) const {
  return is_foreign(stamp) && !(strong && is_strong(stamp)) &&
         !heard_of_.contains(launch_of(stamp));
}

void StreamRaces::find(WarpState& warp, int lane, const Target& target, unsigned bytes,
                       const char* now, const char* before, const std::string& other) {
  const std::uintptr_t address = target.window->begin + target.offset;
  warp.find(FaultKind::race, lane,
            fmt::format("{} {} bytes at {:#x}, which {} of another stream {}: neither an event nor "
                        "the host orders the two; it is {}",
                        now, bytes, address, other, before, launch_.memory.describe(address)));
}

void StreamRaces::read(WarpState& warp, int lane, const Target& target, unsigned bytes, bool strong,
                       std::uint64_t writer) {
  if (races_with(writer, strong))
    find(warp, lane, target, bytes, "reads", "writes", unordered_->launches.at(launch_of(writer)));
  if (strong && is_foreign(writer) && is_strong(writer)) heard_of_.insert(launch_of(writer));
}

void StreamRaces::write(WarpState& warp, int lane, const Target& target, unsigned bytes,
                        bool strong, const Change& changes, std::uint64_t writer,
                        std::uint64_t reader) {
  if (races_with(writer, strong) && changes())
    find(warp, lane, target, bytes, "writes", "writes too",
         unordered_->launches.at(launch_of(writer)));
  else if (races_with(reader, strong))
    find(warp, lane, target, bytes, "writes", "reads", unordered_->launches.at(launch_of(reader)));
}

void StreamRaces::meet_ranges(WarpState& warp, int lane, const Target& target, unsigned bytes,
                              const Change* changes) {
  const auto* range =
      unordered_->meets(target.window->begin + target.offset, bytes, changes != nullptr);
  if (range == nullptr || (changes != nullptr && range->is_written && !(*changes)())) return;
  find(warp, lane, target, bytes, changes != nullptr ? "writes" : "reads",
       range->is_written ? "writes" : "reads", range->name);
}

}  // namespace emulator
