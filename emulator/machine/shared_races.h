#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/machine/foreign_uses.h"
#include "emulator/machine/launch_context.h"
#include "emulator/machine/target.h"
#include "emulator/machine/thread_order.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// Finds accesses to shared memory by two threads, at least one of them a write, that nothing
/// orders; of its own block, or of others of its cluster.
/// Barriers of the block and of warps order, shuffles, votes and matches too, and
/// so does a fence with a strong access on either side. Two strong accesses (volatile, relaxed,
/// atomic) are no race, nor is a write of the value that is there already.
///
/// Not seen: of several readers of a place the last one stands for all, and they are reported only
/// if the writer is ordered after none; a fence gives what it acquires to its whole warp; lanes
/// that have exited count as synchronised.
class SharedRaces {
 public:
  /// `order` of the block whose memory it is.
  SharedRaces(const LaunchContext& launch, std::size_t bytes, ThreadOrder& order)
      : launch_(launch), order_(order), words_((bytes + 3) / 4) {}

  void read(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes, bool strong);
  /// `changes` tells, when it matters, whether the bytes hold another value than the one written.
  void write(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes, bool strong,
             const Change& changes);

  /// Weak reads by lanes of a warp that conflict with nothing, as nearly all. Returns the lanes
  /// for which that is not plain: they are left to `read`.
  Mask read_row(const WarpState& warp, Mask lanes, const std::uint32_t* offsets, unsigned bytes);
  /// The same of weak writes.
  Mask write_row(const WarpState& warp, Mask lanes, const std::uint32_t* offsets, unsigned bytes);

  /// Not `is_wide`: with the scope of the thread's own block.
  void release(WarpState& warp, int lane, std::uint64_t offset, bool is_wide);
  void acquire(WarpState& warp, int lane, std::uint64_t offset, bool is_wide);

  /// Bulk copies use another proxy: they see what a thread wrote only behind a fence.proxy.async,
  /// by any thread, on the way from the write to the copy.
  void fence_proxy(WarpState& warp, int lane);
  /// Throws LaneFault when a bulk copy of these bytes that starts now could miss a write.
  void check_proxy(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes);
  /// Throws LaneFault when a product of wgmma, which the whole warp begins now, could miss a write.
  void check_product(WarpState& warp, std::uint64_t offset, unsigned bytes);
  /// A bulk copy wrote these bytes.
  void mark_proxy(std::uint64_t offset, unsigned bytes);

  const ThreadOrder& order() const { return order_; }
  /// Accesses of other blocks of the cluster; null: there were none.
  ForeignUses* foreign() { return foreign_.get(); }

 private:
  /// Who used a word of four bytes, or one of its bytes.
  struct Users {
    std::uint64_t writer = 0, reader = 0;
  };
  static bool is_split(const Users& word);
  /// The bytes of a word of which somebody used a part have users of their own from then on.
  std::array<Users, 4>& split(Users& word);
  /// Calls `f(users, which bytes of the word they used)` for what an access touches.
  template <class F>
  void for_each_place(std::uint64_t offset, unsigned bytes, F f);
  ThreadStamp stamp_of(std::uint64_t stamp) const;
  bool ordered(const WarpState& warp, int lane, std::uint64_t stamp) const;
  void read_from_outside(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                         bool strong);
  void write_from_outside(WarpState& warp, int lane, std::uint64_t offset, unsigned bytes,
                          bool strong, const Change& changes);
  struct Known;
  /// Returns whether a fence of the other proxy lies between the access and the thread.
  bool is_fenced(const WarpState& warp, int lane, std::uint64_t stamp) const;

  const LaunchContext& launch_;
  ThreadOrder& order_;
  std::vector<Users> words_;
  std::deque<std::array<Users, 4>> split_words_;
  /// By offset, and one more than the rank of the block for which alone it is; 0: for all.
  std::map<std::pair<std::uint64_t, int>, Released> released_;
  std::unique_ptr<ForeignUses> foreign_;
  std::map<int, std::deque<Released>> proxy_fences_;  // the last ones of each thread
};

}  // namespace emulator
