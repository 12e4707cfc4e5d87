#include "emulator/machine/global_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "emulator/machine/global_stamps.h"

namespace emulator {
namespace {

using namespace global_stamps;

/// Whether the stamp is of all bytes of a word, or of nobody in this launch.
bool is_whole(std::uint64_t stamp, std::uint64_t mine) {
  return !same_launch(stamp, mine) || bytes_of(stamp) == 0xf;
}
/// Whether also no other block has used it, and no other warp since the last barrier.
bool can_take(std::uint64_t stamp, std::uint64_t mine) {
  return !same_launch(stamp, mine) ||
         (same_block(stamp, mine) && bytes_of(stamp) == 0xf && !is_beside(stamp, mine));
}

/// The two stamps of a word, or of one of its bytes, and what they were when they were looked at:
/// other blocks may change them at any time.
struct Users {
  std::uint64_t* stamps;
  std::uint64_t bytes;  // of the word
  std::uint64_t writer = get(stamps[0]), reader = get(stamps[1]);
};

/// Calls `f(Users)` for what an access touches. A word has stamps of its own until somebody uses a
/// part of it: then each byte has, and the word's writer has no bytes. Of blocks that do so at the
/// same time the last one is remembered.
template <class F>
void for_each_place(const Target& target, unsigned bytes, std::uint64_t number, F f) {
  const auto is_now = [=](std::uint64_t stamp) { return stamp >> 48 == number; };
  const std::uint64_t end = target.offset + bytes;
  for (std::uint64_t at = target.offset; at < end;) {
    const std::uint64_t word = at / 4, next = std::min(end, (word + 1) * 4);
    const std::uint64_t part = ((std::uint64_t{1} << (next - at)) - 1) << (at % 4);
    at = next;
    const Users word_users{target.window->stamps + 2 * word, part};
    const auto fits = [&](std::uint64_t stamp) {
      return !is_now(stamp) || bytes_of(stamp) == part;
    };
    if (fits(word_users.writer) && fits(word_users.reader)) {
      f(word_users);
      continue;
    }
    std::uint64_t* const of_bytes = target.window->byte_stamps + 8 * word;
    if (!is_now(word_users.writer) || bytes_of(word_users.writer) != 0) {
      for (std::uint64_t k = 0; k < 8; ++k) {
        const std::uint64_t byte = std::uint64_t{1} << (k / 2);
        const std::uint64_t stamp = k % 2 == 0 ? word_users.writer : word_users.reader;
        put(of_bytes[k], (bytes_of(stamp) & byte) != 0 ? (stamp & ~std::uint64_t{0xf}) | byte : 0);
      }
      __atomic_store_n(target.window->has_byte_stamps, true, __ATOMIC_RELAXED);
      put(word_users.stamps[1], 0);
      put(word_users.stamps[0], number << 48);
    }
    for (std::uint64_t k = 0; k < 4; ++k)
      if ((part >> k & 1) != 0) f(Users{of_bytes + 2 * k, std::uint64_t{1} << k});
  }
}

void report(const LaunchContext& launch, const WarpState& warp, int lane, const Target& target,
            unsigned bytes, const char* now, const char* before, std::uint64_t other,
            std::uint64_t mine) {
  const Dim3& grid = launch.launch.grid;
  const std::uint64_t block = block_of(other);
  const std::uintptr_t address = target.window->begin + target.offset;
  const std::string owner = same_block(other, mine)
                                ? "the same block"
                                : fmt::format("block ({},{},{})", block % grid.x,
                                              block / grid.x % grid.y, block / grid.x / grid.y);
  warp.find(FaultKind::race, lane,
            fmt::format(
                "{} {} bytes at {:#x}, which warp {} of {} {} without order between; it is {}", now,
                bytes, address, warp_of(other), owner, before, launch.memory.describe(address)));
}

}  // namespace

GlobalRaces::OfWarp& GlobalRaces::of(const WarpState& warp) {
  const auto index = static_cast<std::size_t>(warp.index());
  if (warps_.size() <= index) warps_.resize(index + 1);
  if (warps_[index] == nullptr) warps_[index] = std::make_unique<OfWarp>();
  return *warps_[index];
}

std::uint64_t GlobalRaces::stamp(const WarpState& warp, std::uint64_t bytes, bool strong) const {
  return bytes | std::uint64_t{strong} << 4 | std::uint64_t{std::min(epoch_, last_epoch)} << 6 |
         static_cast<std::uint64_t>(warp.index()) << 19 | (block_ & 0xffffff) << 24 |
         launch_.number << 48;
}

/// Whether it is of this launch, and of another block, or of another warp since the block's last
/// barrier.
bool GlobalRaces::may_race(std::uint64_t stamp, std::uint64_t mine) const {
  return same_launch(stamp, mine) && (!same_block(stamp, mine) || is_beside(stamp, mine));
}

bool GlobalRaces::is_ordered(const WarpState& warp, std::uint64_t stamp, std::uint64_t mine) {
  if (is_known(warp, stamp)) return true;
  const int other = warp_of(stamp);
  return same_block(stamp, mine) &&
         (epoch_ >= last_epoch ||
          clocks_.ordered(warp.index(), other,
                          clocks_at_barrier_[static_cast<std::size_t>(other)]));
}

bool GlobalRaces::is_known(const WarpState& warp, std::uint64_t stamp) {
  return knowledge_.knows(block_of(stamp), warp_of(stamp), epoch_of(stamp)) ||
         of(warp).knowledge.knows(block_of(stamp), warp_of(stamp), epoch_of(stamp));
}

void GlobalRaces::read(WarpState& warp, int lane, const Target& target, unsigned bytes,
                       bool strong) {
  if (streams_.is_wanted()) [[unlikely]]
    streams_.meet_ranges(warp, lane, target, bytes, nullptr);
  for_each_place(target, bytes, launch_.number, [&](const Users& users) {
    const std::uint64_t writer = users.writer, reader = users.reader;
    if (streams_.is_wanted()) [[unlikely]]
      streams_.read(warp, lane, target, bytes, strong, writer);
    std::uint64_t mine = stamp(warp, users.bytes, strong);
    if (may_race(writer, mine) && !(strong && is_strong(writer)) && !is_ordered(warp, writer, mine))
      report(launch_, warp, lane, target, bytes, "reads", "writes", writer, mine);
    if (reader == mine) return;
    if (same_launch(reader, mine)) {
      mine |= reader & several;
      if (!is_strong(reader)) mine &= ~(std::uint64_t{1} << 4);
      if (!same_block(reader, mine)) mine |= several;
    }
    put(users.stamps[1], mine);
  });
}

void GlobalRaces::write(WarpState& warp, int lane, const Target& target, unsigned bytes,
                        bool strong, const Change& changes) {
  if (streams_.is_wanted()) [[unlikely]]
    streams_.meet_ranges(warp, lane, target, bytes, &changes);
  for_each_place(target, bytes, launch_.number, [&](const Users& users) {
    const std::uint64_t writer = users.writer, reader = users.reader;
    if (streams_.is_wanted()) [[unlikely]]
      streams_.write(warp, lane, target, bytes, strong, changes, writer, reader);
    const std::uint64_t mine = stamp(warp, users.bytes, strong);
    if (may_race(writer, mine) && !(strong && is_strong(writer)) &&
        !is_ordered(warp, writer, mine) && changes())
      report(launch_, warp, lane, target, bytes, "writes", "writes too", writer, mine);
    if (same_launch(reader, mine) && !(strong && is_strong(reader))) {
      const bool conflict = (reader & several) != 0
                                ? knowledge_.is_empty() && of(warp).knowledge.is_empty()
                                : may_race(reader, mine) && !is_ordered(warp, reader, mine);
      if (conflict)
        report(launch_, warp, lane, target, bytes, "writes",
               same_block(reader, mine) && !is_beside(reader, mine) ? "and another block read"
                                                                    : "reads",
               reader, mine);
    }
    put(users.stamps[0], mine);
  });
}

bool GlobalRaces::read_row(const WarpState& warp, const Memory::Window& window,
                           std::uint64_t offset, std::uint64_t bytes) {
  const bool looks = streams_.is_wanted();
  if (looks && streams_.meets_range(window, offset, bytes, false)) return false;
  const std::uint64_t mine = stamp(warp, 0xf, false);
  std::uint64_t* stamps = window.stamps + offset / 4 * 2;
  for (std::uint64_t word = 0; word < bytes / 4; ++word) {
    const std::uint64_t writer = get(stamps[2 * word]), reader = get(stamps[2 * word + 1]);
    if (!can_take(writer, mine) || !is_whole(reader, mine) ||
        (looks && streams_.is_foreign(writer)))
      return false;
    std::uint64_t value = mine;
    if (same_launch(reader, mine)) value |= same_block(reader, mine) ? reader & several : several;
    put(stamps[2 * word + 1], value);
  }
  return true;
}

bool GlobalRaces::write_row(const WarpState& warp, const Memory::Window& window,
                            std::uint64_t offset, std::uint64_t bytes) {
  const bool looks = streams_.is_wanted();
  if (looks && streams_.meets_range(window, offset, bytes, true)) return false;
  const std::uint64_t mine = stamp(warp, 0xf, false);
  std::uint64_t* stamps = window.stamps + offset / 4 * 2;
  for (std::uint64_t word = 0; word < bytes / 4; ++word) {
    const std::uint64_t writer = get(stamps[2 * word]), reader = get(stamps[2 * word + 1]);
    if (!can_take(writer, mine) || !can_take(reader, mine) ||
        (same_launch(reader, mine) && (reader & several) != 0) ||
        (looks && (streams_.is_foreign(writer) || streams_.is_foreign(reader))))
      return false;
    put(stamps[2 * word], mine);
  }
  return true;
}

void GlobalRaces::learn_pending(WarpState& warp, OfWarp& own, bool is_wide) {
  for (const auto& [record, length] : own.pending) {
    const std::lock_guard lock(record->mutex);
    if (const auto found = record->clusters.find(cluster_); found != record->clusters.end())
      warp.order->acquire_from(warp, 0, *found->second);
    if (!is_wide) continue;
    if (record->everything) own.knowledge.learn_everything();
    for (std::size_t i = 0; i < length && !own.knowledge.everything(); ++i)
      own.knowledge.learn(record->entries[i]);
  }
  if (is_wide) own.pending.clear();
}

void GlobalRaces::fence(WarpState& warp, Mask lanes, bool is_wide) {
  OfWarp& own = of(warp);
  own.fenced_for_cluster |= lanes;
  is_wide |= !has_cluster();
  if (is_wide)
    for_lanes(lanes, [&](int lane) { own.fenced[static_cast<std::size_t>(lane)] = epoch_ + 1; });
  learn_pending(warp, own, is_wide);
}

void GlobalRaces::release(WarpState& warp, int lane, const Target& target, bool fenced,
                          bool is_wide) {
  OfWarp& own = of(warp);
  is_wide |= !has_cluster();
  std::uint32_t fence = fenced ? epoch_ + 1 : own.fenced[static_cast<std::size_t>(lane)];
  if (!is_wide) fence = 0;
  const bool is_for_cluster = has_cluster() && (fenced || has_lane(own.fenced_for_cluster, lane));
  if (fence == 0 && !is_for_cluster) return;
  const auto record = launch_.releases.at(target.window->begin + target.offset, true);
  const std::lock_guard lock(record->mutex);
  if (is_for_cluster) {
    auto& of_cluster = record->clusters[cluster_];
    if (of_cluster == nullptr) of_cluster = std::make_shared<Released>();
    warp.order->release_to(warp, lane, *of_cluster);
  }
  if (fence == 0) return;
  // A fence of this epoch covers what a barrier has ordered before it, and the warp's own accesses.
  // Behind a barrier, the fences of the other threads are taken to have been executed as well.
  const std::uint32_t in_block = fence == epoch_ + 1 ? epoch_ : fence;
  record->entries.emplace_back(Knowledge::of_block(block_ & 0xffffff), in_block);
  record->entries.emplace_back(Knowledge::of_warp(block_ & 0xffffff, warp.index()), fence);
  if (knowledge_.everything() || own.knowledge.everything() ||
      record->entries.size() > 4 * Knowledge::max_entries) {
    record->everything = true;
    return;
  }
  knowledge_.append_to(record->entries);
  own.knowledge.append_to(record->entries);
}

std::size_t GlobalRaces::released(const Target& target) const {
  const auto record = launch_.releases.at(target.window->begin + target.offset, false);
  if (record == nullptr) return 0;
  const std::lock_guard lock(record->mutex);
  return record->entries.size() + record->clusters.size();
}

void GlobalRaces::acquire(WarpState& warp, const Target& target, bool at_once, bool is_wide,
                          std::size_t released) {
  const auto record = launch_.releases.at(target.window->begin + target.offset, false);
  if (record == nullptr) return;
  OfWarp& own = of(warp);
  std::size_t length;
  {
    const std::lock_guard lock(record->mutex);
    length = std::min(record->entries.size(), released);
  }
  if (length == 0 && released == 0) return;
  // Polling meets the same record again and again.
  const auto known =
      std::ranges::find_if(own.pending, [&](const auto& each) { return each.first == record; });
  if (known != own.pending.end())
    known->second = std::max(known->second, length);
  else
    own.pending.emplace_back(record, length);
  if (at_once) learn_pending(warp, own, is_wide || !has_cluster());
}

void GlobalRaces::release_to(const WarpState& warp, Knowledge& released) {
  released.learn({Knowledge::of_block(block_ & 0xffffff), epoch_});
  released.learn({Knowledge::of_warp(block_ & 0xffffff, warp.index()), epoch_ + 1});
  released.learn(knowledge_);
  released.learn(of(warp).knowledge);
}

void GlobalRaces::acquire_from(const WarpState& warp, const Knowledge& released) {
  of(warp).knowledge.learn(released);
}

void GlobalRaces::next_epoch() {
  ++epoch_;
  for (int warp = 0; warp < warp_lanes; ++warp)
    clocks_at_barrier_[static_cast<std::size_t>(warp)] = clocks_.own(warp);
  for (const auto& warp : warps_) {
    if (warp == nullptr) continue;
    knowledge_.learn(warp->knowledge);
    warp->knowledge = {};
  }
}

}  // namespace emulator
