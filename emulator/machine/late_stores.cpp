#include "emulator/machine/late_stores.h"

#include <algorithm>

namespace emulator {

void LateStores::add(std::uint64_t block, std::uintptr_t address,
                     std::span<const std::byte> present, unsigned reads, std::size_t released) {
  if (reads == 0 || present.size() > max_bytes) return end(address);
  const std::lock_guard lock(mutex_);
  used_ = true;
  Store store{
      .block = block, .reads = reads, .bytes = present.size(), .released = released, .before = {}};
  std::ranges::copy(present, store.before.begin());
  stores_.insert_or_assign(address, store);
}

std::optional<std::size_t> LateStores::read(std::uint64_t block, std::uintptr_t address,
                                            std::span<std::byte> bytes) {
  if (!used_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = stores_.find(address);
  if (found == stores_.end() || found->second.block == block) return std::nullopt;
  Store& store = found->second;
  if (store.reads == 0 || store.bytes != bytes.size()) {
    stores_.erase(found);
    return std::nullopt;
  }
  --store.reads;
  std::copy_n(store.before.begin(), bytes.size(), bytes.begin());
  return store.released;
}

void LateStores::end(std::uintptr_t address) {
  if (!used_) return;
  const std::lock_guard lock(mutex_);
  stores_.erase(address);
}

void LateStores::end_all_of(std::uint64_t block) {
  if (!used_) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(stores_, [=](const auto& each) { return each.second.block == block; });
}

}  // namespace emulator
