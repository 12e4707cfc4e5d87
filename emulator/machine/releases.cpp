#include "emulator/machine/releases.h"

#include <algorithm>

namespace emulator {

bool Knowledge::knows(std::uint64_t block, int warp, std::uint32_t epoch) const {
  if (everything_) return true;
  const auto covers = [&](std::uint64_t key) {
    const auto found = entries_.find(key);
    return found != entries_.end() && (epoch < found->second || found->second >= last_epoch);
  };
  return covers(of_block(block)) || covers(of_warp(block, warp));
}

void Knowledge::learn(const Entry& entry) {
  std::uint32_t& known = entries_[entry.first];
  known = std::max(known, entry.second);
  if (entries_.size() > max_entries) everything_ = true;
}

void Knowledge::learn(const Knowledge& other) {
  everything_ |= other.everything_;
  for (const Entry entry : other.entries_) learn(entry);
}

void Knowledge::append_to(std::vector<Entry>& list) const {
  for (const Entry entry : entries_) list.push_back(entry);
}

std::shared_ptr<Releases::Record> Releases::at(std::uintptr_t address, bool create) {
  if (!create) {
    if (!used_.load(std::memory_order_acquire)) return nullptr;
    const std::shared_lock lock(mutex_);
    const auto found = records_.find(address);
    return found == records_.end() ? nullptr : found->second;
  }
  const std::unique_lock lock(mutex_);
  used_.store(true, std::memory_order_release);
  std::shared_ptr<Record>& record = records_[address];
  if (record == nullptr) record = std::make_shared<Record>();
  return record;
}

void Released::join(const Released& other) {
  for (const auto& [rank, block] : other.blocks) {
    OfBlock& own = blocks[rank];
    Clocks::join(own.warps, block.warps);
    for (const auto& [warp, lanes] : block.lanes_of_warp)
      Clocks::join(own.lanes_of_warp[warp], lanes);
  }
  global.learn(other.global);
}

}  // namespace emulator
