#include "emulator/machine/shared_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace emulator {
namespace {

// A stamp, from bit 0: thread (10), bytes of the word (4), strong (1), readers (2), clock of the
// warp within the block (21), clock of the lane within the warp (26). 0: nobody. A writer has
// `bulk_copy` in place of readers if it was one. A split word has no bytes and, from bit 14 on, one
// more than the place of its bytes' users among `split_words_`.
enum Readers : std::uint64_t { one_reader, several_lanes, several_warps, bulk_copy };
/// A thread that is further ahead of a copy than so many fences counts as one that has none.
constexpr std::size_t max_proxy_fences = 8;

std::uint64_t thread_of(std::uint64_t stamp) { return stamp & 0x3ff; }
std::uint64_t bytes_of(std::uint64_t stamp) { return stamp >> 10 & 0xf; }
bool is_strong(std::uint64_t stamp) { return (stamp >> 14 & 1) != 0; }
std::uint64_t readers_of(std::uint64_t stamp) { return stamp >> 15 & 3; }
std::uint32_t block_clock(std::uint64_t stamp) {
  return static_cast<std::uint32_t>(stamp >> 17 & 0x1fffff);
}
std::uint32_t warp_clock(std::uint64_t stamp) { return static_cast<std::uint32_t>(stamp >> 38); }

constexpr std::uint64_t make_stamp(std::uint64_t thread, std::uint64_t bytes, bool strong,
                                   std::uint64_t readers, std::uint64_t in_block,
                                   std::uint64_t in_warp) {
  return thread | bytes << 10 | std::uint64_t{strong} << 14 | readers << 15 |
         (in_block & 0x1fffff) << 17 | in_warp << 38;
}

std::uint64_t with_bytes(std::uint64_t stamp, std::uint64_t bytes) {
  return (stamp & ~(std::uint64_t{0xf} << 10)) | bytes << 10;
}
constexpr unsigned split_shift = 14;

int warp_of(std::uint64_t stamp) { return static_cast<int>(thread_of(stamp) / warp_lanes); }
int lane_of(std::uint64_t stamp) { return static_cast<int>(thread_of(stamp) % warp_lanes); }

void report(const LaunchContext& launch, const WarpState& warp, int lane, std::uint64_t offset,
            unsigned bytes, const char* now, const char* before, std::uint64_t other,
            const char* missing = "barrier") {
  const char* same = warp_of(other) == warp.index() ? ", of the same warp," : "";
  warp.find(
      FaultKind::race, lane,
      fmt::format("{} {} bytes of shared memory at {:#x}, which thread {}{} {} without a {} "
                  "between",
                  now, bytes, offset, launch.name_of_thread(static_cast<int>(thread_of(other))),
                  same, before, missing));
}

/// By a thread of another block than the one whose memory it is.
void report_outside(const LaunchContext& launch, const WarpState& warp, int lane,
                    std::uint64_t offset, unsigned bytes, const char* now, const char* before,
                    std::uint64_t other) {
  warp.find(
      FaultKind::race, lane,
      fmt::format("{} {} bytes at {:#x} of another block's shared memory, which its thread {} "
                  "{} without order between",
                  now, bytes, offset, launch.name_of_thread(static_cast<int>(thread_of(other))),
                  before));
}

}  // namespace

bool SharedRaces::is_split(const Users& word) {
  return word.writer != 0 && bytes_of(word.writer) == 0;
}

std::array<SharedRaces::Users, 4>& SharedRaces::split(Users& word) {
  if (is_split(word)) return split_words_[(word.writer >> split_shift) - 1];
  std::array<Users, 4>& parts = split_words_.emplace_back();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::uint64_t byte = std::uint64_t{1} << k;
    if ((bytes_of(word.writer) & byte) != 0) parts[k].writer = with_bytes(word.writer, byte);
    if ((bytes_of(word.reader) & byte) != 0) parts[k].reader = with_bytes(word.reader, byte);
  }
  word = {split_words_.size() << split_shift, 0};
  return parts;
}

template <class F>
void SharedRaces::for_each_place(std::uint64_t offset, unsigned bytes, F f) {
  const auto fits = [](std::uint64_t stamp, std::uint64_t part) {
    return stamp == 0 || bytes_of(stamp) == part;
  };
  const std::uint64_t end = offset + bytes;
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t index = at / 4, next = std::min(end, (index + 1) * 4);
    const std::uint64_t part = ((std::uint64_t{1} << (next - at)) - 1) << (at % 4);
    at = next;
    Users* users = &words_[index];
    std::uint64_t of_each = part;
    if (!fits(users->writer, part) || !fits(users->reader, part)) [[unlikely]] {
      const int first = std::countr_zero(part);
      users = &split(*users)[static_cast<std::size_t>(first)];
      of_each = std::uint64_t{1} << first;
    }
    for (; (of_each & part) != 0; ++users, of_each = of_each == part ? 0 : of_each << 1)
      f(*users, of_each);
  }
}

bool SharedRaces::ordered(const WarpState& warp, int lane, std::uint64_t stamp) const {
  return order_.ordered(warp, lane, stamp_of(stamp));
}

ThreadStamp SharedRaces::stamp_of(std::uint64_t stamp) const {
  return {order_.rank(), warp_of(stamp), lane_of(stamp), block_clock(stamp), warp_clock(stamp)};
}

void SharedRaces::read(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                       bool strong) {
  if (warp.order != &order_) return read_from_outside(warp, lane, offset, bytes, strong);
  if (foreign_ != nullptr) foreign_->check(warp, lane, offset, bytes, strong, nullptr);
  const auto thread = static_cast<std::uint64_t>(warp.index() * warp_lanes + lane);
  const std::uint64_t in_block = order_.warps.own(warp.index()), in_warp = warp.clocks.own(lane);
  for_each_place(offset, bytes, [&](Users& users, std::uint64_t part) {
    const std::uint64_t writer = users.writer;
    if (writer != 0 && !(strong && is_strong(writer)) && !ordered(warp, lane, writer))
      report(launch_, warp, lane, offset, bytes, "reads", "writes", writer);
    const std::uint64_t reader = users.reader;
    const auto is_past = [&] {
      if (readers_of(reader) == several_warps)
        return order_.warps.knows_everybody(warp.index(), block_clock(reader));
      if (readers_of(reader) == several_lanes && warp_of(reader) == warp.index())
        return warp.clocks.knows_everybody(lane, warp_clock(reader));
      return ordered(warp, lane, reader);
    };
    if (reader == 0 || is_past()) {
      users.reader = make_stamp(thread, part, strong, one_reader, in_block, in_warp);
      return;
    }
    const bool same_warp = warp_of(reader) == warp.index() && readers_of(reader) != several_warps;
    users.reader = make_stamp(
        thread, part, strong && is_strong(reader), same_warp ? several_lanes : several_warps,
        std::min<std::uint64_t>(in_block, block_clock(reader)),
        same_warp ? std::min<std::uint64_t>(in_warp, warp_clock(reader)) : in_warp);
  });
}

void SharedRaces::write(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                        bool strong, const Change& changes) {
  if (warp.order != &order_) return write_from_outside(warp, lane, offset, bytes, strong, changes);
  if (foreign_ != nullptr) foreign_->check(warp, lane, offset, bytes, strong, &changes);
  const auto thread = static_cast<std::uint64_t>(warp.index() * warp_lanes + lane);
  const std::uint64_t in_block = order_.warps.own(warp.index()), in_warp = warp.clocks.own(lane);
  for_each_place(offset, bytes, [&](Users& users, std::uint64_t part) {
    const std::uint64_t writer = users.writer, reader = users.reader;
    if (writer != 0 && !(strong && is_strong(writer)) && !ordered(warp, lane, writer) && changes())
      report(launch_, warp, lane, offset, bytes, "writes", "writes too", writer);
    if (reader != 0 && !(strong && is_strong(reader))) {
      const bool mine = warp_of(reader) == warp.index();
      bool conflict = false;
      if (readers_of(reader) == several_warps)
        conflict = order_.warps.knows_nobody(warp.index(), block_clock(reader));
      else if (readers_of(reader) == several_lanes && mine)
        conflict = warp.clocks.knows_nobody(lane, warp_clock(reader));
      else
        conflict = !ordered(warp, lane, reader);
      if (conflict)
        report(launch_, warp, lane, offset, bytes, "writes",
               thread_of(reader) == thread ? "and another one read" : "reads", reader);
    }
    users = {make_stamp(thread, part, strong, one_reader, in_block, in_warp), 0};
  });
}

void SharedRaces::read_from_outside(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                                    bool strong) {
  for_each_place(offset, bytes, [&](const Users& users, std::uint64_t) {
    const std::uint64_t writer = users.writer;
    if (writer != 0 && !(strong && is_strong(writer)) &&
        !warp.order->ordered(warp, lane, stamp_of(writer)))
      report_outside(launch_, warp, lane, offset, bytes, "reads", "writes", writer);
  });
  if (foreign_ == nullptr) foreign_ = std::make_unique<ForeignUses>(launch_);
  foreign_->check(warp, lane, offset, bytes, strong, nullptr);
  foreign_->add(warp, lane, offset, bytes, strong, false);
}

void SharedRaces::write_from_outside(WarpState& warp, int lane, std::uint64_t offset,
                                     unsigned bytes, bool strong, const Change& changes) {
  const auto knows_nobody = [&](std::uint32_t clock) {
    return std::ranges::none_of(warp.order->known(warp.index(), order_.rank()),
                                [=](std::uint32_t known) { return clock < known; });
  };
  for_each_place(offset, bytes, [&](const Users& users, std::uint64_t) {
    const std::uint64_t writer = users.writer, reader = users.reader;
    if (writer != 0 && !(strong && is_strong(writer)) &&
        !warp.order->ordered(warp, lane, stamp_of(writer)) && changes())
      report_outside(launch_, warp, lane, offset, bytes, "writes", "writes too", writer);
    if (reader == 0 || (strong && is_strong(reader))) return;
    const bool is_past = readers_of(reader) == several_warps
                             ? !knows_nobody(block_clock(reader))
                             : warp.order->ordered(warp, lane, stamp_of(reader));
    if (!is_past) report_outside(launch_, warp, lane, offset, bytes, "writes", "reads", reader);
  });
  if (foreign_ == nullptr) foreign_ = std::make_unique<ForeignUses>(launch_);
  foreign_->check(warp, lane, offset, bytes, strong, &changes);
  foreign_->add(warp, lane, offset, bytes, strong, true);
}

/// What all threads of the block know of: quickly, and at times wrongly not.
struct SharedRaces::Known {
  int warp;
  std::uint32_t in_block, in_warp;

  bool operator()(std::uint64_t stamp) const {
    return warp_of(stamp) == warp && readers_of(stamp) != several_warps
               ? warp_clock(stamp) < in_warp
               : block_clock(stamp) < in_block;
  }
};

Mask SharedRaces::read_row(const WarpState& warp, Mask lanes, const std::uint32_t* offsets,
                           unsigned bytes) {
  if (foreign_ != nullptr && !foreign_->is_empty()) return lanes;
  const std::uint64_t in_block = order_.warps.own(warp.index());
  const Known is_known{warp.index(), order_.warps.all(), warp.clocks.all()};
  const std::uint64_t parts = bytes >= 4 ? 0xf : (1u << bytes) - 1;
  const unsigned words = (bytes + 3) / 4;
  // Of all stamps of a clock that differ in their lanes.
  constexpr std::uint64_t but_lane = ~std::uint64_t{0x1f};
  constexpr std::uint64_t but_thread = make_stamp(0, 0xf, true, 3, 0x1fffff, 0);
  std::uint64_t known_writer = 0;
  Mask left = 0;
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t part = parts << (offsets[lane] % 4);
    const std::uint64_t several = make_stamp(0, part, false, several_warps, in_block, 0);
    Users* users = &words_[offsets[lane] / 4];
    for (unsigned k = 0; k < words; ++k, ++users) {
      const std::uint64_t writer = users->writer, reader = users->reader;
      if (writer != 0 && ((writer & but_lane) != known_writer || bytes_of(writer) != part)) {
        const auto thread = static_cast<std::uint64_t>(warp.index() * warp_lanes + lane);
        const bool is_plain = bytes_of(writer) == part;
        if (is_plain && is_known(writer)) {
          known_writer = writer & but_lane;
        } else if (!is_plain || thread_of(writer) != thread) {
          left |= Mask{1} << lane;
          return;
        }
      }
      // Readers since the same barrier; that there are several says it all.
      if ((reader & but_thread) == several) continue;
      const auto thread = static_cast<std::uint64_t>(warp.index() * warp_lanes + lane);
      const std::uint64_t in_warp = warp.clocks.own(lane);
      const auto note = [&](Readers readers) {
        users->reader = make_stamp(thread, part, false, readers, in_block, in_warp);
      };
      const bool is_new = block_clock(reader) == (in_block & 0x1fffff) && !is_strong(reader);
      const bool same_warp = warp_of(reader) == warp.index();
      if (reader == 0) {
        note(one_reader);
      } else if (bytes_of(reader) != part) {
        left |= Mask{1} << lane;
        return;
      } else if (is_known(reader)) {
        note(one_reader);
      } else if (is_new && !same_warp) {
        note(several_warps);
      } else if (is_new && readers_of(reader) != several_warps && warp_clock(reader) == in_warp) {
        if (readers_of(reader) == one_reader && thread_of(reader) != thread) note(several_lanes);
      } else {
        left |= Mask{1} << lane;
        return;
      }
    }
  });
  return left;
}

Mask SharedRaces::write_row(const WarpState& warp, Mask lanes, const std::uint32_t* offsets,
                            unsigned bytes) {
  if (foreign_ != nullptr && !foreign_->is_empty()) return lanes;
  const std::uint64_t in_block = order_.warps.own(warp.index());
  const Known is_known{warp.index(), order_.warps.all(), warp.clocks.all()};
  const std::uint64_t parts = bytes >= 4 ? 0xf : (1u << bytes) - 1;
  Mask left = 0;
  for_lanes(lanes, [&](int lane) {
    const auto thread = static_cast<std::uint64_t>(warp.index() * warp_lanes + lane);
    const std::uint64_t part = parts << (offsets[lane] % 4);
    const std::uint64_t mine =
        make_stamp(thread, part, false, one_reader, in_block, warp.clocks.own(lane));
    const auto is_plain = [&](std::uint64_t stamp) {
      return stamp == 0 ||
             (bytes_of(stamp) == part &&
              (is_known(stamp) || (thread_of(stamp) == thread && readers_of(stamp) == one_reader)));
    };
    Users *begin = &words_[offsets[lane] / 4], *end = begin + (bytes + 3) / 4;
    const bool are_plain = std::all_of(begin, end, [&](const Users& users) {
      return is_plain(users.writer) && is_plain(users.reader);
    });
    if (are_plain)
      std::fill(begin, end, Users{mine, 0});
    else
      left |= Mask{1} << lane;
  });
  return left;
}

void SharedRaces::release(WarpState& warp, int lane, std::uint64_t offset, bool is_wide) {
  warp.order->release_to(warp, lane, released_[{offset, is_wide ? 0 : warp.order->rank() + 1}]);
}

void SharedRaces::acquire(WarpState& warp, int lane, std::uint64_t offset, bool is_wide) {
  const int rank = warp.order->rank();
  for (const int scope : {0, rank + 1}) {
    const auto found = released_.find({offset, scope});
    if (found == released_.end()) continue;
    if (scope != 0 || is_wide) {
      warp.order->acquire_from(warp, lane, found->second);
    } else if (const auto own = found->second.blocks.find(rank);
               own != found->second.blocks.end()) {
      warp.order->acquire_from(warp, lane, {.blocks = {*own}});
    }
  }
}

void SharedRaces::fence_proxy(WarpState& warp, int lane) {
  std::deque<Released>& own = proxy_fences_[warp.index() * warp_lanes + lane];
  order_.release_to(warp, lane, own.emplace_back());
  if (own.size() > max_proxy_fences) own.pop_front();
}

bool SharedRaces::is_fenced(const WarpState& warp, int lane, std::uint64_t stamp) const {
  const auto lies_between = [&](int thread, const Released& fence) {
    const int its_warp = thread / warp_lanes, its_lane = thread % warp_lanes;
    const Released::OfBlock& released = fence.blocks.at(order_.rank());
    const Clocks::Row& lanes = released.lanes_of_warp.at(its_warp);
    const auto at = [](const Clocks::Row& row, int member) {
      return row[static_cast<std::size_t>(member)];
    };
    const bool covers = warp_of(stamp) == its_warp
                            ? warp_clock(stamp) < at(lanes, lane_of(stamp))
                            : block_clock(stamp) < at(released.warps, warp_of(stamp));
    const bool is_known =
        its_warp == warp.index()
            ? warp.clocks.ordered(lane, its_lane, at(lanes, its_lane) - 1)
            : order_.warps.ordered(warp.index(), its_warp, at(released.warps, its_warp) - 1);
    return covers && is_known;
  };
  const auto has_fenced = [&](const auto& of_thread) {
    return std::ranges::any_of(of_thread.second, [&](const Released& fence) {
      return lies_between(of_thread.first, fence);
    });
  };
  // Mostly the writer itself.
  const auto own = proxy_fences_.find(static_cast<int>(thread_of(stamp)));
  return (own != proxy_fences_.end() && has_fenced(*own)) ||
         std::ranges::any_of(proxy_fences_, has_fenced);
}

void SharedRaces::check_proxy(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes) {
  std::uint64_t last = 0;  // neighbours mostly have the same history
  for_each_place(offset, bytes, [&](const Users& users, std::uint64_t) {
    const std::uint64_t writer = users.writer;
    if (writer == 0 || readers_of(writer) == bulk_copy || writer == last) return;
    if (!is_fenced(warp, lane, writer))
      report(launch_, warp, lane, offset, bytes, "copies", "writes", writer, "fence.proxy.async");
    last = writer;
  });
}

void SharedRaces::check_product(WarpState& warp, std::uint64_t offset, unsigned bytes) {
  std::uint64_t last = 0;
  for_each_place(offset, bytes, [&](const Users& users, std::uint64_t) {
    const std::uint64_t writer = users.writer;
    if (writer == 0 || writer == last) return;
    // Each lane begins the product, and knows what it wrote itself.
    const int lane = warp_of(writer) == warp.index() ? lane_of(writer) : 0;
    const char* missing = nullptr;
    if (!ordered(warp, lane, writer))
      missing = "barrier";
    else if (readers_of(writer) != bulk_copy && !is_fenced(warp, lane, writer))
      missing = "fence.proxy.async";
    if (missing != nullptr)
      report(launch_, warp, lane, offset, bytes, "multiplies", "writes", writer, missing);
    last = writer;
  });
}

void SharedRaces::mark_proxy(std::uint64_t offset, unsigned bytes) {
  for_each_place(offset, bytes, [](Users& users, std::uint64_t) {
    // Another block's copy leaves no stamp of its own here.
    if (users.writer != 0) users.writer |= std::uint64_t{bulk_copy} << 15;
  });
}

}  // namespace emulator
