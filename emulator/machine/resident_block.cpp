#include "emulator/machine/resident_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "emulator/ptx/source_lines.h"

namespace emulator {
namespace {

/// A warp is overtaken after a number of instructions between these.
constexpr int min_quantum = 8, max_quantum = 400;
/// So often all warps find a phase of an mbarrier object open before that counts as for ever: their
/// threads may look at the clock meanwhile.
constexpr int max_idle_rounds = 200;

}  // namespace

ResidentBlock::ResidentBlock(const LaunchContext& launch, Cluster& cluster, int rank,
                             std::uint64_t index, std::uint64_t seed)
    : block_(launch, {index, cluster, cluster.index(), rank}, seed) {
  cluster.add(block_);
  const Dim3& block = launch.launch.block;
  const unsigned threads = block.x * block.y * block.z;
  const unsigned warps = (threads + warp_lanes - 1) / warp_lanes;
  for (unsigned warp = 0; warp < warps; ++warp) {
    const unsigned lanes = std::min<unsigned>(warp_lanes, threads - warp * warp_lanes);
    const Mask mask = lanes == warp_lanes ? all_lanes : (Mask{1} << lanes) - 1;
    warps_.push_back(std::make_unique<Warp>(block_, launch.kernel, static_cast<int>(warp), mask));
    block_.barriers.add(*warps_.back());
    cluster.add(*warps_.back());
    warps_.back()->sink = this;
    ready_ |= std::uint64_t{1} << warp;
  }
}

std::uint64_t ResidentBlock::executed_lanes() const {
  std::uint64_t sum = 0;
  for (const auto& warp : warps_) sum += warp->executed_lanes();
  return sum;
}

ResidentBlock::Result ResidentBlock::run(int instructions) {
  const bool is_alone = block_.cluster().size() == 1;
  std::uint64_t spinning = 0;
  while (instructions > 0) {
    ready_ |= block_.barriers.take_woken();
    AsyncCopies* const copies = block_.has_async() ? &block_.async() : nullptr;
    if (ready_ == 0) {
      const bool done =
          std::ranges::all_of(warps_, [](const auto& warp) { return warp->live() == 0; });
      if (!done && !is_alone) return Result::blocked;
      if (!done) stuck();
      if (copies != nullptr) end_copies();
      if (block_.has_warpgroups()) end_warpgroups();
      block_.has_ended = true;
      return Result::done;
    }
    const std::uint64_t candidates = ready_ & ~spinning;
    if (copies != nullptr) {
      if (candidates == 0 && copies->finish_one()) {
        spinning = 0;
        continue;
      }
      copies->step();
    }
    if (candidates == 0) {
      if (is_alone && copies != nullptr && nobody_goes_on()) stuck();
      return Result::spins;
    }
    std::uint64_t rest = candidates;
    for (std::uint64_t skip =
             block_.random().below(static_cast<unsigned>(std::popcount(candidates)));
         skip != 0; --skip)
      rest &= rest - 1;
    const int which = std::countr_zero(rest);
    Warp& warp = *warps_[static_cast<std::size_t>(which)];
    const int quantum =
        min_quantum + static_cast<int>(block_.random().below(max_quantum - min_quantum));
    instructions -= quantum;
    Warp::Result result;
    try {
      result = warp.run(quantum);
    } catch (const LaneFault& fault) {
      throw fault_at(warp, *warp.current(), warp.frame(), fault);
    }
    ready_ |= block_.barriers.take_woken();
    if (block_.has_warpgroups()) ready_ |= block_.warpgroups().take_woken();
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

bool ResidentBlock::only_waits() {
  ready_ |= block_.barriers.take_woken();
  return ready_ == 0 ||
         std::ranges::all_of(warps_, [](const auto& warp) { return warp->waits_for_phases(); });
}

/// Only this block's threads and copies change its mbarrier objects.
bool ResidentBlock::nobody_goes_on() {
  const std::uint64_t changes = block_.async().changes();
  idle_rounds_ = only_waits() && changes == seen_changes_ ? idle_rounds_ + 1 : 0;
  seen_changes_ = changes;
  return idle_rounds_ > max_idle_rounds;
}

void ResidentBlock::end_copies() {
  const AsyncCopy* copy = block_.async().finish();
  if (copy == nullptr) return;
  throw fault_at(
      *copy->warp, *copy->code, nullptr,
      {FaultKind::undefined, copy->lane, "the block ends and nothing has waited for the copy"});
}

void ResidentBlock::end_warpgroups() {
  const Warpgroups::Missing missing = block_.warpgroups().missing();
  if (missing.warp == nullptr) return;
  throw fault_at(*missing.warp, *missing.code, nullptr,
                 {FaultKind::divergent_barrier, 0, missing.text});
}

/// No warp can go on. A phase that nobody completes and a barrier with a number of threads that
/// cannot come together are endless; all others are divergent.
void ResidentBlock::stuck() {
  const Split* first = nullptr;
  const Warp* owner = nullptr;
  bool counted = false;
  const auto rank = [](const Split& split) {
    return split.wait == Wait::warp_barrier || split.wait == Wait::warpgroup ? 3
           : split.wait == Wait::none                                        ? 2
           : split.wait == Wait::cluster_barrier                             ? 1
                                                                             : 0;
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
        where += fmt::format("{} lanes {:#010x} of warp {} wait at {}", told == 1 ? "" : ",",
                             split.lanes, warp->index(),
                             block_.context().kernel.module->place(place(*warp, split)->line));
  if (told > 4) where += ", …";
  if (first->wait == Wait::warpgroup) {
    const Warpgroups::Missing missing = block_.warpgroups().missing();
    throw fault_at(*missing.warp, *missing.code, nullptr,
                   {FaultKind::divergent_barrier, 0, fmt::format("{}:{}", missing.text, where)});
  }
  const bool warp_wide = first->wait == Wait::warp_barrier, phase = first->wait == Wait::none;
  const FaultKind kind =
      phase || (counted && !warp_wide) ? FaultKind::endless : FaultKind::divergent_barrier;
  const char* what = warp_wide ? "lanes that the mask names never arrive"
                     : phase   ? "nothing completes the phase of the mbarrier object"
                     : first->wait == Wait::cluster_barrier
                         ? "not all threads of the cluster reach its barrier"
                         : "not all threads reach the barrier";
  const std::string bytes = phase ? block_.async().pending_transactions() : std::string();
  throw fault_at(
      *owner, *place(*owner, *first), first->frame,
      {kind, std::countr_zero(first->lanes), fmt::format("{}{}:{}", what, bytes, where)});
}

bool ResidentBlock::goes_on_after(const WarpState& state, const LaneFault& finding) {
  Warp& warp = *warps_[static_cast<std::size_t>(state.index())];
  return goes_on_at(warp, *warp.current(), warp.frame(), finding);
}

bool ResidentBlock::goes_on_at(const Warp& warp, const Code& code, const Frame* frame,
                               const LaneFault& finding) const {
  Findings* const findings = block_.context().settings.findings;
  if (findings == nullptr) return false;
  const std::string mangled(block_.context().kernel.function->name);
  return findings->is_known(finding.kind, mangled, code.line) ||
         findings->goes_on(fault_at(warp, code, frame, finding));
}

void ResidentBlock::tell_of_use(const ForeignUse& use) {
  Warp& warp = *warps_[static_cast<std::size_t>(use.thread.warp)];
  const LaneFault finding{
      FaultKind::illegal_address, use.thread.lane,
      "the block of the cluster whose shared memory this uses may end before: no barrier of the "
      "cluster comes behind"};
  if (!goes_on_at(warp, *use.code, nullptr, finding))
    throw fault_at(warp, *use.code, nullptr, finding);
}

/// Copies may be another block's.
Dim3 ResidentBlock::position_of(const WarpState& warp) const {
  return warp.order == &block_.order ? block_.position()
                                     : block_.cluster().block(warp.order->rank()).position();
}

Fault ResidentBlock::fault_at(const WarpState& warp, const Code& code, const Frame* frame,
                              const LaneFault& fault) const {
  const int lane = std::clamp(fault.lane, 0, warp_lanes - 1);
  const int thread = warp.index() * warp_lanes + lane;
  const LaunchContext& launch = block_.context();
  const ptx::Module& module = *launch.kernel.module;
  const Dim3 position = position_of(warp);
  const FaultPlace place{
      .kernel = launch.kernel.demangled,
      .mangled = std::string(launch.kernel.function->name),
      .block = {position.x, position.y, position.z},
      .thread = launch.thread_positions[static_cast<std::size_t>(thread)],
      .source = ptx::source_lines(module.text, code.line),
      .ptx_file = module.file,
      .instruction = std::string(module.line(code.line)),
      .ptx_line = code.line,
  };
  std::string inside;
  if (frame != nullptr && frame->parent != nullptr)
    inside = fmt::format(" in {}", frame->function->function->name);
  std::string source = ptx::text_of(place.source);
  if (!source.empty()) source += ", ";
  const std::string text = fmt::format(
      "kernel {} [{}]{}, block ({},{},{}), thread {}, {}{}:{}: {}: {}", place.kernel, place.mangled,
      inside, position.x, position.y, position.z, launch.name_of_thread(thread), source,
      place.ptx_file, place.ptx_line, place.instruction, fault.text);
  return {fault.kind, text, std::make_shared<const FaultPlace>(place)};
}

}  // namespace emulator
