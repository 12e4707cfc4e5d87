#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/machine/guarded_words.h"
#include "emulator/machine/mbarrier.h"

namespace emulator {

class Block;
class Warp;
struct Code;

/// A copy that runs beside the threads, or an arrival that waits for the copies before it.
struct AsyncCopy {
  const Code* code = nullptr;
  int warp = 0, lane = 0;
  bool is_bulk = false, arrives = false;

  const std::byte* from = nullptr;
  const std::uint8_t* from_written = nullptr;  // null: all
  std::byte* to = nullptr;
  std::uint8_t* to_written = nullptr;
  std::size_t bytes = 0, zeros = 0;  // zeros follow the bytes
  std::optional<std::uint64_t> shared_from{}, shared_to{};
  Mbarrier* barrier = nullptr;

  std::uint64_t group = 0;  // 0: not committed
  bool is_late = false;     // done at the last moment
  bool has_landed = false, is_retired = false;
  std::vector<std::uint8_t> marks{};  // of the destination
  std::vector<std::byte> staged{};    // read, but not yet written
};

/// The asynchronous copies of a block and its mbarrier objects. A copy is done at a moment that the
/// block's seed decides, between its start and the wait that covers it. Until that wait,
/// GuardedWords reports whoever touches its bytes in shared memory, whether it is done or not.
///
/// Not seen: early reads of a destination in global memory; the thread that started a bulk copy
/// counts as one that waits once any thread has seen the phase of its mbarrier end.
class AsyncCopies {
 public:
  explicit AsyncCopies(Block& block);

  void start(Warp& warp, AsyncCopy copy);
  void commit(const Warp& warp, int lane, bool bulk);
  /// Waits for all groups but the last `pending`. `reads_only`: the sources may be used again.
  void wait_groups(Warp& warp, int lane, bool bulk, std::uint64_t pending, bool reads_only);
  /// Waits for all copies of cp.async, committed or not.
  void wait_all(Warp& warp, int lane);

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

  GuardedWords guards;

 private:
  using Shared = std::shared_ptr<AsyncCopy>;
  struct OfThread {
    std::vector<Shared> copies, bulk_copies;
    std::uint64_t groups = 0, bulk_groups = 0;
  };
  OfThread& of(int warp, int lane);
  void land(AsyncCopy& copy, const Shared& shared);
  void move_bytes(AsyncCopy& copy);
  void stage(AsyncCopy& copy);
  void release_source(AsyncCopy& copy);
  void retire(AsyncCopy& copy);
  Shared pick(bool also_late);

  Block& block_;
  std::vector<OfThread> threads_;
  std::vector<Shared> unlanded_;  // and some that a wait has done already
  std::map<std::uint64_t, Mbarrier> mbarriers_;
  std::uint64_t invalidated_changes_ = 0;
};

}  // namespace emulator
