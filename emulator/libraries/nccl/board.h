#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "emulator/libraries/nccl/interface.h"
#include "emulator/libraries/nccl/reduce.h"

namespace emulator::nccl {

/// Calls of all ranks, and messages between two.
enum class Kind : std::int32_t {
  all_reduce,
  reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  message
};

/// The part of one rank in a collective, for the others to compare and use.
struct Announcement {
  Kind kind = Kind::all_reduce;
  std::uint64_t count = 0;
  Type type = int8;
  std::int32_t root = 0;
  Reduction reduction;
  std::array<std::byte, 8> scalar{};
  /// Who called: two ranks of one thread in different groups never meet.
  std::uint64_t process = 0, thread = 0, group = 0;
};

/// A rank's place on the board. In memory that several processes may share.
struct Slot {
  std::atomic<std::uint32_t> has_joined;
  std::int32_t gpu;
  std::atomic<std::uint64_t> posted, taken;  // numbers of collectives, from 1 on
  Announcement announcement;
  std::uint64_t bytes;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Where the ranks of a communicator meet. A rank posts its part of collective s, waits until all
/// have, takes theirs, and says so: only then may any post part s + 1.
class Board {
 public:
  virtual ~Board() = default;
  virtual std::size_t ranks() const = 0;

  /// Returns false if the rank is there already.
  bool join(std::size_t rank, int gpu);
  bool have_all_joined() const;
  /// Called by each rank when it sees that all have joined.
  virtual void forget_names() {}
  bool has_duplicate_gpu() const;

  bool may_post(std::uint64_t number) const;  // all have taken the one before
  void post(std::size_t rank, std::uint64_t number, const Announcement& announcement,
            std::span<const std::byte> part);
  bool have_all_posted(std::uint64_t number) const;
  const Announcement& announcement(std::size_t rank) const { return slot(rank).announcement; }
  virtual const std::byte* part(std::size_t rank) = 0;
  void take(std::size_t rank, std::uint64_t number);

  /// Board of the messages from one of these ranks, which is rank 0 there, to another, which is
  /// rank 1. All processes of this board get the same one.
  Board& messages(std::size_t from, std::size_t to);

 protected:
  virtual std::unique_ptr<Board> new_messages(std::size_t from, std::size_t to) = 0;
  virtual Slot& slot(std::size_t rank) = 0;
  const Slot& slot(std::size_t rank) const { return const_cast<Board*>(this)->slot(rank); }
  /// Room for a rank's part.
  virtual std::byte* room(std::size_t rank, std::size_t bytes) = 0;

 private:
  std::mutex mutex_;
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<Board>> messages_;
};

/// For ranks of one process.
std::shared_ptr<Board> new_local_board(std::size_t ranks);

/// For ranks of several processes of a host: files whose path begins with that of the id. All ranks
/// of a process use the same board.
std::shared_ptr<Board> shared_board(const UniqueId& id, std::size_t ranks);
UniqueId new_unique_id();

}  // namespace emulator::nccl
