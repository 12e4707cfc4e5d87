#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/clocks.h"
#include "emulator/machine/code.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/function_code.h"
#include "emulator/machine/undefined_registers.h"

namespace emulator {

/// A fault of one lane, before the block adds kernel, thread and line.
struct LaneFault {
  FaultKind kind;
  int lane;
  std::string text;
};

class ThreadOrder;
class SharedRaces;
class WarpState;
/// A block, to its warps.
class FindingSink {
 public:
  virtual bool goes_on_after(const WarpState& warp, const LaneFault& finding) = 0;

 protected:
  ~FindingSink() = default;
};

class ProductRegisters;

/// One activation of a function. Lanes that called together share it.
struct Frame {
  const FunctionCode* function = nullptr;
  Frame* parent = nullptr;
  std::uint32_t return_index = 0;
  const CallSite* site = nullptr;
  int depth = 0;
  std::size_t stack_begin = 0;            // of its part of local memory
  std::vector<std::size_t> stack_tops{};  // of each lane, behind what it allocated; empty: nothing
  Mask lanes = 0;                         // that have not returned
  std::byte* registers = nullptr;
  const std::byte* constants = nullptr;
  std::vector<std::byte> storage{};
  std::vector<std::byte> parameters{};  // parameter_bytes for each lane
  /// Null while all bits are defined; of parameters the mark of each byte that is.
  std::unique_ptr<UndefinedRegisters> undefined{};
  std::vector<std::uint8_t> undefined_parameters{};
  /// Null in functions without wgmma.mma_async.
  std::shared_ptr<ProductRegisters> product_registers{};

  const std::byte* at(Place place) const {
    return (place.bank == 0 ? registers : constants) + place.offset;
  }
};

enum class Wait : unsigned char { none, block_barrier, cluster_barrier, warp_barrier, warpgroup };

/// Lanes that are at the same instruction of the same frame.
struct Split {
  Mask lanes = 0;
  Frame* frame = nullptr;
  std::uint32_t index = 0;  // of the next Code
  Wait wait = Wait::none;
  const Code* waits_at = nullptr;
  Mask members = 0;         // of a warp barrier
  int barrier = 0;          // of the block
  std::uint32_t warps = 0;  // that barrier's participants; 0: all
};

/// A warp as its block and the searches for faults see it.
class WarpState {
 public:
  WarpState(int index, Mask lanes) : index_(index), live_(lanes) {}
  WarpState(const WarpState&) = delete;
  WarpState& operator=(const WarpState&) = delete;

  int index() const { return index_; }
  Mask live() const { return live_; }
  /// The instruction that runs, or ran last.
  const Code* current() const { return code_; }
  std::vector<Split>& splits() { return splits_; }
  [[noreturn]] void fault(FaultKind kind, int lane, std::string text) const {
    throw LaneFault{kind, lane, std::move(text)};
  }
  /// Tells of a fault after which a GPU would go on. Returns if the emulator is to do so too.
  void find(FaultKind kind, int lane, std::string text) const {
    LaneFault finding{kind, lane, std::move(text)};
    if (sink == nullptr || !sink->goes_on_after(*this, finding)) throw finding;
  }
  FindingSink* sink = nullptr;

  /// The order between the lanes of this warp, for the search for races.
  Clocks clocks;
  ThreadOrder* order = nullptr;  // of its block
  Mask fenced = 0;               // lanes that have executed a fence
  Mask widely_fenced = 0;        // one that is not for their block alone
  Mask fenced_inits = 0;         // fence.mbarrier_init
  // Of each lane that has got an undefined value; empty: none has.
  std::vector<UndefinedSource> undefined_sources{};
  Mask without_result = 0;           // lanes that the last shuffle gave nothing
  std::uint32_t product_fences = 0;  // wgmma.fence
  std::uint64_t products_over = 0;   // of wgmma, for which this warp has waited
  /// A lane's last strong read of shared memory.
  struct Polled {
    SharedRaces* memory = nullptr;  // null: none, or acquired since
    std::uint64_t offset = 0;
  };
  std::array<Polled, warp_lanes> polled{};

  /// Lanes at the cluster's barrier: arrived in its present phase, or in one that is complete and
  /// for which they have not waited.
  Mask cluster_arrived = 0, cluster_passed = 0;
  /// How often each lane has arrived there.
  std::array<std::uint32_t, warp_lanes> cluster_arrivals{};

 protected:
  const int index_;
  Mask live_;
  std::vector<Split> splits_;
  const Code* code_ = nullptr;
};

}  // namespace emulator
