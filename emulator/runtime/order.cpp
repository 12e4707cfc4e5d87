#include "emulator/runtime/order.h"

#include <algorithm>
#include <utility>

namespace emulator {
namespace {

/// Older ones of a queue are forgotten.
constexpr std::size_t max_uses = 4096;

}  // namespace

void Frontier::join(const Frontier& other) {
  for (const auto& [queue, piece] : other.pieces_) {
    std::uint64_t& own = pieces_[queue];
    own = std::max(own, piece);
  }
}

bool Frontier::knows(int queue, std::uint64_t piece) const {
  const auto found = pieces_.find(queue);
  return found != pieces_.end() && piece <= found->second;
}

bool Frontier::has(const Frontier& other) const {
  return std::ranges::all_of(other.pieces_,
                             [&](const auto& each) { return knows(each.first, each.second); });
}

std::shared_ptr<const Unordered> MemoryUses::find(const WorkPosition& position) const {
  Unordered found;
  for (const auto& [queue, uses] : of_queues_) {
    if (queue == position.queue) continue;
    // The newest come last: what is before a known one is known too.
    for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
      if (position.before.knows(queue, use->piece)) break;
      if (use->told_host != nullptr && use->told_host->load(std::memory_order_relaxed)) continue;
      if (use->launch != 0) found.add_launch(use->launch, use->name);
      found.ranges.insert(found.ranges.end(), use->ranges.begin(), use->ranges.end());
    }
  }
  return found.is_empty() ? nullptr : std::make_shared<const Unordered>(std::move(found));
}

void MemoryUses::add(int queue, Use use) {
  std::deque<Use>& uses = of_queues_[queue];
  uses.push_back(std::move(use));
  if (uses.size() > max_uses) uses.pop_front();
}

void MemoryUses::forget(std::uintptr_t begin, std::size_t bytes) {
  for (auto& [queue, uses] : of_queues_)
    for (Use& use : uses)
      std::erase_if(use.ranges, [&](const Unordered::Range& range) {
        return begin < range.end && range.begin < begin + bytes;
      });
}

std::shared_ptr<const Unordered> MemoryUses::begin_launch(
    const WorkPosition& position, std::uint64_t number, const std::string& name,
    std::shared_ptr<std::atomic<bool>> told_host) {
  // The stamps of all launches before it have been cleared.
  if (number == 1)
    for (auto& [queue, uses] : of_queues_)
      std::erase_if(uses, [](const Use& use) { return use.launch != 0; });
  auto found = find(position);
  add(position.queue, {position.piece, number, name, {}, std::move(told_host)});
  return found;
}

std::shared_ptr<const Unordered> MemoryUses::begin_copy(
    const WorkPosition& position, const std::vector<Unordered::Range>& ranges) {
  auto found = find(position);
  add(position.queue, {.piece = position.piece, .ranges = ranges});
  return found;
}

}  // namespace emulator
