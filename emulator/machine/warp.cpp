#include "emulator/machine/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/cluster.h"
#include "emulator/machine/product_registers.h"

namespace emulator {
namespace {

constexpr std::uint32_t no_stop = ~std::uint32_t{0};
/// Registers start with it: code that uses one before it sets it should not find a zero.
constexpr int register_garbage = 0xd5;
/// What an activation takes of the stack at least: the address to return to.
constexpr std::size_t min_frame_bytes = 8;

/// From the area of one frame to that of another, with what is undefined.
void copy_parameters(const Frame& from, Frame& to, const std::vector<CallSite::Copy>& copies,
                     Mask lanes) {
  const std::size_t from_bytes = from.function->parameter_bytes,
                    to_bytes = to.function->parameter_bytes;
  const auto copy = [&](auto& target, const auto& source) {
    for_lanes(lanes, [&](int lane) {
      const auto each = static_cast<std::size_t>(lane);
      for (const CallSite::Copy& part : copies)
        std::memcpy(target.data() + each * to_bytes + part.to,
                    source.data() + each * from_bytes + part.from, part.bytes);
    });
  };
  copy(to.parameters, from.parameters);
  if (from.undefined_parameters.empty() && to.undefined_parameters.empty()) return;
  to.undefined_parameters.resize(to.parameters.size());
  if (from.undefined_parameters.empty())
    copy(to.undefined_parameters, std::vector<std::uint8_t>(from.parameters.size()));
  else
    copy(to.undefined_parameters, from.undefined_parameters);
}

}  // namespace

Warp::Warp(Block& block, const KernelCode& kernel, int index, Mask lanes)
    : WarpState(index, lanes), block_(block), kernel_(kernel) {
  order = &block.order;
  Frame* frame = new_frame(*kernel.entry, nullptr, lanes);
  splits_.push_back({lanes, frame});
  if (block.counts != nullptr) counter_.emplace(*block.context().counter, *block.counts);
}

Frame* Warp::new_frame(const FunctionCode& function, Frame* parent, Mask lanes,
                       std::size_t stack_begin) {
  auto frame = std::make_unique<Frame>();
  frame->function = &function;
  frame->parent = parent;
  frame->stack_begin = stack_begin;
  if (parent != nullptr) frame->depth = parent->depth + 1;
  frame->lanes = lanes;
  frame->storage.assign(function.register_bytes + 64, std::byte{register_garbage});
  const auto base = reinterpret_cast<std::uintptr_t>(frame->storage.data());
  frame->registers = frame->storage.data() + (64 - base % 64) % 64;
  frame->constants =
      function.constants_of_gpu[static_cast<std::size_t>(block_.context().launch.gpu)].data();
  frame->parameters.resize(std::size_t{function.parameter_bytes} * warp_lanes);
  for (const FunctionCode::SpecialPlace& place : function.specials) {
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const std::uint64_t value = block_.special(place.special, index_, lane);
      std::memcpy(frame->registers + place.offset + static_cast<std::size_t>(lane) * place.bytes,
                  &value, place.bytes);
    }
  }
  for (const FunctionCode::LocalPlace& place : function.locals) {
    const std::uint64_t address = frame->stack_begin + place.address;
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      std::memcpy(frame->registers + place.offset + lane * place.bytes, &address, place.bytes);
  }
  if (!function.products.empty())
    frame->product_registers = std::make_shared<ProductRegisters>(function.register_bytes);
  frames_.push_back(std::move(frame));
  return frames_.back().get();
}

std::size_t Warp::stack_end(const Frame& frame) const {
  const std::size_t bytes = frame.function->local_bytes;
  return frame.stack_begin + (kernel_.is_recursive ? std::max(bytes, min_frame_bytes) : bytes);
}

std::size_t Warp::stack_top(int lane) const {
  return frame_->stack_tops.empty() ? stack_end(*frame_)
                                    : frame_->stack_tops[static_cast<std::size_t>(lane)];
}

void Warp::set_stack_top(int lane, std::size_t top) {
  if (frame_->stack_tops.empty()) frame_->stack_tops.assign(warp_lanes, stack_end(*frame_));
  frame_->stack_tops[static_cast<std::size_t>(lane)] = top;
}

void Warp::drop_frame(Frame* frame) {
  if (frame->product_registers != nullptr && block_.has_warpgroups())
    block_.warpgroups().end_frame(*this, *frame);
  std::erase_if(frames_, [frame](const auto& each) { return each.get() == frame; });
}

/// Chooses the split to run; false when none can.
bool Warp::select() {
  std::size_t best = splits_.size(), ready = 0;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split& split = splits_[i];
    if (split.wait != Wait::none) continue;
    ++ready;
    if (best == splits_.size() || split.frame->depth > splits_[best].frame->depth ||
        (split.frame->depth == splits_[best].frame->depth && split.index < splits_[best].index))
      best = i;
  }
  if (ready == 0) return false;
  // The split behind may spin until another one has gone on.
  if (ready > 1 && block_.random().below(4) == 0) {
    std::size_t skip = block_.random().below(ready);
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      if (splits_[i].wait != Wait::none) continue;
      if (skip-- == 0) best = i;
    }
  }
  enter(best);
  return true;
}

/// The running split is not among `splits_`.
void Warp::enter(std::size_t chosen) {
  Split now = splits_[chosen];
  std::erase_if(splits_, [&now](const Split& other) {
    const bool joins =
        other.wait == Wait::none && other.frame == now.frame && other.index == now.index;
    if (joins) now.lanes |= other.lanes;
    return joins;
  });
  frame_ = now.frame;
  codes_ = frame_->function->codes.data();
  banks_[0] = frame_->registers;
  banks_[1] = const_cast<std::byte*>(frame_->constants);  // places of bank 1 are sources only
  active_ = now.lanes;
  next_ = now.index;
  if (frame_->undefined != nullptr && !frame_->undefined->any()) frame_->undefined.reset();
  set_stop();
}

void Warp::leave() {
  split_off(active_, next_);
  active_ = 0;
}

void Warp::set_stop() {
  stop_ = no_stop;
  for (const Split& split : splits_)
    if (split.wait == Wait::none && split.frame == frame_ && split.index >= next_)
      stop_ = std::min(stop_, split.index);
}

Warp::Result Warp::run(int instructions) {
  spins_ = false;
  while (instructions > 0) {
    if (!select()) return splits_.empty() ? Result::done : Result::blocked;
    reselect_ = false;
    const bool observes = is_observed();
    while (instructions-- > 0 && !reselect_) {
      const Code& code = codes_[next_];
      code_ = &code;
      Mask lanes = active_;
      const std::uint32_t at = next_++;
      if (code.guard != Code::unguarded) {
        const Mask predicate = *reinterpret_cast<const Mask*>(banks_[0] + code.guard);
        lanes &= code.guard_negated ? ~predicate : predicate;
      }
      executed_lanes_ +=
          lanes == all_lanes ? warp_lanes : static_cast<unsigned>(std::popcount(lanes));
      if (observes) [[unlikely]]
        run_observed(at, code, lanes);
      else if (lanes != 0)
        code.run(*this, code, lanes);
      if (next_ >= stop_) break;
    }
    leave();
    if (spins_) return splits_.empty() ? Result::done : Result::spins;
  }
  if (splits_.empty()) return Result::done;
  return Result::ran;
}

bool Warp::is_observed() const {
  return frame_->function->executed != nullptr || counter_ || frame_->undefined != nullptr ||
         frame_->product_registers != nullptr;
}

UndefinedRegisters& Warp::undefined() {
  if (frame_->undefined == nullptr) {
    frame_->undefined = std::make_unique<UndefinedRegisters>(frame_->function->register_bytes);
    reselect_ = true;  // observed from the next instruction on
  }
  return *frame_->undefined;
}

void Warp::split_off(Mask lanes, std::uint32_t index) {
  if (lanes == 0) return;
  Split split;
  split.lanes = lanes;
  split.frame = frame_;
  split.index = index;
  splits_.push_back(split);
}

void Warp::branch(Mask taken, std::uint32_t target) {
  if (taken == active_) {
    const bool backwards = target < next_;
    next_ = target;
    if (backwards && !splits_.empty()) set_stop();
    return;
  }
  const Mask others = active_ & ~taken;
  if (target < next_) {
    split_off(others, next_);
    active_ = taken;
    next_ = target;
  } else {
    split_off(taken, target);
    active_ = others;
  }
  reselect_ = true;
}

void Warp::branch_each(Mask lanes, const std::uint32_t* targets) {
  const std::uint32_t behind = next_;
  Mask rest = lanes;
  while (rest != 0) {
    const std::uint32_t target = targets[std::countr_zero(rest)];
    Mask same = 0;
    for_lanes(rest, [&](int lane) { same |= targets[lane] == target ? Mask{1} << lane : 0; });
    split_off(same, target);
    rest &= ~same;
  }
  active_ &= ~lanes;
  next_ = behind;
  reselect_ = true;
}

void Warp::call(const CallSite& site, Mask lanes) {
  const std::size_t stack = block_.local_bytes_per_thread(), bytes = site.callee->local_bytes;
  std::size_t begin = stack_end(*frame_);
  for_lanes(lanes, [&](int lane) { begin = std::max(begin, stack_top(lane)); });
  if (bytes != 0) begin = ptx::align_up(begin, 16);
  if (begin > stack || bytes > stack - begin)
    fault(FaultKind::illegal_address, std::countr_zero(lanes),
          fmt::format("calls nest {} deep, where a thread has {} bytes of stack "
                      "(cudaDeviceSetLimit(cudaLimitStackSize, …))",
                      frame_->depth + 1, stack));
  for_lanes(lanes, [&](int lane) { block_.forget_local(index_, lane, begin, bytes); });
  Frame* callee = new_frame(*site.callee, frame_, lanes, begin);
  callee->return_index = next_;
  callee->site = &site;
  copy_parameters(*frame_, *callee, site.arguments, lanes);
  Split split;
  split.lanes = lanes;
  split.frame = callee;
  splits_.push_back(split);
  active_ &= ~lanes;
  reselect_ = true;
}

void Warp::return_lanes(Mask lanes) {
  Frame* callee = frame_;
  if (callee->parent == nullptr) return exit_lanes(lanes);
  if (callee->product_registers != nullptr && callee->product_registers->are_used(*this))
    find(FaultKind::undefined, 0,
         "returns while a wgmma.mma_async uses registers of the function: nothing has waited for "
         "it");
  Frame* caller = callee->parent;
  copy_parameters(*callee, *caller, callee->site->results, lanes);
  active_ &= ~lanes;
  Split split;
  split.lanes = lanes;
  split.frame = caller;
  split.index = callee->return_index;
  splits_.push_back(split);
  callee->lanes &= ~lanes;
  reselect_ = true;
  if (callee->lanes == 0) drop_frame(callee);
}

void Warp::exit_lanes(Mask lanes) {
  active_ &= ~lanes;
  live_ &= ~lanes;
  reselect_ = true;
  for (Frame* frame = frame_; frame != nullptr && frame->parent != nullptr;) {
    Frame* parent = frame->parent;
    frame->lanes &= ~lanes;
    if (frame->lanes == 0) drop_frame(frame);
    frame = parent;
  }
  wake_warp_waiters();
  block_.barriers.check();
  block_.cluster().check();
}

/// They look again whether all have come.
void Warp::wake_warp_waiters() {
  for (Split& split : splits_)
    if (split.wait == Wait::warp_barrier) split.wait = Wait::none;
}

bool Warp::gather(const Code& code, Mask lanes, Mask members, bool at_any_place) {
  const Mask needed = members & live_;
  if ((needed & ~lanes) == 0) return true;
  const auto joins = [&](const Split& split) {
    if (split.wait != Wait::warp_barrier || split.members != members) return false;
    if (at_any_place) return split.waits_at->run == code.run;
    return split.waits_at == &code && split.frame == frame_;
  };
  Mask there = lanes;
  for (const Split& split : splits_)
    if (joins(split)) there |= split.lanes;
  if ((needed & ~there) == 0) {
    if (at_any_place) {
      for (Split& split : splits_) {
        if (!joins(split)) continue;
        split.wait = Wait::none;
        ++split.index;
      }
      set_stop();
      return true;
    }
    // All execute it together, as one split.
    std::erase_if(splits_, joins);
    split_off(there, next_ - 1);
  } else {
    Split split;
    split.lanes = lanes;
    split.frame = frame_;
    split.index = next_ - 1;
    split.wait = Wait::warp_barrier;
    split.waits_at = &code;
    split.members = members;
    splits_.push_back(split);
  }
  active_ &= ~lanes;
  reselect_ = true;
  return false;
}

void Warp::wait_for_block(const Code& code, Mask lanes, int barrier, std::uint32_t warps) {
  Split split;
  split.lanes = lanes;
  split.frame = frame_;
  split.index = next_;
  split.wait = Wait::block_barrier;
  split.waits_at = &code;
  split.barrier = barrier;
  split.warps = warps;
  splits_.push_back(split);
  active_ &= ~lanes;
  reselect_ = true;
  block_.barriers.check();
}

void Warp::wait_for_warpgroup(const Code& code) {
  Split split;
  split.lanes = active_;
  split.frame = frame_;
  split.index = next_ - 1;
  split.wait = Wait::warpgroup;
  split.waits_at = &code;
  splits_.push_back(split);
  active_ = 0;
  reselect_ = true;
}

void Warp::wait_for_cluster(const Code& code, Mask lanes) {
  Split split;
  split.lanes = lanes;
  split.frame = frame_;
  split.index = next_;
  split.wait = Wait::cluster_barrier;
  split.waits_at = &code;
  splits_.push_back(split);
  active_ &= ~lanes;
  reselect_ = true;
}

bool Warp::same_as_before(const Code& code, std::uint64_t value) {
  const bool same = polled_code_ == &code && polled_value_ == value;
  polled_code_ = &code;
  polled_value_ = value;
  phase_waiters_ &= ~active_;
  return same;
}

void Warp::wait_for_phase(const Code& code, Mask waiting, Mask done) {
  phase_waiters_ = (phase_waiters_ & ~done) | waiting;
  if (waiting == 0) return;
  phase_wait_ = &code;
  spins_ = true;
}

bool Warp::waits_for_phases() const {
  return std::ranges::all_of(splits_, [this](const Split& split) {
    return split.wait != Wait::none || (split.lanes & ~phase_waiters_) == 0;
  });
}

}  // namespace emulator
