#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/block.h"
#include "emulator/machine/warp.h"

namespace emulator {

/// A block of threads that has started. One host thread at a time runs it.
class ResidentBlock final : private FindingSink {
 public:
  enum class Result { ran, spins, done };

  ResidentBlock(const LaunchContext& launch, std::uint64_t index, std::uint64_t seed);
  ResidentBlock(const ResidentBlock&) = delete;
  ResidentBlock& operator=(const ResidentBlock&) = delete;

  /// Runs its warps in turn, about `instructions` of them. Throws Fault.
  Result run(int instructions);
  std::uint64_t executed_lanes() const;
  const Counts& counts() const { return *block_.counts; }

 private:
  [[noreturn]] void stuck();
  bool nobody_goes_on();
  void end_copies();
  void end_warpgroups();
  bool goes_on_after(const WarpState& warp, const LaneFault& finding) override;
  Fault fault_at(const WarpState& warp, const Code& code, const Frame* frame,
                 const LaneFault& fault) const;

  Block block_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::uint64_t ready_ = 0;         // warps that may run
  std::uint64_t seen_changes_ = 0;  // of mbarrier objects
  int idle_rounds_ = 0;
};

}  // namespace emulator
