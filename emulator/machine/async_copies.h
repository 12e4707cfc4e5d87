#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "emulator/machine/async_copy.h"
#include "emulator/machine/guarded_words.h"
#include "emulator/machine/mbarrier.h"
#include "emulator/machine/random.h"
#include "emulator/machine/shared_races.h"

namespace emulator {

/// The asynchronous copies of a block, also those that other blocks of its cluster send to its
/// shared memory, and its mbarrier objects. A copy is done at a moment that the
/// block's seed decides, between its start and the wait that covers it. Until that wait,
/// GuardedWords reports whoever touches its bytes in shared memory, whether it is done or not.
///
/// Not seen: early reads of a destination in global memory; the thread that started a bulk copy
/// counts as one that waits once any thread has seen the phase of its mbarrier end.
class AsyncCopies {
 public:
  AsyncCopies(const LaunchContext& launch, MarkedBytes& shared, SharedRaces& races, Random& random);

  void start(AsyncCopy copy);
  void commit(const WarpState& warp, int lane, bool bulk);
  /// Waits for all groups but the last `pending`. `reads_only`: the sources may be used again.
  void wait_groups(WarpState& warp, int lane, bool bulk, std::uint64_t pending, bool reads_only);
  /// Waits for all copies of cp.async, committed or not.
  void wait_all(WarpState& warp, int lane);

  /// Time passes: some copies are done.
  void step();
  /// All threads wait: the copies are done that were left to the last moment. False: there are
  /// none.
  bool finish_one();
  /// The block has ended. Returns a copy that nothing waited for, or null.
  const AsyncCopy* finish();

  /// Null: the address holds no object.
  Mbarrier* mbarrier(std::uint64_t offset);
  void init_mbarrier(std::uint64_t offset, std::uint32_t count);
  /// Whether copies signal it that nobody has waited for.
  static bool is_awaited(const Mbarrier& barrier);
  void invalidate_mbarrier(std::uint64_t offset);
  /// A thread has seen the phase end: the copies that it covers are over, and ordered before.
  void see_phase(Mbarrier& barrier);
  /// Grows with each change of an mbarrier object.
  std::uint64_t changes() const;
  /// Names the mbarrier objects that expect other bytes than have come; empty: none.
  std::string pending_transactions() const;

  GuardedWords guards;
  /// Tensor maps in global memory that fence.proxy.tensormap::generic.acquire has named.
  std::set<std::uint64_t> acquired_maps{};

 private:
  using Shared = std::shared_ptr<AsyncCopy>;
  struct OfThread {
    std::vector<Shared> copies, bulk_copies;
    std::uint64_t groups = 0, bulk_groups = 0;
  };
  AsyncCopies& starter_of(const AsyncCopy& copy) {
    return copy.starter != nullptr ? *copy.starter : *this;
  }
  OfThread& of(const WarpState& warp, int lane);
  void land(AsyncCopy& copy, const Shared& shared);
  void set_marks(AsyncCopy& copy);
  void move_bytes(AsyncCopy& copy);
  void stage(AsyncCopy& copy);
  void release_source(AsyncCopy& copy);
  void retire(AsyncCopy& copy);
  Shared pick(bool also_late);

  SharedRaces& races_;
  Random& random_;
  std::vector<OfThread> threads_;
  std::vector<Shared> from_others_;  // that other blocks have started
  std::vector<Shared> unlanded_;     // and some that a wait has done already
  std::map<std::uint64_t, Mbarrier> mbarriers_;
  std::uint64_t invalidated_changes_ = 0;
};

}  // namespace emulator
