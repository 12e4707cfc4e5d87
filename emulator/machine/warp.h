#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/machine/block.h"
#include "emulator/machine/warp_counter.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// 32 lanes, each with a program counter of its own: `splits` groups those that agree. The group
/// that is furthest behind runs first, so that the others can join it, but now and then another one
/// does: a lane may wait for one that is further on.
class Warp : public WarpState {
 public:
  enum class Result { ran, spins, blocked, done };

  Warp(Block& block, const KernelCode& kernel, int index, Mask lanes);

  /// Executes about `instructions` of them. Throws LaneFault.
  Result run(int instructions);

  Block& block() { return block_; }
  Frame* frame() { return frame_; }
  /// The undefined bits of the frame's registers, which are followed from now on.
  UndefinedRegisters& undefined();
  std::uint64_t executed_lanes() const { return executed_lanes_; }

  // For the instructions.
  template <class T>
  T* at(Place place) {
    return reinterpret_cast<T*>(banks_[place.bank] + place.offset);
  }
  Mask& predicate(Place place) { return *at<Mask>(place); }
  void branch(Mask taken, std::uint32_t target);
  /// Each lane to a target of its own.
  void branch_each(Mask lanes, const std::uint32_t* targets);
  void call(const CallSite& site, Mask lanes);
  void return_lanes(Mask lanes);
  /// Where a lane's stack ends, behind what it has allocated (alloca); within its local memory.
  std::size_t stack_top(int lane) const;
  void set_stack_top(int lane, std::size_t top);
  void exit_lanes(Mask lanes);
  /// Whether all live lanes of `members` are at this instruction now (or, `at_any_place`, at one
  /// like it); else the lanes wait, and execute it again later.
  bool gather(const Code& code, Mask lanes, Mask members, bool at_any_place = false);
  /// The lanes arrived at a barrier of the block and wait behind this instruction.
  void wait_for_block(const Code& code, Mask lanes, int barrier, std::uint32_t warps);
  /// All lanes wait for products of the warpgroup, and execute this instruction again later.
  void wait_for_warpgroup(const Code& code);
  /// The lanes wait behind this instruction for the cluster's barrier.
  void wait_for_cluster(const Code& code, Mask lanes);
  /// A hint that these lanes wait for somebody else.
  void spin() { spins_ = true; }
  /// Remembers the value that a polling load found; tells whether it is the same as the time
  /// before.
  bool same_as_before(const Code& code, std::uint64_t value);
  /// `waiting` found that the phase of an mbarrier object has not ended, `done` that it has.
  void wait_for_phase(const Code& code, Mask waiting, Mask done);
  /// Whether every lane waits, for such phases or at barriers.
  bool waits_for_phases() const;
  const Code* phase_wait() const { return phase_wait_; }
  Mask active() const { return active_; }

 private:
  bool select();
  bool is_observed() const;
  void run_observed(std::uint32_t at, const Code& code, Mask lanes);
  void enter(std::size_t split);
  void leave();
  void split_off(Mask lanes, std::uint32_t index);
  void set_stop();
  void wake_warp_waiters();
  Frame* new_frame(const FunctionCode& function, Frame* parent, Mask lanes,
                   std::size_t stack_begin = 0);
  void drop_frame(Frame* frame);
  std::size_t stack_end(const Frame& frame) const;

  Block& block_;
  const KernelCode& kernel_;
  std::vector<std::unique_ptr<Frame>> frames_;

  // The split that runs; it is not among splits_.
  std::byte* banks_[2] = {nullptr, nullptr};
  Frame* frame_ = nullptr;
  const Code* codes_ = nullptr;
  Mask active_ = 0;
  std::uint32_t next_ = 0;  // index of the next Code
  std::uint32_t stop_ = 0;  // where another split of this frame waits to be joined

  bool reselect_ = false;
  bool spins_ = false;
  const Code* polled_code_ = nullptr;
  std::uint64_t polled_value_ = 0;
  std::optional<WarpCounter> counter_;  // none: nothing is counted
  Mask phase_waiters_ = 0;              // lanes that have polled nothing else since
  const Code* phase_wait_ = nullptr;
  std::uint64_t executed_lanes_ = 0;
};

}  // namespace emulator
