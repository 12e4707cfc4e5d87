#include "emulator/machine/foreign_uses.h"

#include <fmt/format.h>

#include <algorithm>

namespace emulator {
namespace {

/// Calls `f(word, bytes of it)` for what an access touches.
template <class F>
void for_each_word(std::uint64_t offset, unsigned bytes, F f) {
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t word = at / 4, next = std::min(end, (word + 1) * 4);
    f(word, static_cast<std::uint8_t>(((1u << (next - at)) - 1) << (at % 4)));
    at = next;
  }
}

}  // namespace

void ForeignUses::check(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                        bool strong, const Change* changes) const {
  for_each_word(offset, bytes, [&](std::uint64_t word, std::uint8_t part) {
    const auto found = words_.find(word);
    if (found == words_.end()) return;
    for (const ForeignUse& use : found->second) {
      const bool may_conflict = (use.bytes & part) != 0 && !(strong && use.is_strong) &&
                                (use.is_write || changes != nullptr);
      if (!may_conflict || warp.order->ordered(warp, lane, use.thread)) continue;
      if (use.is_write && changes != nullptr && !(*changes)()) continue;
      const int thread = use.thread.warp * warp_lanes + use.thread.lane;
      warp.find(FaultKind::race, lane,
                fmt::format("{} {} bytes of shared memory at {:#x}, which thread {} of block {} of "
                            "the cluster {} without order between",
                            changes != nullptr ? "writes" : "reads", bytes, offset,
                            launch_.name_of_thread(thread), use.thread.rank,
                            use.is_write ? "writes" : "reads"));
    }
  });
}

void ForeignUses::add(const WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                      bool strong, bool writes) {
  ForeignUse use{.thread = warp.order->stamp(warp, lane),
                 .is_write = writes,
                 .is_strong = strong,
                 .arrivals = warp.cluster_arrivals[static_cast<std::size_t>(lane)],
                 .code = warp.current()};
  for_each_word(offset, bytes, [&](std::uint64_t word, std::uint8_t part) {
    std::vector<ForeignUse>& uses = words_[word];
    std::erase_if(uses, [&](const ForeignUse& old) {
      return old.thread.rank == use.thread.rank && old.thread.warp == use.thread.warp &&
             old.is_write == writes && old.is_strong == strong && (old.bytes & ~part) == 0;
    });
    use.bytes = part;
    uses.push_back(use);
  });
}

void ForeignUses::forget(std::uint32_t arrivals) {
  for (auto& [word, uses] : words_)
    std::erase_if(uses, [=](const ForeignUse& use) { return use.arrivals < arrivals; });
  std::erase_if(words_, [](const auto& word) { return word.second.empty(); });
}

}  // namespace emulator
