#include "emulator/machine/async_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace emulator {
namespace {

unsigned size_of(const AsyncCopy& copy) { return static_cast<unsigned>(copy.bytes + copy.zeros); }

const Target nowhere{};
const Change always{nowhere, nullptr, 0};

}  // namespace

AsyncCopies::AsyncCopies(const LaunchContext& launch, MarkedBytes& shared, SharedRaces& races,
                         Random& random)
    : guards(launch, shared),
      races_(races),
      random_(random),
      threads_(launch.thread_positions.size()) {}

AsyncCopies::OfThread& AsyncCopies::of(const WarpState& warp, int lane) {
  return threads_[static_cast<std::size_t>(warp.index() * warp_lanes + lane)];
}

/// Until the wait nothing may change them.
void AsyncCopies::set_marks(AsyncCopy& copy) {
  if (copy.box != nullptr && copy.shared_to) {
    copy.marks = marks_of_load(*copy.box);
    return;
  }
  const GuardedWords& from = starter_of(copy).guards;
  for (std::size_t i = copy.marks.size(); i < copy.bytes; ++i) {
    const std::uint8_t mark = copy.shared_from               ? from.mark(*copy.shared_from + i)
                              : copy.from_written != nullptr ? copy.from_written[i]
                                                             : mark_written;
    // See target.h: where there are marks of what is undefined, and where there are not.
    const std::uint8_t undefined = !copy.shared_to ? std::uint8_t{0} : std::max(mark, mark_copy);
    copy.marks.push_back(mark == mark_written ? mark : undefined);
  }
  copy.marks.resize(size_of(copy), mark_written);
}

void AsyncCopies::start(AsyncCopy copy) {
  WarpState& warp = *copy.warp;
  AsyncCopies& starter = starter_of(copy);
  const int thread = warp.index() * warp_lanes + copy.lane;
  set_marks(copy);
  if (copy.shared_from) {
    starter.guards.check(warp, copy.lane, *copy.shared_from, size_of(copy), false);
    starter.races_.read(warp, copy.lane, *copy.shared_from, size_of(copy), false);
    starter.races_.check_proxy(warp, copy.lane, *copy.shared_from, size_of(copy));
    starter.guards.add_read(*copy.shared_from, size_of(copy), thread);
  }
  if (copy.update != nullptr) {
    races_.write(warp, copy.lane, *copy.shared_to, size_of(copy), true, always);
  } else if (copy.shared_to) {
    guards.check(warp, copy.lane, *copy.shared_to, size_of(copy), true);
    races_.write(warp, copy.lane, *copy.shared_to, size_of(copy), false, always);
    guards.add_write(*copy.shared_to, size_of(copy), thread);
  }
  if (copy.barrier) ++mbarriers_.at(*copy.barrier).pending_signals;
  const std::uint64_t moment = random_.below(4);
  copy.is_late = moment == 0;
  const auto shared = std::make_shared<AsyncCopy>(std::move(copy));
  if (!shared->staged.empty()) shared->from = shared->staged.data();
  if (shared->starter != nullptr) {
    std::erase_if(from_others_, [](const Shared& each) { return each->is_retired; });
    from_others_.push_back(shared);
  }
  OfThread& own = starter.of(warp, shared->lane);
  std::vector<Shared>& copies = shared->is_bulk ? own.bulk_copies : own.copies;
  std::erase_if(copies, [](const Shared& each) { return each->is_retired; });
  copies.push_back(shared);
  if (moment == 1)
    land(*shared, shared);
  else
    unlanded_.push_back(shared);
}

void AsyncCopies::commit(const WarpState& warp, int lane, bool bulk) {
  OfThread& own = of(warp, lane);
  std::uint64_t& groups = bulk ? own.bulk_groups : own.groups;
  ++groups;
  for (const Shared& copy : bulk ? own.bulk_copies : own.copies)
    if (copy->group == 0) copy->group = groups;
}

void AsyncCopies::wait_groups(WarpState& warp, int lane, bool bulk, std::uint64_t pending,
                              bool reads_only) {
  OfThread& own = of(warp, lane);
  const std::uint64_t groups = bulk ? own.bulk_groups : own.groups;
  std::vector<Shared>& copies = bulk ? own.bulk_copies : own.copies;
  for (const Shared& copy : copies) {
    if (copy->arrives || copy->barrier || copy->group == 0 || copy->group + pending > groups)
      continue;
    if (reads_only) {
      stage(*copy);
      release_source(*copy);
      continue;
    }
    land(*copy, copy);
    retire(*copy);
  }
  std::erase_if(copies, [](const Shared& copy) { return copy->is_retired; });
}

void AsyncCopies::wait_all(WarpState& warp, int lane) {
  OfThread& own = of(warp, lane);
  for (const Shared& copy : own.copies) {
    if (copy->arrives) continue;
    land(*copy, copy);
    retire(*copy);
  }
  std::erase_if(own.copies, [](const Shared& copy) { return copy->is_retired; });
}

/// Reads the source of a copy whose write may come later.
void AsyncCopies::stage(AsyncCopy& copy) {
  if (copy.has_landed || !copy.staged.empty()) return;
  copy.staged.assign(copy.from, copy.from + copy.bytes);
  copy.from = copy.staged.data();
}

void AsyncCopies::move_bytes(AsyncCopy& copy) {
  if (copy.box != nullptr && !copy.shared_to) return store_box(*copy.box, copy.from, copy.marks);
  if (copy.update != nullptr) return copy.update(copy.to, copy.from, copy.bytes);
  if (copy.box != nullptr)
    load_box(*copy.box, copy.to);
  else if (copy.bytes != 0)
    std::memmove(copy.to, copy.from, copy.bytes);
  std::memset(copy.to + copy.bytes, 0, copy.zeros);
  if (copy.shared_to) {
    for (std::size_t i = 0; i < copy.marks.size(); ++i)
      guards.set_mark(*copy.shared_to + i, copy.marks[i]);
  } else if (copy.to_written != nullptr) {
    std::ranges::copy(copy.marks, copy.to_written);
  }
}

void AsyncCopies::land(AsyncCopy& copy, const Shared& shared) {
  if (copy.has_landed) return;
  copy.has_landed = true;
  if (copy.arrives) {
    Mbarrier& barrier = mbarriers_.at(*copy.barrier);
    // Copies that this thread started later do not count.
    OfThread& own = of(*copy.warp, copy.lane);
    for (const Shared& each : own.copies) {
      if (each == shared) break;
      if (each->arrives || each->is_retired) continue;
      land(*each, each);
      barrier.landed.push_back(each);
    }
    copy.is_retired = true;
    --barrier.pending_signals;
    barrier.arrive(1, true);  // the start has made room for it
    return;
  }
  move_bytes(copy);
  if (!copy.barrier) return;
  Mbarrier& barrier = mbarriers_.at(*copy.barrier);
  barrier.landed.push_back(shared);
  --barrier.pending_signals;
  barrier.complete_bytes(static_cast<std::uint32_t>(copy.bytes));
}

void AsyncCopies::release_source(AsyncCopy& copy) {
  if (!copy.shared_from) return;
  AsyncCopies& starter = starter_of(copy);
  starter.guards.remove_read(*copy.shared_from, size_of(copy));
  starter.races_.read(*copy.warp, copy.lane, *copy.shared_from, size_of(copy), false);
  copy.shared_from.reset();
}

/// Somebody has waited for it. From now on it counts as an access of the thread that started it.
void AsyncCopies::retire(AsyncCopy& copy) {
  if (copy.is_retired) return;
  copy.is_retired = true;
  release_source(copy);
  if (!copy.shared_to) return;
  if (copy.update != nullptr)
    return races_.write(*copy.warp, copy.lane, *copy.shared_to, size_of(copy), true, always);
  guards.remove_write(*copy.shared_to, size_of(copy));
  races_.write(*copy.warp, copy.lane, *copy.shared_to, size_of(copy), false, always);
  // st.async is no copy of the other proxy: its value was at hand.
  const bool is_store = copy.barrier && !copy.staged.empty();
  if (copy.is_bulk && !is_store) races_.mark_proxy(*copy.shared_to, size_of(copy));
}

/// A copy that is still to be done; null: none.
AsyncCopies::Shared AsyncCopies::pick(bool also_late) {
  std::erase_if(unlanded_, [](const Shared& copy) { return copy->has_landed; });
  if (unlanded_.empty()) return nullptr;
  Shared chosen = unlanded_[random_.below(unlanded_.size())];
  return chosen->is_late && !also_late ? nullptr : chosen;
}

void AsyncCopies::step() {
  if (unlanded_.empty() || random_.below(4) != 0) return;
  if (const Shared copy = pick(false)) land(*copy, copy);
}

bool AsyncCopies::finish_one() {
  const Shared copy = pick(true);
  if (copy == nullptr) return false;
  land(*copy, copy);
  return true;
}

const AsyncCopy* AsyncCopies::finish() {
  while (finish_one()) {
  }
  for (const Shared& copy : from_others_)
    if (!copy->is_retired) return copy.get();
  // Only the source of a copy to another block is this one's.
  for (const OfThread& own : threads_)
    for (const auto* list : {&own.copies, &own.bulk_copies})
      for (const Shared& copy : *list)
        if (!copy->is_retired &&
            ((copy->shared_to && copy->starter == nullptr) || copy->shared_from))
          return copy.get();
  return nullptr;
}

Mbarrier* AsyncCopies::mbarrier(std::uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  return found == mbarriers_.end() ? nullptr : &found->second;
}

void AsyncCopies::init_mbarrier(std::uint64_t offset, std::uint32_t count) {
  mbarriers_.emplace(offset, Mbarrier(offset, count));
  guards.set_mbarrier(offset, true);
}

bool AsyncCopies::is_awaited(const Mbarrier& barrier) {
  const auto is_open = [](const Shared& copy) { return !copy->is_retired; };
  return barrier.pending_signals != 0 || std::ranges::any_of(barrier.landed, is_open) ||
         std::ranges::any_of(barrier.unseen, is_open);
}

void AsyncCopies::invalidate_mbarrier(std::uint64_t offset) {
  invalidated_changes_ += mbarriers_.at(offset).changes + 1;
  mbarriers_.erase(offset);
  guards.set_mbarrier(offset, false);
  for (std::uint64_t i = 0; i < 8; ++i) guards.set_mark(offset + i, 0);
}

void AsyncCopies::see_phase(Mbarrier& barrier) {
  for (const Shared& copy : barrier.unseen) {
    if (copy->is_retired) continue;
    retire(*copy);
    copy->warp->order->release_own(*copy->warp, copy->lane, barrier.completed);
    OfThread& own = starter_of(*copy).of(*copy->warp, copy->lane);
    std::erase(copy->is_bulk ? own.bulk_copies : own.copies, copy);
  }
  barrier.unseen.clear();
}

std::uint64_t AsyncCopies::changes() const {
  std::uint64_t sum = invalidated_changes_;
  for (const auto& [offset, barrier] : mbarriers_) sum += barrier.changes;
  return sum;
}

std::string AsyncCopies::pending_transactions() const {
  std::string text;
  for (const auto& [offset, barrier] : mbarriers_)
    if (barrier.expected_bytes() != barrier.completed_bytes())
      text += fmt::format("; that at {:#x} expects {} bytes, and {} have come", offset,
                          barrier.expected_bytes(), barrier.completed_bytes());
  return text;
}

}  // namespace emulator
