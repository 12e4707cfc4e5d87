#include "emulator/machine/block.h"

#include <fmt/format.h>

#include <algorithm>

namespace emulator {
namespace {

/// A warp is overtaken after a number of instructions between these.
constexpr int min_quantum = 8, max_quantum = 400;
/// So often all warps find a phase of an mbarrier object open before that counts as for ever: their
/// threads may look at the clock meanwhile.
constexpr int max_idle_rounds = 200;

}  // namespace

Block::Block(const LaunchContext& launch, std::uint64_t index, std::uint64_t seed)
    : counts(launch.counter != nullptr ? std::make_unique<Counts>() : nullptr),
      shared(launch.kernel.shared_bytes(launch.launch.dynamic_shared_bytes)),
      local(launch.kernel.local_bytes * launch.launch.block.x * launch.launch.block.y *
            launch.launch.block.z),
      shared_races(shared.bytes.size()),
      global_races(*this),
      launch_(launch),
      index_(index),
      threads_(launch.launch.block.x * launch.launch.block.y * launch.launch.block.z),
      random_(seed) {
  const Dim3& grid = launch.launch.grid;
  position_ = {static_cast<unsigned>(index % grid.x),
               static_cast<unsigned>(index / grid.x % grid.y),
               static_cast<unsigned>(index / grid.x / grid.y)};
  const unsigned warps = (threads_ + warp_lanes - 1) / warp_lanes;
  for (unsigned warp = 0; warp < warps; ++warp) {
    const unsigned lanes = std::min<unsigned>(warp_lanes, threads_ - warp * warp_lanes);
    const Mask mask = lanes == warp_lanes ? all_lanes : (Mask{1} << lanes) - 1;
    warps_.push_back(std::make_unique<Warp>(*this, launch.kernel, static_cast<int>(warp), mask));
    ready_ |= std::uint64_t{1} << warp;
  }
}

Block::~Block() = default;

std::uint64_t Block::executed_lanes() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) sum += warp->executed_lanes();
  return sum;
}

Block::Result Block::run(int instructions) {
  std::uint64_t spinning = 0;
  while (instructions > 0) {
    if (ready_ == 0) {
      const bool done =
          std::ranges::all_of(warps_, [](const auto& warp) { return warp->live() == 0; });
      if (!done) stuck();
      if (async_ != nullptr) end_copies();
      return Result::done;
    }
    const std::uint64_t candidates = ready_ & ~spinning;
    if (async_ != nullptr) {
      if (candidates == 0 && async_->finish_one()) {
        spinning = 0;
        continue;
      }
      async_->step();
    }
    if (candidates == 0) {
      if (async_ != nullptr && nobody_goes_on()) stuck();
      return Result::spins;
    }
    std::uint64_t rest = candidates;
    for (std::uint64_t skip = random_.below(static_cast<unsigned>(std::popcount(candidates)));
         skip != 0; --skip)
      rest &= rest - 1;
    const int which = std::countr_zero(rest);
    Warp& warp = *warps_[static_cast<std::size_t>(which)];
    const int quantum = min_quantum + static_cast<int>(random_.below(max_quantum - min_quantum));
    instructions -= quantum;
    Warp::Result result;
    try {
      result = warp.run(quantum);
    } catch (const LaneFault& fault) {
      report(warp, fault);
    }
    const std::uint64_t bit = std::uint64_t{1} << which;
    if (result == Warp::Result::spins) spinning |= bit;
    if (result == Warp::Result::ran) spinning = 0;
    if (result == Warp::Result::done) ready_ &= ~bit;
    if (result == Warp::Result::blocked) {
      // A barrier that this warp completed has already woken it.
      const bool waits = std::ranges::all_of(
          warp.splits(), [](const Split& split) { return split.wait != Wait::none; });
      if (waits) ready_ &= ~bit;
      spinning = 0;
    }
  }
  return Result::ran;
}

AsyncCopies& Block::async() {
  if (async_ == nullptr) {
    async_ = std::make_unique<AsyncCopies>(*this);
  }
  return *async_;
}

/// Only this block's threads and copies change its mbarrier objects.
bool Block::nobody_goes_on() {
  const std::uint64_t changes = async_->changes();
  const bool all_wait =
      std::ranges::all_of(warps_, [](const auto& warp) { return warp->waits_for_phases(); });
  idle_rounds_ = all_wait && changes == seen_changes_ ? idle_rounds_ + 1 : 0;
  seen_changes_ = changes;
  return idle_rounds_ > max_idle_rounds;
}

void Block::end_copies() {
  const AsyncCopy* copy = async_->finish();
  if (copy == nullptr) return;
  report_at(
      *warps_[static_cast<std::size_t>(copy->warp)], *copy->code, nullptr,
      {FaultKind::undefined, copy->lane, "the block ends and nothing has waited for the copy"});
}

void Block::arrive(int barrier, std::uint32_t warps_expected, int warp) {
  early_warps_[static_cast<std::size_t>(barrier)] |= Mask{1} << warp;
  ++early_arrivals_[static_cast<std::size_t>(barrier)];
  expected_[static_cast<std::size_t>(barrier)] = warps_expected;
  check_barriers();
}

/// A warp has arrived when all of its lanes that have not exited wait (PTX ISA, barrier).
void Block::check_barriers() {
  std::array<std::uint32_t, 16> arrived = early_arrivals_, expected = expected_;
  std::array<bool, 16> all{};
  std::uint32_t live_warps = 0, used = 0;
  for (const auto& warp : warps_) {
    if (warp->live() == 0) continue;
    ++live_warps;
    Mask waiting = 0;
    std::size_t barrier = 16;
    for (const Split& split : warp->splits()) {
      if (split.wait != Wait::block_barrier) continue;
      if (barrier == 16) barrier = static_cast<std::size_t>(split.barrier);
      if (barrier != static_cast<std::size_t>(split.barrier)) continue;
      waiting |= split.lanes;
      if (split.warps == 0)
        all[barrier] = true;
      else
        expected[barrier] = split.warps;
    }
    if (barrier == 16 || waiting != warp->live()) continue;
    ++arrived[barrier];
    used |= 1u << barrier;
  }
  for (; used != 0; used &= used - 1) {
    const int barrier = std::countr_zero(used);
    const std::uint32_t needed = all[static_cast<std::size_t>(barrier)]
                                     ? live_warps
                                     : expected[static_cast<std::size_t>(barrier)];
    if (arrived[static_cast<std::size_t>(barrier)] >= needed) complete(barrier);
  }
}

/// Tells the search for races who has met whom.
void Block::order(int barrier) {
  Mask waiting = 0, live = 0;
  for (const auto& warp : warps_) {
    if (warp->live() == 0) continue;
    live |= Mask{1} << warp->index();
    Mask lanes = 0;
    for (const Split& split : warp->splits())
      if (split.wait == Wait::block_barrier && split.barrier == barrier) lanes |= split.lanes;
    if (lanes == 0) continue;
    waiting |= Mask{1} << warp->index();
    warp->clocks.synchronise(lanes, lanes, (warp->live() & ~lanes) == 0);
  }
  Mask& early = early_warps_[static_cast<std::size_t>(barrier)];
  shared_races.clocks.synchronise(waiting | early, waiting, (live & ~waiting) == 0);
  early = 0;
  global_races.next_epoch();
}

void Block::complete(int barrier) {
  early_arrivals_[static_cast<std::size_t>(barrier)] = 0;
  order(barrier);
  // The reductions of bar.red: `c` is the predicate, `variant` the operation.
  std::uint32_t count = 0;
  bool every = true;
  const auto waits = [barrier](const Split& split) {
    return split.wait == Wait::block_barrier && split.barrier == barrier;
  };
  for (const auto& warp : warps_) {
    for (const Split& split : warp->splits()) {
      if (!waits(split) || split.waits_at->variant == 0) continue;
      const Place place = split.waits_at->c;
      const std::byte* bank = place.bank == 0 ? split.frame->registers : split.frame->constants;
      Mask predicate = *reinterpret_cast<const Mask*>(bank + place.offset);
      if (split.waits_at->flag) predicate = ~predicate;
      count += static_cast<std::uint32_t>(std::popcount(predicate & split.lanes));
      every &= (~predicate & split.lanes) == 0;
    }
  }
  for (const auto& warp : warps_) {
    for (Split& split : warp->splits()) {
      if (!waits(split)) continue;
      split.wait = Wait::none;
      ready_ |= std::uint64_t{1} << warp->index();
      const Code& code = *split.waits_at;
      std::byte* slot = split.frame->registers + code.d.offset;
      if (code.variant == 1)
        for_lanes(split.lanes,
                  [&](int lane) { reinterpret_cast<std::uint32_t*>(slot)[lane] = count; });
      if (code.variant < 2) continue;
      Mask& result = *reinterpret_cast<Mask*>(slot);
      const bool value = code.variant == 2 ? every : count != 0;
      result = value ? result | split.lanes : result & ~split.lanes;
    }
  }
}

std::uint32_t Block::special(Special special, int warp, int lane) const {
  const Dim3 &block = launch_.launch.block, &grid = launch_.launch.grid;
  const auto thread = static_cast<std::uint32_t>(warp * warp_lanes + lane);
  const Mask bit = Mask{1} << lane;
  switch (special) {
    case Special::tid_x:
      return launch_.thread_positions[thread][0];
    case Special::tid_y:
      return launch_.thread_positions[thread][1];
    case Special::tid_z:
      return launch_.thread_positions[thread][2];
    case Special::ntid_x:
      return block.x;
    case Special::ntid_y:
      return block.y;
    case Special::ntid_z:
      return block.z;
    case Special::ctaid_x:
      return position_.x;
    case Special::ctaid_y:
      return position_.y;
    case Special::ctaid_z:
      return position_.z;
    case Special::nctaid_x:
      return grid.x;
    case Special::nctaid_y:
      return grid.y;
    case Special::nctaid_z:
      return grid.z;
    case Special::laneid:
      return static_cast<std::uint32_t>(lane);
    case Special::warpid:
      return static_cast<std::uint32_t>(warp);
    case Special::nwarpid:
      return static_cast<std::uint32_t>(launch_.gpu.threads_per_multiprocessor / warp_lanes);
    case Special::smid:
      return static_cast<std::uint32_t>(index_ %
                                        static_cast<unsigned>(launch_.gpu.multiprocessors));
    case Special::nsmid:
      return static_cast<std::uint32_t>(launch_.gpu.multiprocessors);
    case Special::gridid:
      return static_cast<std::uint32_t>(launch_.number);
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return bit | (bit - 1);
    case Special::lanemask_ge:
      return ~(bit - 1);
    case Special::lanemask_gt:
      return ~(bit | (bit - 1));
    case Special::aggr_smem_size:
    case Special::total_smem_size:
      return static_cast<std::uint32_t>(shared.bytes.size());
    case Special::dynamic_smem_size:
      return static_cast<std::uint32_t>(launch_.launch.dynamic_shared_bytes);
    case Special::reserved_zero:
      return 0;
  }
  return 0;
}

/// No warp can go on. A phase that nobody completes and a barrier with a number of threads that
/// cannot come together are endless; all others are divergent.
void Block::stuck() {
  const Split* first = nullptr;
  const Warp* owner = nullptr;
  bool counted = false;
  const auto rank = [](const Split& split) {
    return split.wait == Wait::warp_barrier ? 2 : split.wait == Wait::none ? 1 : 0;
  };
  for (const auto& warp : warps_) {
    for (const Split& split : warp->splits()) {
      counted |= split.wait == Wait::block_barrier && split.warps != 0;
      if (first != nullptr && rank(split) <= rank(*first)) continue;
      first = &split;
      owner = warp.get();
    }
  }
  const auto place = [](const Warp& warp, const Split& split) {
    return split.wait == Wait::none ? warp.phase_wait() : split.waits_at;
  };
  std::string where;
  int told = 0;
  for (const auto& warp : warps_)
    for (const Split& split : warp->splits())
      if (told++ < 4)
        where += fmt::format("{} lanes {:#010x} of warp {} wait at line {}", told == 1 ? "" : ",",
                             split.lanes, warp->index(), place(*warp, split)->line);
  if (told > 4) where += ", …";
  const bool warp_wide = first->wait == Wait::warp_barrier, phase = first->wait == Wait::none;
  const FaultKind kind =
      phase || (counted && !warp_wide) ? FaultKind::endless : FaultKind::divergent_barrier;
  const char* what = warp_wide ? "lanes that the mask names never arrive"
                     : phase   ? "nothing completes the phase of the mbarrier object"
                               : "not all threads reach the barrier";
  report_at(*owner, *place(*owner, *first), first->frame,
            {kind, std::countr_zero(first->lanes), fmt::format("{}:{}", what, where)});
}

void Block::report(Warp& warp, const LaneFault& fault) {
  report_at(warp, *warp.current(), warp.frame(), fault);
}

void Block::report_at(const Warp& warp, const Code& code, const Frame* frame,
                      const LaneFault& fault) {
  const int lane = std::clamp(fault.lane, 0, warp_lanes - 1);
  const ptx::Module& module = *launch_.kernel.module;
  const auto tid = [&](Special which) { return special(which, warp.index(), lane); };
  std::string inside;
  if (frame != nullptr && frame->parent != nullptr)
    inside = fmt::format(" in {}", frame->function->function->name);
  throw Fault(
      fault.kind,
      fmt::format("kernel {} [{}]{}, block ({},{},{}), thread ({},{},{}), {}:{}: {}: {}",
                  launch_.kernel.demangled, launch_.kernel.function->name, inside, position_.x,
                  position_.y, position_.z, tid(Special::tid_x), tid(Special::tid_y),
                  tid(Special::tid_z), module.file, code.line, module.line(code.line), fault.text));
}

}  // namespace emulator
